"""Recognising the format of a file by its content."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import dropwhile

from handful.errors import Advice, FormatError, shorten

from ._conll import DOCSTART, is_numbered, split_columns
from ._markup import MARK, find_slip
from ._plain import is_head_line
from ._source import InputFile
from ._tables import is_table

# Words that can only be tags, and words that may be types without a prefix.
_PREFIXED = re.compile(r"[BIESLU]-[^\W\d]\S*")
_TAG = re.compile(rf"O|_|{_PREFIXED.pattern}|!\S+|[^\W\d][^\s|]*(?:\|[^\s|]+)+")
_TABBED = re.compile(r"[BIESLU]-[^\W\d][^\t]*|![^\t]+|[^\W\d][^\t|]*(?:\|[^\t|]+)+")  # between tabs, spaces are allowed
_BARE = re.compile(r"[^\W\d][\w/.&-]*")
_JSON = re.compile(r"\{\s*[\"}]|\[\s*(?:[\[{]\s*[\"\]}]|\])")
_STRINGS = re.compile(r'\[\s*"(?:[^"\\\n]|\\.)*"\s*[],]')  # an array of texts begins
_ENOUGH, _SOME = 0.8, 0.2  # of all lines
_SEVERAL, _MANY = 4, 20  # lines


class Head:
    """The beginning of a file, as recognition looks at it."""

    def __init__(self, source: InputFile, *, is_unlabelled: bool, text_field: str | None = None) -> None:
        self.source = source
        lines = source.head.split("\n")
        if not source.is_whole and len(lines) > 1:
            lines.pop()
        # The last line, which may be cut, is left out; blank ones are only counted.
        self.has_blank_lines = any(not line.strip() for line in "\n".join(lines).strip().split("\n"))
        self.lines = [line for line in lines if line.strip()]
        self.is_unlabelled = is_unlabelled
        self.text_field = text_field
        self.has_doubts = False  # whether it may be one of the formats that were tried before, but damaged


Answer = bool | str
"""Whether a file has a format: True, False, or the reason why it may have it, but is damaged."""


def is_json(head: Head) -> Answer:
    """Recognise a JSON record or array at the start."""
    text = head.source.head.lstrip()
    if _JSON.match(text) or not _STRINGS.match(text):
        return _JSON.match(text) is not None
    line = text.split("\n", 1)[0].rstrip()
    if line.endswith(("[", ",")) or (line == text.rstrip() and not head.source.is_whole):
        return True
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def has_header(head: Head, format: str) -> Answer:
    """Recognise a table by the name of its file, or by its header."""
    source = head.source
    is_named = source.name.lower().removesuffix(".gz").endswith(f".{format}")
    return is_named or is_table(source.head, format, is_whole=source.is_whole, text_field=head.text_field)


def is_inline(head: Head) -> Answer:
    """Recognise marks in the text below the head of the file."""
    lines = list(dropwhile(is_head_line, head.lines))
    marked = sum(bool(MARK.search(line)) for line in lines)
    if head.is_unlabelled:
        return marked >= max(_SEVERAL, 0.5 * len(lines))
    if marked:
        return True
    slip = find_slip(head.source.head.split("\n"))
    if slip is None:
        return False
    advice = Advice.of("if this is part of a plain text, say {}", ("format='text'", "--from text"))
    raise FormatError(f"{head.source.name}:{slip[0]}: {slip[1]}", advice)


def is_text(head: Head) -> Answer:
    """Take for plain text what is not one of the formats before, damaged."""
    if "\0" in head.source.head:
        return "there are NUL characters"
    return "it may be one of those, damaged" if head.has_doubts else True


def is_conll(head: Head) -> Answer:
    """Recognise columns with the tag last.

    Every line of a text has a last word. Without tabs, more is therefore needed: tags with a prefix, or mostly O in
    many lines or in sentences.
    """
    lines = [line for line in head.lines if not line.startswith(DOCSTART)]
    if is_numbered(head.source):
        lines = [line for line in lines if line[0] != "#"]
    if not lines:
        return True
    is_tabbed = "\t" in lines[0].strip()
    rows = [line.rstrip().split("\t") if is_tabbed else split_columns(line) for line in lines]
    widths = [len(row) for row in rows]
    width = max(set(widths), key=lambda w: (widths.count(w), w))
    if width == 1:
        return False
    tags = [row[-1].strip() if len(row) > 1 else "" for row in rows]
    alike = widths.count(width) / len(rows)
    are_tags = [bool(_TAG.fullmatch(tag) or (is_tabbed and _TABBED.fullmatch(tag))) for tag in tags]
    tagged = sum(are_tags) / len(rows)
    is_paired = len(rows) > 1 and len(rows[0]) == len(rows[1]) and all(map(_TAG.fullmatch, rows[1]))
    is_bare = (
        alike == 1 and "O" in tags and all(is_ or _BARE.fullmatch(tag) for is_, tag in zip(are_tags, tags, strict=True))
    )
    is_alike = (is_bare and not is_paired) or (alike >= _ENOUGH and tagged >= _ENOUGH)
    is_mostly_o = 2 * sum(tag in ("O", "_") for tag in tags) >= len(tags) >= _SEVERAL
    if is_tabbed:
        is_evident = is_possible = any(tag in ("O", "_") or _PREFIXED.fullmatch(tag) for tag in tags)
    else:
        is_sentences = (
            head.has_blank_lines or len(rows) >= _MANY or any(not any(map(str.isalnum, row[0])) for row in rows)
        )
        is_evident = _has_prefixes(tags) or _are_partial(tags) or (is_mostly_o and is_sentences)
        is_possible = _has_prefixes(tags) or is_mostly_o
    if is_evident and is_alike:
        return True
    if is_possible and tagged > _SOME and not is_paired:
        odd = next((line for line, is_tag in zip(lines, are_tags, strict=True) if not is_tag), "")
        seen = f", but {shorten(odd.strip(), 40)!r} does not" if odd else ""
        return f"{tagged:.0%} of the lines end in what may be a tag{seen}"
    return False


def _has_prefixes(tags: list[str]) -> bool:
    """Whether tags have prefixes; in small letters, like E-mail and U-boat, only several or with O count."""
    prefixed = [tag for tag in tags if _PREFIXED.fullmatch(tag)]
    return any(tag == tag.upper() or "O" in tags for tag in prefixed) or len(prefixed) >= _SEVERAL


def _are_partial(tags: list[str]) -> bool:
    """Whether these are partial labels, with O or _ among them: by itself, a|b or !! is not a tag."""
    is_open = any(tag[:1] == "!" or "|" in tag for tag in tags) and any(tag in ("O", "_") for tag in tags)
    return is_open and len(tags) > 2 and all(_TAG.fullmatch(tag) for tag in tags)


# The function that recognises each format, and its sign, in the order in which they are tried.
RECOGNISERS: dict[str, tuple[Callable[[Head], Answer], str]] = {
    "json": (is_json, "record or array at the start"),
    "conll": (is_conll, "column of tags"),
    "csv": (partial(has_header, format="csv"), "header of a table"),
    "tsv": (partial(has_header, format="tsv"), "header of a table with tabs"),
    "inline": (is_inline, "mark such as [words](TYPE)"),
    "text": (is_text, ""),
}
