"""The corpus in the package: what its README promises, and that no sentence is another with a word changed."""

import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations

import pytest

from handful import examples
from handful.text import describe, read, read_types, to_sentences
from handful.text.languages import guess_language

TYPES = ["PEST", "PLANT", "TOOL", "TREATMENT"]
FORMATS = {examples.SUPPORT: "inline", examples.UNLABELLED: "text", examples.HELDOUT: "inline"}


@pytest.fixture(scope="module")
def corpora():
    return {path: list(read(path, format=format)) for path, format in FORMATS.items()}


@pytest.fixture(scope="module")
def word_lists(corpora):
    """The words of every sentence of the three files, in lower case and without punctuation."""
    sentences = [sentence for corpus in corpora.values() for sentence in corpus]
    return [tuple(word.lower() for word in sentence.words if word[0].isalnum()) for sentence in sentences]


def test_support_holds_five_mentions_of_each_type(corpora):
    figures = describe(corpora[examples.SUPPORT])
    assert figures.mentions == dict.fromkeys(TYPES, 5)
    assert figures.n_outside > 200


def test_heldout_is_labelled_with_the_same_types(corpora):
    figures = describe(corpora[examples.HELDOUT])
    assert figures.n_labelled == figures.n_sentences >= 100
    assert list(figures.mentions) == TYPES
    assert min(figures.mentions.values()) >= 20
    assert figures.n_adjacent == 0  # IO tags could not find them
    without = sum(not sentence.spans for sentence in corpora[examples.HELDOUT])
    assert 0.15 < without / figures.n_sentences < 0.35


def test_unlabelled_text_has_no_labels_and_one_sentence_a_line(corpora):
    figures = describe(corpora[examples.UNLABELLED])
    assert figures.n_unlabelled == figures.n_sentences >= 400
    lines = examples.UNLABELLED.read_text(encoding="utf-8").splitlines()
    assert [sentence.text for sentence in corpora[examples.UNLABELLED]] == lines
    assert not [line for line in lines if re.search(r"[\[\]]", line)]


@pytest.mark.parametrize("path", FORMATS, ids=lambda path: path.stem)
def test_files_are_recognised_without_naming_their_format(path, corpora):
    assert list(read(path)) == corpora[path]


def test_the_same_words_always_have_the_same_type(corpora):
    types = {}
    for sentence in corpora[examples.SUPPORT] + corpora[examples.HELDOUT]:
        for span in sentence.spans:
            name = " ".join(sentence.words[span.start : span.end]).lower()
            assert types.setdefault(name, span.type) == span.type, name
    unseen = Counter(types.values())
    assert min(unseen.values()) >= 20  # held-out mentions are not a few names over and over


def test_readme_gives_the_true_counts(corpora):
    readme = examples.SUPPORT.with_name("README.md").read_text(encoding="utf-8")
    for path, corpus in corpora.items():
        (count,) = re.findall(rf"\| `{path.name}` \| (\d+) ", readme)
        assert int(count) == len(corpus)


@pytest.mark.parametrize("language", [one for one in examples.NOTES if one != "en"])
def test_notes_in_other_languages_are_small_and_whole(language):
    types, support, unlabelled, heldout = examples.NOTES[language]
    described = read_types(types)
    assert len(described) == 4
    assert guess_language([one for kind in described for one in to_sentences(kind.description)]) == language
    few, text, unseen = read(support), read(unlabelled), read(heldout)
    assert describe(few).mentions == {one.name: 3 for one in described}
    assert describe(unseen).mentions.keys() == {one.name for one in described}
    assert min(describe(unseen).mentions.values()) >= 4
    assert sum(not one.spans for one in unseen) == 4
    assert describe(text).n_unlabelled == len(text) == len(unlabelled.read_text(encoding="utf-8").splitlines())
    assert guess_language(list(text)) == language
    texts = [one.text for corpus in (few, text, unseen) for one in corpus]
    assert len(set(texts)) == len(texts)
    names = {(one.span_text(span), span.type) for corpus in (few, unseen) for one in corpus for span in one.spans}
    assert len(names) == len({name for name, _ in names})
    row = f"| `{language}` | {len(few)} | {len(text)} | {len(unseen)} |"
    assert row in examples.SUPPORT.with_name("README.md").read_text(encoding="utf-8").splitlines()


def test_no_two_sentences_are_equal_up_to_one_word(word_lists):
    seen = {}
    for number, words in enumerate(word_lists):
        for place in range(len(words)):
            frame = (*words[:place], None, *words[place + 1 :])
            assert seen.setdefault(frame, number) == number, words


def test_no_two_sentences_are_alike(word_lists):
    sets = [set(words) for words in word_lists]
    pairs = combinations(range(len(sets)), 2)
    closest = sorted(pairs, key=lambda pair: -len(sets[pair[0]] & sets[pair[1]]) / len(sets[pair[0]] | sets[pair[1]]))
    for first, second in closest[:500]:
        matcher = SequenceMatcher(None, word_lists[first], word_lists[second], autojunk=False)
        assert matcher.ratio() < 0.6, (word_lists[first], word_lists[second])


def test_sentences_do_not_begin_alike(word_lists):
    openings = Counter(words[:3] for words in word_lists)
    assert openings.most_common(1)[0][1] <= 4
