"""Known words: lists and patterns of types, as evidence that labels overrule."""

import time

import pytest

from growth import grows_as
from handful import EntityType, Tagger
from handful.errors import DataError, FileError, HandfulError
from handful.tagger.known import KnownWords
from handful.text import Sentence, read_types
from handful.text.types import compiled

TYPES = [
    EntityType("CITY", "a town", words=["zorkville", "Blick", "New Blick"]),
    EntityType("PART", "a thing", words=[r"/[A-Z]{2}-\d{4}/"]),
]
TEXT = "Yesterday zorkville bought AB-1234 ."


def found(tagger, text):
    return {(one["word"], one["entity_group"]) for one in tagger.predict(text)}


@pytest.fixture(scope="module")
def tagger():
    return Tagger(TYPES, cache=False).fit()


def test_words_of_a_list_and_of_a_pattern_are_found_without_a_label(tagger):
    assert found(Tagger({"CITY": "a town", "PART": "a thing"}, cache=False).fit(), TEXT) == set()
    assert found(tagger, TEXT) == {("zorkville", "CITY"), ("AB-1234", "PART")}


def test_explain_names_the_list_and_the_pattern(tagger):
    one, other = tagger.explain(TEXT)
    assert one.known == ["zorkville is zorkville, a known word of CITY"]
    assert other.known == [r"AB-1234 is /[A-Z]{2}-\d{4}/, a known word of PART"]
    assert one.evidence["known"] > 0
    assert "zorkville is zorkville, a known word of CITY" in str(one)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ZORKVILLE"], [(0, 1)]),
        (["BLICK"], [(0, 1)]),
        (["blick"], []),
        (["to", "New", "Blick"], [(1, 3)]),
        (["zork", "ville"], [(0, 2)]),
        (["AB", "-", "1234"], []),
    ],
)
def test_what_matches(tagger, words, expected):
    matches = tagger.model_.known._matches(Sentence(tuple(words)))
    assert [one[:2] for one in matches] == expected


def test_labels_overrule_an_entry_and_the_summary_says_so():
    labels = ["they shout zorkville at [Rome](CITY)", "the zorkville was green"]
    tagger = Tagger(TYPES, cache=False).fit(labels)
    assert ("CITY", "zorkville") in tagger.model_.known.overruled
    assert "labels contradict known words, which do not count: zorkville (CITY)" in tagger.summary_.notes


def test_labels_that_confirm_an_entry_leave_it():
    tagger = Tagger(TYPES, cache=False).fit(
        ["they live in [zorkville](CITY)", "a green zorkville", "[zorkville](CITY) won"]
    )
    assert not tagger.model_.known.overruled


def test_labels_for_which_nobody_looked_for_the_type_do_not_overrule():
    assert not Tagger(TYPES, cache=False).fit(["zorkville has [KL-2211](PART)"]).model_.known.overruled


def test_they_are_saved_and_stay_after_add_and_retype(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model")
    assert loaded.predict(TEXT) == tagger.predict(TEXT)
    loaded.add(["[Rome](CITY) fell"])
    assert ("zorkville", "CITY") in found(loaded, TEXT)
    loaded.retype(rename={"CITY": "TOWN"})
    assert ("zorkville", "TOWN") in found(loaded, TEXT)


def test_a_model_without_known_words_says_nothing_of_them(tmp_path):
    Tagger({"CITY": "a town"}, cache=False).fit().save(tmp_path / "model")
    config = (tmp_path / "model" / "config.json").read_text(encoding="utf-8")
    assert '"words"' not in config
    assert '"known"' not in config


def test_fields_of_a_file_of_types(tmp_path):
    (tmp_path / "cities.txt").write_text("# a comment\nzorkville\n\nNew Blick\n", encoding="utf-8")
    path = tmp_path / "types.txt"
    path.write_text(
        "# CITY: a town\n#   words: cities.txt\n#   words: Rome, Bonn\n"
        "PART\n  words: /[A-Z]{2,3}-\\d{4}#/\n  weight: 0.5\n"
    )
    city, part = read_types(path)
    assert (city.words, city.weight) == (("zorkville", "New Blick", "Rome", "Bonn"), 1)
    assert (part.words, part.weight) == ((r"/[A-Z]{2,3}-\d{4}#/",), 0.5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wrods: Rome", "types.txt:2: found 'wrods: Rome', indented under CITY, expected 'not: ...', 'such as"),
        ("words:", "types.txt:2: found 'words:'"),
        ("weight: much", "types.txt:2: found 'weight: much'"),
        ("weight: 99", "types.txt:2: the weight of CITY is 99.0, expected 0 to 10"),
        ("words: missing.txt", "missing.txt"),
        ("words: empty.txt", "types.txt:2: the words of CITY are in empty.txt, which has none"),
        ("words: /(a/", "types.txt:2: the pattern '/\\(a/' is not a regular expression"),
    ],
)
def test_mistakes_in_a_file_of_types(tmp_path, line, message):
    (tmp_path / "empty.txt").write_text("\n# nothing\n", encoding="utf-8")
    (tmp_path / "types.txt").write_text(f"CITY\n  {line}\n", encoding="utf-8")
    with pytest.raises(HandfulError, match=message):
        read_types(tmp_path / "types.txt")


