"""Types and their descriptions."""

import io

import pytest

from growth import grows_as
from handful.errors import DataError, FileError
from handful.text import EntityType, described, read_types, types_of

PEST = EntityType("PEST", "insects and slugs")
PLANT = EntityType("PLANT")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ()),
        ("", ()),
        ("PLANT", (PLANT,)),
        (" PLANT, garden tool ,,", (PLANT, EntityType("garden tool"))),
        (PEST, (PEST,)),
        ({"PEST": "insects  and\nslugs", "PLANT": None}, (PEST, PLANT)),
        (["PLANT", PEST, {"name": "PEST"}, {"name": "X", "description": "y"}], (PLANT, PEST, EntityType("X", "y"))),
        (iter(["PEST", PEST, "PEST"]), (PEST,)),
        ("PEST: insects and slugs", (PEST,)),
        (["PEST: insects and slugs", "PLANT"], (PEST, PLANT)),
        ("PEST: insects and slugs; PLANT\nX: y", (PEST, PLANT, EntityType("X", "y"))),
        ("PLANT, PEST: insects and slugs", (PLANT, PEST)),
        ("plant, herb, PEST: insects and slugs", (EntityType("plant"), EntityType("herb"), PEST)),
        ("PEST: insects, slugs, as at 10:30", (EntityType("PEST", "insects, slugs, as at 10:30"),)),
        (
            "PEST: insects, slugs, TOOL: a hoe, a fork",
            (EntityType("PEST", "insects, slugs"), EntityType("TOOL", "a hoe, a fork")),
        ),
        ([EntityType("a, b - c"), {"name": "A, B - C"}], (EntityType("a, b - c"), EntityType("A, B - C"))),
    ],
)
def test_types_in_every_form(given, expected):
    assert types_of(given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([PEST, EntityType("PEST", "rats")], "PEST has two descriptions: 'insects and slugs' and 'rats'"),
        ("O", "cannot be called 'O'"),
        (["LOC|ORG"], "cannot be called"),
        ([""], "non-empty string"),
        ([3], "non-empty string, not 3"),
        (3, "types are names, a dict of descriptions or a list of these, found 3"),
        ([{"label": "X"}], "a dict with name"),
        ([{"name": "X", "colour": "red"}], "a dict with name"),
        ([{"name": None}], "a dict with name"),
        ({"X": 3}, "the description of X is 3"),
        ("types.tx", r"'types.tx' looks like a file; read_types\('types.tx'\) reads one"),
        ("lists/types", "looks like a file"),
        (["PEST", "types.txt"], "looks like a file"),
        (
            "a sum of money that was paid for a thing",
            "is a whole line, not the name of a type; write NAME: description",
        ),
        ("PRICE - a sum of money", "no colon after the name of a type; write 'PRICE: a sum of money'"),
        (["PRICE = a sum"], "write 'PRICE: a sum'"),
        ({"PRICE \u2013 a sum": ""}, "write 'PRICE: a sum'"),
        ("PEST: slugs, garden tool: a hoe", "may be two types: write a semicolon between types"),
        ("PEST: slugs, TOOL", "may be two types: write a semicolon between types; if it is one, give a dict"),
        ("Person, PERSON", "'Person' and 'PERSON' differ in case alone; name one of them"),
        ({"Person": "", "person": ""}, "differ in case alone"),
    ],
)
def test_types_that_make_no_sense_are_refused(given, message):
    with pytest.raises(DataError, match=message):
        types_of(given)


def test_a_type_reads_as_its_name():
    assert str(PEST) == "PEST"
    assert hash(EntityType("PEST", " insects and  slugs ")) == hash(PEST)


def test_descriptions_are_looked_up_by_name():
    assert described(["PLANT", "PEST"], [PEST]) == (PLANT, PEST)


