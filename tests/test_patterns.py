"""No regular expression takes more time than its text explains: strangers write the text.

The patterns are found in the source, so that a new one is tried, too. A text is a piece that is repeated. Pieces
are made of the characters that a pattern names.
"""

import ast
import importlib
import itertools
import re
from pathlib import Path

import pytest

import handful
from growth import grows_as
from handful.text import _patterns, _words

pytestmark = pytest.mark.exhaustive

PACKAGE = Path(handful.__file__).parent
METHODS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")
IN_FUNCTIONS = {  # patterns that are made of more than constants
    "text/_words.py _word_pattern": _words._word_pattern(),
    "text/_words.py _letters_marks_capitals": re.compile("x"),  # single characters of a table
    "text/_patterns.py compiled": _patterns.compiled("/[A-Z]{2}-[0-9]{4}/"),  # of users: what takes longer is refused
    "scale/_pieces.py PieceReader": re.compile("x"),  # an escaped name and a number
}
N = 150


def module_of(path):
    return importlib.import_module(".".join(("handful", *path.relative_to(PACKAGE).with_suffix("").parts)))


def find_patterns():
    """Return each pattern of the package by its place, with the methods that are called on it."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    found = {}
    for path, text in texts.items():
        for top in ast.parse(text).body if "import re\n" in text else ():
            for node in ast.walk(top):
                if not isinstance(node, ast.Call) or not ast.unparse(node.func).startswith("re."):
                    continue
                method, place = node.func.attr, path.relative_to(PACKAGE).as_posix()
                if isinstance(top, ast.Assign) and method == "compile":
                    name = top.targets[0].id
                    users = [one for one in texts.values() if re.search(rf"\b{name}\b", one)]
                    used = {one for user in users for one in re.findall(rf"\b{name}\.(\w+)", user)}
                    found[f"{place} {name}"] = getattr(module_of(path), name), used & {*METHODS} or {"search"}
                elif method in METHODS and all(isinstance(one, ast.Constant) for one in node.args[:1]):
                    flags = [re.RegexFlag[one] for one in re.findall(r"\bre\.([A-Z]+)", ast.unparse(node))]
                    found[f"{place}:{node.lineno}"] = re.compile(node.args[0].value, *flags), {method}
                elif method in (*METHODS, "compile"):
                    name = f"{place} {top.name}"
                    found[name] = IN_FUNCTIONS[name], {"match", "findall"}
    return found


PATTERNS = find_patterns()


def texts_for(pattern):
    """Return functions from a number to a text: pieces of the characters that are in a pattern, with ends that fail."""
    named = dict.fromkeys(re.sub(r"\\[wWsSdDbB]|[\w?+*|^$\\]", "", pattern.pattern))
    characters = ["a", " ", *list(named)[:6]]
    pieces = ["B", "1", "\n", *characters, *map("".join, itertools.permutations(characters, 2))]
    starts = ["", *characters[2:], *(f"{one} " for one in characters[2:])]
    for start, piece, end in itertools.product(starts, pieces, ("", "\x00")):
        yield lambda n, start=start, piece=piece, end=end: start + piece * n + end


def test_patterns_are_found():
    assert len(PATTERNS) > 30


@pytest.mark.parametrize("name", PATTERNS)
def test_the_time_of_a_pattern_is_linear(name):
    pattern, used = PATTERNS[name]
    ways = [getattr(pattern, one) for one in sorted(used & {"match", "fullmatch", "search"})]
    ways += [pattern.findall] if len(ways) < len(used) else []  # sub, split and finditer go through a text as it does
    for way, make in itertools.product(ways, list(texts_for(pattern))):
        assert grows_as(way, make, N) < 1.5, (way, make(2))
