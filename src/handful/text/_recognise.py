"""Telling a file's format by its content."""

import json
import re
from itertools import pairwise

from handful.errors import FormatError

from ._conll import DOCSTART, is_numbered, split_columns
from ._files import Source
from ._inline import MARK
from ._ontonotes import BEGIN
from ._types import shorten

__all__ = ["recognise"]

# What only a tag looks like, and what a type without a prefix may look like.
_PREFIXED = re.compile(r"[BIESLU]-[^\W\d]\S*")
_TAG = re.compile(rf"O|_|{_PREFIXED.pattern}|!\S+|[^\W\d][^\s|]*(?:\|[^\s|]+)+")
_BARE = re.compile(r"[^\W\d][\w/.&-]*")
_JSON = re.compile(r"\{\s*[\"}]|\[\s*(?:[\[{]\s*[\"\]}]|\])")
_ENOUGH, _SOME = 0.8, 0.2  # of all lines
_SEVERAL, _MANY = 4, 20  # lines


def recognise(source: Source, *, is_unlabelled: bool = False) -> str:
    """Return the name of a source's format.

    Parameters
    ----------
    source : Source
        What is read.
    is_unlabelled : bool
        Whether no labels are looked for: then some ``[words](TYPE)`` in a text may be links, and only several, in half
        of its lines, are marks.

    Raises
    ------
    FormatError
        The file is empty, or it could be more than one thing.
    """
    head = source.head
    lines = head.split("\n")
    if not source.is_whole and len(lines) > 1:
        lines.pop()  # it may be cut
    has_blank_lines = any(not line.strip() for line in "\n".join(lines).strip().split("\n"))
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise FormatError(f"{source.name}: is empty, there is no text in it")
    if lines[0].startswith(BEGIN):
        return "conll-2012"
    if _is_json(head.lstrip()):
        return "json"
    rows = [line for line in lines if line[0] != "#"] if is_numbered(source) else lines
    is_columns, tried_columns = _columns(rows, has_blank_lines=has_blank_lines)
    if is_columns:
        return "conll"
    is_pairs, tried_pairs = _pairs(lines)
    if is_pairs:
        return "lines"
    marked = sum(bool(MARK.search(line)) for line in lines)
    if marked >= (max(_SEVERAL, 0.5 * len(lines)) if is_unlabelled else 1):
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


def _columns(lines: list[str], *, has_blank_lines: bool) -> tuple[bool, str]:
    """Say whether these are columns with the tag last; and if they only may be, why.

    Any text ends in a last word, so that without tabs more is asked for: tags with a prefix, or mostly O in many lines
    or in sentences.
    """
    lines = [line for line in lines if not line.startswith(DOCSTART)]
    if not lines:
        return True, ""
    is_tabbed = "\t" in lines[0].strip()
    rows = [line.rstrip().split("\t") if is_tabbed else split_columns(line) for line in lines]
    widths = [len(row) for row in rows]
    width = max(set(widths), key=lambda w: (widths.count(w), w))
    if width == 1:
        return False, ""
    tags = [row[-1].strip() if len(row) > 1 else "" for row in rows]
    alike = widths.count(width) / len(rows)
    tagged = sum(bool(_TAG.fullmatch(tag)) for tag in tags) / len(rows)
    is_paired = _looks_paired(rows)
    is_bare = alike == 1 and "O" in tags and all(_TAG.fullmatch(tag) or _BARE.fullmatch(tag) for tag in tags)
    is_alike = (is_bare and not is_paired) or (alike >= _ENOUGH and tagged >= _ENOUGH)
    is_mostly_o = _share_outside(tags) >= 0.5 and len(rows) >= _SEVERAL
    if is_tabbed:
        is_evident = is_possible = any(tag in ("O", "_") or _PREFIXED.fullmatch(tag) for tag in tags)
    else:
        is_sentences = has_blank_lines or len(rows) >= _MANY or any(not _has_letters(row[0]) for row in rows)
        is_evident = _has_prefixes(tags) or _are_partial(tags) or (is_mostly_o and is_sentences)
        is_possible = _has_prefixes(tags) or is_mostly_o
    if is_evident and is_alike:
        return True, ""
    if is_possible and tagged > _SOME and not is_paired:
        odd = next((line for line, tag in zip(lines, tags, strict=True) if not _TAG.fullmatch(tag)), "")
        seen = f", but {shorten(odd.strip(), 40)!r} does not" if odd else ""
        return False, f"{tagged:.0%} of the lines end in what may be a tag{seen}"
    return False, ""


def _pairs(lines: list[str]) -> tuple[bool, str]:
    """Say whether these are lines of words, each followed by a line of tags; and if they only may be, why."""
    rows = [split_columns(line) for line in lines]
    if len(rows) < 2:
        return False, ""
    good = [b for a, b in list(pairwise(rows))[::2] if len(a) == len(b) and _are_tags(b)]
    share = len(good) / (len(rows) // 2)
    tags = [tag for row in good for tag in row]
    is_mostly_o = _share_outside(tags) >= 0.5 and len(tags) > 1
    is_upper = len(good) >= _SEVERAL or all(tag == tag.upper() for tag in tags)
    if not _has_prefixes(tags) and not (is_mostly_o and is_upper):
        return False, ""
    if share >= _ENOUGH:
        return True, ""
    return False, f"{share:.0%} of the line pairs are words and tags" if share > _SOME else ""


def _has_prefixes(tags: list[str]) -> bool:
    """Whether tags have prefixes; in small letters, like E-mail and U-boat, only several or with O count."""
    prefixed = [tag for tag in tags if _PREFIXED.fullmatch(tag)]
    return any(tag == tag.upper() or "O" in tags for tag in prefixed) or len(prefixed) >= _SEVERAL


def _are_partial(tags: list[str]) -> bool:
    """Whether these are partial labels, with O or _ among them: by itself, a|b or !! is no tag."""
    is_open = any(tag[:1] == "!" or "|" in tag for tag in tags) and any(tag in ("O", "_") for tag in tags)
    return is_open and len(tags) > 2 and all(_TAG.fullmatch(tag) for tag in tags)


def _share_outside(tags: list[str]) -> float:
    return sum(tag in ("O", "_", "X") for tag in tags) / len(tags) if tags else 0.0


def _has_letters(word: str) -> bool:
    return any(character.isalnum() for character in word)


def _looks_paired(rows: list[list[str]]) -> bool:
    return len(rows) > 1 and len(rows[0]) == len(rows[1]) and all(map(_is_tag, rows[1]))


def _is_tag(tag: str) -> bool:
    return tag == "X" or _TAG.fullmatch(tag) is not None


def _are_tags(row: list[str]) -> bool:
    if all(map(_is_tag, row)):
        return True
    return "O" in row and all(_BARE.fullmatch(tag) for tag in row)
