"""Spans and tokens of JSON records, in the shapes that annotation tools give them."""

import sys
from typing import Any

from handful.errors import DataError, shorten

from ._reading import FileReader
from ._sentences import Mark, Sentence


def token_offsets(text: str, tokens: Any) -> list[tuple[int, int]]:
    """Return where tokens with a ``start`` and an ``end`` are in a text."""
    if not isinstance(tokens, list):
        raise DataError(f"'tokens' is {shorten(repr(tokens))}, expected a list")
    offsets: list[tuple[int, int]] = []
    for token in tokens:
        if not isinstance(token, dict):
            raise DataError(f"found the token {shorten(repr(token))}, expected an object with start and end")
        start, end = token.get("start"), token.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise DataError(f"the token {shorten(repr(token))} has no start and end in the text")
        if token.get("text", text[start:end]) != text[start:end]:
            raise DataError(f"the token {shorten(repr(token))} is {text[start:end]!r} in the text")
        if offsets and start < offsets[-1][1]:
            raise DataError(f"the token {shorten(repr(token))} overlaps the one before it")
        offsets.append((start, end))
    return offsets


def sentence_of_tokens(reading: FileReader, text: str, tokens: list[tuple[int, int]]) -> Sentence | None:
    """Make an unlabelled sentence of tokens; those of white space are no words. None where there are no words."""
    offsets = [(start, end) for start, end in tokens if text[start:end].strip()]
    if len(offsets) < len(tokens):
        reading.report.notes["tokens of white space were not taken as words"] += len(tokens) - len(offsets)
    if not offsets:
        return None
    words = tuple([text[start:end] for start, end in offsets])
    return Sentence(words, text=text, starts=tuple([start for start, _ in offsets]))


def read_mark(reading: FileReader, text: str, tokens: list[tuple[int, int]] | None, item: Any) -> Mark:
    """Read a span in any of its shapes."""
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
        item = {}
    elif isinstance(item, dict):
        start = item.get("start", item.get("start_offset"))
        end = item.get("end", item.get("end_offset"))
        label = item.get("label", item.get("entity_group"))
        if isinstance(labels := item.get("labels"), list) and len(labels) == 1:
            label = labels[0]
    else:
        raise DataError(f"found {shorten(repr(item))}, expected [start, end, label] or an object")
    first, last = item.get("token_start"), item.get("token_end")
    if tokens is not None and first is not None and last is not None:
        if type(first) is not int or type(last) is not int or not 0 <= first <= last < len(tokens):
            raise DataError(f"the span {shorten(repr(item))} is not in the {len(tokens)} tokens")
        by_token = tokens[first][0], tokens[last][1]
        if (start, end) != (None, None) and (start, end) != by_token:
            raise DataError(
                f"the span {shorten(repr(item))} is at {start}:{end}, but its tokens are at "
                f"{by_token[0]}:{by_token[1]} (token_end is the last token, not the one after)"
            )
        start, end = by_token
    if type(start) is not int or type(end) is not int:
        raise DataError(f"the span {shorten(repr(item))} has no whole numbers for its start and end")
    if not isinstance(label, str) or not label:
        raise DataError(f"the span {start}:{end} has no single label: {shorten(repr(item or label))}")
    quoted = item.get("text")
    if isinstance(quoted, str) and text[max(start, 0) : max(end, 0)] != quoted:
        start, end = _from_utf16(reading, text, start, end, quoted)
    return Mark(start, end, label, read_score(item))


def read_score(item: dict[str, Any]) -> float | None:
    """Return the score of a span, if it has one."""
    score = item.get("score")
    if score is None:
        return None
    if not isinstance(score, int | float) or isinstance(score, bool) or not abs(score) <= sys.float_info.max:
        raise DataError(f"the score of {shorten(repr(item))} is {shorten(repr(score))}, expected a number")
    return float(score)


def _from_utf16(reading: FileReader, text: str, start: int, end: int, quoted: str) -> tuple[int, int]:
    """Turn positions that a browser counted, with two for a character such as an emoji, into code points."""
    if 0 <= start <= end:
        units = text.encode("utf-16-le")
        before = len(units[: 2 * start].decode("utf-16-le", "ignore"))
        after = before + len(quoted)
        if units[2 * start : 2 * end] == quoted.encode("utf-16-le") and text[before:after] == quoted:
            reading.report.notes["spans had positions in UTF-16 units, which were converted"] += 1
            return before, after
    found = text[max(start, 0) : max(end, 0)]
    raise DataError(f"the span {start}:{end} is {shorten(found)!r} in the text, but says {shorten(quoted)!r}")
