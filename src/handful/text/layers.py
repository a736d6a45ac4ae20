"""Mentions that share words: how deep each lies, and sentences in which none do."""

from collections.abc import Sequence

from handful.errors import DataError

from ._labels import Span
from ._labels import by_place as by_place
from ._labels import overlap as overlap
from ._labels import overlap_error as overlap_error
from ._sentences import Sentence

LAYERS = ("outermost", "innermost")


def levels(spans: Sequence[Span]) -> list[int]:
    """Return for each mention how many others it lies inside of; mentions of the same words are on one level."""
    places = {(span.start, span.end) for span in spans}
    return [sum(a <= s.start and s.end <= b and (a, b) != (s.start, s.end) for a, b in places) for s in spans]


def flattened(sentence: Sentence, layer: str = "outermost") -> Sentence:
    """Return a sentence without mentions that share words.

    Of those that do, the longest stays (``layer="outermost"``), or the shortest (``"innermost"``).

    Examples
    --------
    >>> flattened(Sentence(("Oslo", "University"), (Span(0, 2, "ORG"), Span(0, 1, "LOC"))), "innermost")
    <Sentence of 2 words, labelled: [Oslo](LOC) University>
    """
    if layer not in LAYERS:
        raise DataError(f"layer is {layer!r}, expected {' or '.join(LAYERS)}")
    if not overlap(sentence.spans or ()):
        return sentence
    sign, kept = (-1 if layer == "outermost" else 1), list[Span]()
    for span in sorted(sentence.spans or (), key=lambda span: (sign * (span.end - span.start), by_place(span))):
        if all(span.end <= one.start or one.end <= span.start for one in kept):
            kept.append(span)
    return sentence.with_labels(tuple(sorted(kept, key=by_place)), sentence.allowed)
