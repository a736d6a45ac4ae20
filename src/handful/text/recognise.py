"""Telling a file's format by its content."""

import json
import re
from itertools import pairwise

from handful.errors import FormatError

from .conll import DOCSTART, split_columns
from .files import Source
from .ontonotes import BEGIN
from .types import shorten

__all__ = ["recognise"]

# What only a tag looks like, and what a type without a prefix may look like.
_TAG = re.compile(r"O|_|[BIESLU]-\S+|!\S+|[^\W\d][^\s|]*(?:\|[^\s|]+)+")
_BARE = re.compile(r"[^\W\d][\w/.&-]*")
_MARK = re.compile(r"\[[^\[\]\n]+\]\(!?\w[\w-]*(?:\|\w[\w-]*)*\)")
_JSON = re.compile(r"\{\s*[\"}]|\[\s*(?:[\[{]\s*[\"\]}]|\])")
_ENOUGH, _SOME = 0.8, 0.2  # of all lines


def recognise(source: Source) -> str:
    """Return the name of a source's format.

    Raises
    ------
    FormatError
        The file is empty, or it could be more than one thing.
    """
    head = source.head
    lines = head.split("\n")
    if not source.is_whole and len(lines) > 1:
        lines.pop()  # it may be cut
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise FormatError(f"{source.name}: is empty, there is no text in it")
    if lines[0].startswith(BEGIN):
        return "conll-2012"
    if _is_json(head.lstrip()):
        return "json"
    is_columns, tried_columns = _columns(lines)
    if is_columns:
        return "conll"
    is_pairs, tried_pairs = _pairs(lines)
    if is_pairs:
        return "lines"
    if _MARK.search(head):
        return "inline"
    if "\0" not in head and not tried_columns and not tried_pairs:
        return "text"
    tried = [
        "conll: " + (tried_columns or "no columns with tags"),
        "lines: " + (tried_pairs or "no lines of tags"),
        "json: it does not start with a record or an array",
        "inline: there is nothing like [words](TYPE)",
        "text: " + ("there are NUL characters" if "\0" in head else "it may be one of those, damaged"),
    ]
    raise FormatError(
        f"{source.name}: the format is not clear. Tried " + "; ".join(tried) + ". Name it, for example "
        "format='conll' to be told what is wrong where, or format='text' if it is plain text"
    )


def _is_json(head: str) -> bool:
    if _JSON.match(head):
        return True
    if not head.startswith('["'):
        return False
    try:
        json.loads(head.split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return True


def _columns(lines: list[str]) -> tuple[bool, str]:
    """Say whether these are columns with the tag last; and if they only may be, why."""
    lines = [line for line in lines if not line.startswith(DOCSTART)]
    if not lines:
        return True, ""
    is_tabbed = "\t" in lines[0].strip()
    rows = [line.rstrip().split("\t") if is_tabbed else split_columns(line) for line in lines]
    widths = [len(row) for row in rows]
    width = max(set(widths), key=lambda w: (widths.count(w), w))
    tags = [row[-1].strip() if len(row) > 1 else "" for row in rows]
    odd = next((line for line, tag in zip(lines, tags, strict=True) if not _TAG.fullmatch(tag)), "")
    alike, tagged = (
        widths.count(width) / len(rows),
        sum(bool(_TAG.fullmatch(tag)) for tag in tags) / len(rows),
    )
    if width > 1 and alike >= _ENOUGH:
        is_certain = width == 2 or is_tabbed or len(rows) > 2 or any(tag[1:2] == "-" for tag in tags)
        if tagged >= _ENOUGH and is_certain:
            return True, ""
        is_bare = alike == 1 and "O" in tags and all(_BARE.fullmatch(tag) for tag in tags)
        if is_bare and len(rows) > 1 and not _looks_paired(rows):
            return True, ""
    if width > 1 and tagged > _SOME and not _looks_paired(rows):
        seen = f", but {shorten(odd.strip(), 40)!r} does not" if odd else ""
        return False, f"{tagged:.0%} of the lines end in what may be a tag{seen}"
    return False, ""


def _pairs(lines: list[str]) -> tuple[bool, str]:
    """Say whether these are lines of words, each followed by a line of tags; and if they only may be, why."""
    rows = [split_columns(line) for line in lines]
    if len(rows) < 2:
        return False, ""
    good = [len(a) == len(b) and _are_tags(b) for a, b in list(pairwise(rows))[::2]]
    share = sum(good) / len(good)
    if share >= _ENOUGH:
        return True, ""
    return False, f"{share:.0%} of the line pairs are words and tags" if share > _SOME else ""


def _looks_paired(rows: list[list[str]]) -> bool:
    return len(rows) > 1 and len(rows[0]) == len(rows[1]) and all(map(_is_tag, rows[1]))


def _is_tag(tag: str) -> bool:
    return tag == "X" or _TAG.fullmatch(tag) is not None


def _are_tags(row: list[str]) -> bool:
    if all(map(_is_tag, row)):
        return True
    return "O" in row and all(_BARE.fullmatch(tag) for tag in row)