def test_a_file_of_types(tmp_path):
    path = tmp_path / "types.txt"
    path.write_text("# PEST: insects and slugs\n\nPLANT\n#\ngarden tool : what: a hand holds \n", encoding="utf-8")
    expected = (PEST, PLANT, EntityType("garden tool", "what: a hand holds"))
    assert read_types(path) == expected
    with path.open("rb") as file:
        assert read_types(file) == expected
    path.write_bytes("ÖL: Öle\n".encode("latin-1"))
    assert read_types(path, encoding="latin-1") == (EntityType("ÖL", "Öle"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PEST: a\n\nPEST: b\n", "the open file:3: the type PEST has two descriptions"),
        ("PEST: a\n: b\n", "the open file:2: found ': b', expected NAME: description"),
        ("O: outside\n", "the open file:1: a type cannot be called 'O'"),
        ("\n# \n", "the open file: there is no type in it"),
        ("PEST\nPRICE - a sum of money\n", "the open file:2: .* write 'PRICE: a sum of money'"),
        ("PEST, PLANT\n", "the open file:1: 'PEST, PLANT' is not one name"),
        ("Person\nPERSON\n", "the open file: the types 'Person' and 'PERSON' differ in case alone"),
    ],
)
def test_a_file_that_is_wrong_says_where(text, message):
    with pytest.raises(DataError, match=message):
        read_types(io.StringIO(text))


LABELLED = ["[Ekeus](PER) heads for [Baghdad](LOC) .", "the fox", "[Dupont](PER) says it costs dollars"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["# PER: people", "", *LABELLED], r"the open file:3: found '\[Ekeus\]\(PER\) heads .*, expected NAME: desc"),
        (["a", '[slugs]("GARDEN PEST") again'], "the open file:2: found"),
        (["Ekeus\tB-PER", "left\tO"], r"the open file:1: found 'Ekeus\\tB-PER', with a tab"),
        (["PEST\tinsects and slugs"], "with a tab, expected NAME: description"),
        (["Ekeus B-PER", "left O", "for O", "Iraq B-LOC", ". O"], "5 of 5 types end in a tag, such as 'Ekeus B-PER'"),
        (["EU NNP B-NP S-ORG", "rejects VBZ B-VP O", "call NN I-NP O"], "3 of 3 types end in a tag"),
        (["a b", "O B-X", "c d e", "O O B-X", "f g", "B-X O"], "3 of 6 types end in a tag"),
        (['{"text": "Ekeus left", "entities": []}'], r"the open file:1: found '\{"),
        (
            ["PEST", "This is a line of a text."],
            "the open file:2: 'This is a line of a text.' is a whole line, not the",
        ),
        (["what harms plants, and is alive"], "the open file:1: 'what harms .*' is a whole line"),
    ],
)
def test_a_corpus_is_no_file_of_types(lines, said):
    with pytest.raises(DataError, match=said) as caught:
        read_types(io.StringIO("\n".join(lines)))
    assert "give it to `fit` as labelled sentences" in str(caught.value)
    assert caught.value.for_shell.endswith("without --types if it is labelled, and with --unlabelled if not")


@pytest.mark.parametrize(
    "lines",
    [
        ["blood group O", "blood group A", "vitamin B-12", "vitamin B-6", "vitamin B-1", "group O", "factor O"],
        ["PEST: marked as in [slugs](PEST) again", "O RING: seal", "tool(s)", "[old] type", "what: it says"],
        ["name of a garden tool", "well-known pest", "A-frame"],
        [f"kind {i}: a thing of the kind that is number {i}" for i in range(500)],
    ],
)
def test_strange_names_are_still_types(lines):
    assert len(read_types(io.StringIO("\n".join(lines)))) == len(lines)


def test_many_lines_of_words_are_read_in_linear_time():
    """A file of 60 KB took 9 s."""

    def make(n):
        return "PART\n" + "".join(f"  words: w{i}\n  words: /w{i}!/\n" for i in range(n))

    # Python keeps 512 compiled patterns, so what is beyond them costs more.
    assert grows_as(lambda text: read_types(io.StringIO(text)), make, 100) < 1.8


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_types(tmp_path / "none.txt")


def test_a_byte_order_mark_before_a_name_is_no_part_of_it():
    assert read_types(io.StringIO("\ufeffPLANT\n\ufeffPEST: insects and slugs\n")) == (PLANT, PEST)


def test_a_number_sign_at_the_end_of_a_line_is_part_of_it():
    text = "# LANGUAGE: a programming language, such as C#\nC#\n"
    expected = EntityType("LANGUAGE", "a programming language, such as C#"), EntityType("C#")
    assert read_types(io.StringIO(text)) == expected


def test_a_long_line_of_spaces_is_read_at_once():
    (one,) = read_types(io.StringIO("a" + "\u3000" * 100_000 + "b"))  # takes hours where spaces are tried in every way
    assert one.name[0] + one.name[-1] == "ab"


def test_a_name_after_a_strange_space_is_refused():
    with pytest.raises(DataError, match="expected NAME: description"):
        read_types(io.StringIO("\x1c# PER: people"))  # read again, it would have another name