@pytest.mark.parametrize("value", ["../secret.txt", "{}/secret.txt", "lists/link.txt"])
def test_a_file_of_types_reads_no_file_elsewhere(tmp_path, value):
    """A model keeps the words of its types, and may be given away."""
    (tmp_path / "secret.txt").write_text("a secret\n", encoding="utf-8")
    (tmp_path / "given" / "lists").mkdir(parents=True)
    (tmp_path / "given" / "lists" / "link.txt").symlink_to(tmp_path / "secret.txt")
    types = tmp_path / "given" / "types.txt"
    types.write_text(f"CITY\n  words: {value.format(tmp_path)}\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"leads to .*secret\.txt, which is outside of the folder"):
        read_types(types)
    (tmp_path / "given" / "pipe.txt").mkdir()
    types.write_text("CITY\n  words: pipe.txt\n", encoding="utf-8")
    with pytest.raises(FileError, match="is a folder, a pipe or a device"):
        read_types(types)


@pytest.mark.parametrize("words", ["/etc/passwd", [1], None, 7])
def test_words_are_a_list_of_strings(words):
    with pytest.raises(DataError, match="expected a list of strings"):
        EntityType("CITY", words=words)


def test_the_weight_of_a_type_counts(tagger):
    known, sentence = tagger.model_.known, Sentence(("zorkville",))
    half = KnownWords(known.weight, (EntityType("CITY", words=["zorkville"], weight=0.5),))
    assert half.logits([sentence]).tolist() == [[0, known.logits([sentence])[0, 1] / 2]]


def test_explain_word_says_that_labels_overrule(tagger):
    fitted = Tagger(TYPES, cache=False).fit(["they shout zorkville at [Rome](CITY)", "the zorkville was green"])
    (why,) = fitted.explain_word("a zorkville", "zorkville")
    assert why.known == ["zorkville is zorkville, a known word of CITY, but labels say otherwise, so it does not count"]
    assert why.known[0] in str(why)


NEVER = ["(a+)+b", "(a|a)*b", "a?" * 30 + "a" * 30, r"\w*\w*\w*\w*x{60}", "(a*)*", r"(.)\1", "(", "(?=a)a", "a{65}"]
NEVER += ["(?:a?){100,200}b", "(?:a?){65}b", r"(?:\b){99999999}a", "(?:(?:a?){100}){2}b"]


@pytest.mark.parametrize("pattern", [*NEVER, "a" * 501, "(a{100})?b*" * 9])
def test_patterns_that_could_take_for_ever_are_refused_at_once(pattern):
    start = time.perf_counter()
    with pytest.raises(DataError, match="the pattern"):
        EntityType("X", words=[f"/{pattern}/"])
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("pattern", ["[[a]b", "[a--b]", "[a||b]"])
def test_a_pattern_that_will_mean_something_else_is_an_error_and_no_warning(pattern):
    with pytest.raises(DataError, match="is not a regular expression: Possible"):
        EntityType("X", words=[f"/{pattern}/"])


@pytest.mark.parametrize("pattern", ["(?:!|!){1,14}x", ".*.*.*x", "(?:!?!?){7}x"])
def test_the_worst_patterns_that_are_taken_do_not_freeze(pattern):
    known = KnownWords(1.0, (EntityType("X", words=[f"/{pattern}/"]),))
    start = time.perf_counter()
    known.logits([Sentence(("!",) * 100, text="!" * 100, starts=tuple(range(100)))])
    assert time.perf_counter() - start < 5


def test_the_time_for_known_words_is_linear_in_a_sentence_that_is_made_of_them():
    known = KnownWords(1.0, (EntityType("X", words=["a", "a b"]), EntityType("Y", words=["/[ab]+/"])))
    matches = known._matches(Sentence(("a", "b", "a", "a")))
    assert [one[:3] for one in matches] == [(0, 2, 1), (2, 3, 1), (2, 3, 2), (3, 4, 1), (3, 4, 2)]
    assert grows_as(known.logits, lambda n: [Sentence(("a", "b", "a") * n)], 100) < 1.5


def test_many_patterns_are_compiled_once():
    known = KnownWords(1.0, (EntityType("X", words=[f"/x{i}[ab]{{1,3}}/" for i in range(1_100)]),))
    known.logits([Sentence(("x7ab",))])
    n_before = compiled.cache_info().misses
    assert known.logits([Sentence(("x7ab", "x1099a"))]).tolist() == [[0, 1], [0, 1]]
    assert compiled.cache_info().misses == n_before


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"[\w.]+@[\w.]+\.\w+", "ask ann.b@x.org today", [(1, 2)]),
        (r"https?://\S+", "see http://x.org now", [(1, 2)]),
        (r"\d{1,3}(\.\d{1,3}){3}", "from 10.0.0.255", [(1, 2)]),
        (r"(?i)lot \w+|x", "in Lot B12 here", [(1, 3)]),
        ("cat|catfish", "a catfish", [(1, 2)]),
        ("cat", "a catfish", []),
    ],
)
def test_usual_patterns_are_taken(pattern, text, expected):
    known = KnownWords(1.0, (EntityType("X", words=[f"/{pattern}/"]),))
    assert [one[:2] for one in known._matches(Sentence(tuple(text.split())))] == expected


def test_a_project_of_the_workbench_keeps_them():
    from handful.text.projects import entity_type
    from handful.workbench._type_changes import added

    (one,) = added(added([], EntityType("CITY", "a town")), EntityType("CITY", words=["zorkville"], weight=2))
    assert entity_type(one) == EntityType("CITY", "a town", ("zorkville",), 2)
