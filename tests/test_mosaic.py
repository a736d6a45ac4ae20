"""The corpora of the project hold what their README says."""

import re
from pathlib import Path

import pytest

from handful.text import read

MOSAIC = Path(__file__).parents[1] / "corpora" / "mosaic"


def figures_of_readme(part):
    (row,) = re.findall(rf"^\| `{part}/` \|(.*)\|$", (MOSAIC / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [int(cell.strip().replace(",", "")) for cell in row.split("|")]


@pytest.mark.parametrize("part", ["train", "dev"])
def test_mosaic_holds_what_its_readme_says(part):
    files = sorted((MOSAIC / part).glob("*.txt"))
    corpora = [read(file) for file in files]
    sentences = [sentence for corpus in corpora for sentence in corpus]
    types = [one for corpus in corpora for one in corpus.types]
    assert figures_of_readme(part) == [
        len(files),
        len(sentences),
        sum(len(sentence.words) for sentence in sentences),
        sum(len(sentence.spans) for sentence in sentences),
        len(types),
        len({one.name for one in types}),
    ]
    assert all(sentence.is_labelled for sentence in sentences)
    assert all(one.description for one in types)
    assert all(set(corpus.meta) == {"domain", "register"} for corpus in corpora)
