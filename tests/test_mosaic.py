"""The corpora of the project hold what their README says."""

import re
from pathlib import Path

import pytest

from handful.text import read, read_types

CORPORA = Path(__file__).parents[1] / "corpora"


def neighbours(sentence):
    """Return the mentions beside one of the same type, with no word between them."""
    pairs = [(a, b) for a in sentence.spans for b in sentence.spans if a.type == b.type and a.end == b.start]
    return {one for pair in pairs for one in pair}


def figures_of_readme(folder, part):
    text = (CORPORA / folder / "README.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{part}/` \|(.*)\|$", text, re.MULTILINE)
    return [int(cell.strip().replace(",", "")) for cell in row.split("|")]


@pytest.mark.parametrize("part", ["train", "dev"])
@pytest.mark.parametrize("folder", ["mosaic", "mosaic_neighbours"])
def test_corpora_hold_what_their_readme_says(folder, part):
    corpora = [read(file) for file in sorted((CORPORA / folder / part).glob("*.txt"))]
    sentences = [sentence for corpus in corpora for sentence in corpus]
    types = [one for corpus in corpora for one in corpus.types]
    figures = [
        len(corpora),
        len(sentences),
        sum(len(sentence.words) for sentence in sentences),
        sum(len(sentence.spans) for sentence in sentences),
        len(types),
        len({one.name for one in types}),
    ]
    if folder == "mosaic_neighbours":
        figures.append(sum(len(neighbours(sentence)) for sentence in sentences))
        assert all(any(map(neighbours, corpus)) for corpus in corpora)
    assert figures_of_readme(folder, part) == figures
    assert all(sentence.is_labelled for sentence in sentences)
    assert all(one.description for one in types)
    assert all(set(corpus.meta) == {"domain", "register"} for corpus in corpora)


@pytest.mark.parametrize("part", ["train", "dev"])
def test_corpora_in_many_languages_hold_what_their_readme_says(part):
    corpora = {file: read(file) for file in sorted((CORPORA / "mosaic_languages" / part).glob("*.txt"))}
    sentences = [sentence for corpus in corpora.values() for sentence in corpus]
    assert figures_of_readme("mosaic_languages", part) == [
        len(corpora),
        len({file.name[:2] for file in corpora}),
        len(sentences),
        sum(len(sentence.spans) for sentence in sentences),
        sum(len(corpus.types) for corpus in corpora.values()),
    ]
    for file, corpus in corpora.items():
        names = [one.name for one in corpus.types]
        english = read_types(file.with_suffix(".en.types"))
        assert [one.name for one in english] == names, file.name
        assert all(one.description for one in (*english, *corpus.types)), file.name
        assert {span.type for sentence in corpus for span in sentence.spans} == set(names), file.name
        assert all(sentence.is_labelled for sentence in corpus), file.name
        assert len({sentence.text for sentence in corpus}) == len(corpus), file.name
