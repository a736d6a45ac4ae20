"""Partial labels of words: told from spans, put together, and turned into spans where one tag is left."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .sentences import OUTSIDE, Allowed, Sentence, Span

__all__ = ["relabelled", "union", "without_partial"]


def without_partial(found: Iterable[Span], n_words: int) -> tuple[tuple[Span, ...], tuple[Allowed | None, ...] | None]:
    """Tell spans from partial labels, which are written in the same way."""
    spans: list[Span] = []
    allowed: list[Allowed | None] | None = None
    for span in found:
        if span.type == "_" or span.type[:1] == "!" or "|" in span.type:
            allowed = allowed or [None] * n_words
            allowed[span.start : span.end] = [Allowed.parse(span.type)] * (span.end - span.start)
        else:
            spans.append(span)
    return tuple(spans), None if allowed is None else tuple(allowed)


def union(one: Allowed, other: Allowed) -> Allowed:
    """Return what allows every tag that one of the two allows."""
    if one.is_excluded and other.is_excluded:
        return Allowed(one.names & other.names, is_excluded=True)
    if one.is_excluded or other.is_excluded:
        excluded, allowed = (one, other) if one.is_excluded else (other, one)
        return Allowed(excluded.names - allowed.names, is_excluded=True)
    return Allowed(one.names | other.names)


def relabelled(sentence: Sentence, spans: Iterable[Span], entries: Sequence[Allowed | None]) -> Sentence:
    """Return a sentence with other labels.

    Each run of words with the same entry that leaves one type is a mention.
    """
    found, allowed = list(spans), list(entries)
    i = 0
    while i < len(allowed):
        entry, start = allowed[i], i
        i += 1
        if entry is None or not entry.is_single or entry == OUTSIDE:
            continue
        while i < len(allowed) and allowed[i] == entry:
            i += 1
        (name,) = entry.names
        found.append(Span(start, i, name))
        allowed[start:i] = [None] * (i - start)
    found.sort(key=lambda span: span.start)
    return replace(sentence, spans=tuple(found), allowed=tuple(allowed) if any(allowed) else None)
