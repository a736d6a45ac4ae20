"""Mentions inside others of their own type, where a guideline asks for them and no label shows them.

An encoder says which words are of a type, and all words of the mention around are. So language says where an inner
mention may be: what follows a preposition, up to the end ("the mother of [the old man]"), and what is before a
possessive ending ("[Anna Berg] 's mother"). It begins with a determiner or a capital letter. It counts where its words
are more of the type than O, and than the whole mention is, and not much more of another type than the rest of that.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handful.text import Sentence, Span
from handful.text.borders import DETERMINERS
from handful.text.guidelines import guideline_of
from handful.text.layers import by_place

from .decoding import decode
from .model import Model

_BEFORE, _AFTER = {"of", "in", "at", "from"}, {"'s", "\u2019s"}  # words before and after an inner mention


def is_asked_for(model: Model) -> bool:
    """Whether the guideline of the only type of a model asks for mentions inside others of it."""
    return bool(guideline_of(model.types[0].description).inner)


def said_of(model: Model, sentence: Sentence, span: Span) -> list[str]:
    """Return a line where a guideline has asked for a mention: it is inside another one of its type."""
    asked, others = guideline_of(model.types[model.tags.index(span.type) - 1].description).inner, sentence.spans or ()
    is_inside = any(
        one.start <= span.start and span.end <= one.end and one != span for one in others if one.type == span.type
    )
    return [f"inside another one of {span.type}, as its description asks: {asked!r}"] if asked and is_inside else []


def with_inner(
    model: Model,
    logits: NDArray[np.float64],
    lost: NDArray[np.bool_],
    sentences: Sequence[Sentence],
    found: Sequence[tuple[Span, ...]],
    is_other: Callable[[int, Span, Span], bool],
) -> list[tuple[Span, ...]]:
    """Return the mentions found in each sentence, and those inside others of the only type of a model.

    `is_other` says, given the first word of a sentence, whether words inside a mention are more of another type.
    """
    name, lead, scores = model.types[0].name, logits[:, 1] - logits[:, 0], model.calibration.scores(logits)
    n_words = [len(one.words) for one in sentences]
    firsts = np.cumsum([0, *n_words]).tolist()
    around = [[span for span in spans if span.type == name] for spans in found]
    more: list[set[Span]] = [set() for _ in sentences]
    turns: dict[int, list[slice]] = {}  # places inside the same mention share words, so each of them has its turn
    for first, one, spans in zip(firsts, sentences, around, strict=False):
        for outer in spans:
            for turn, place in enumerate(_places(one.words, outer)):
                inside, whole = (lead[first + some.start : first + some.end] for some in (place, outer))
                if inside.mean() > max(0.0, whole.mean()) and not is_other(first, place, outer):
                    turns.setdefault(turn, []).append(slice(first + place.start, first + place.end))
    for rows in turns.values():
        tags = np.zeros(len(logits), np.intp)
        for row in rows:
            tags[row] = 1
        tags = model.bordered(tags, scores, sentences)
        tags[lost] = 0
        for inner, outers, kept in zip(decode(scores, n_words, [name], tags), around, more, strict=True):
            kept.update(s for s in inner if any(one.start <= s.start and s.end <= one.end for one in outers))
    return [
        tuple(sorted({*kept, *spans}, key=by_place)) if kept.difference(spans) else spans
        for kept, spans in zip(more, found, strict=True)
    ]


def _places(words: Sequence[str], span: Span) -> list[Span]:
    """Return the places inside a mention where there may be another one."""
    there = [(i, words[i].lower()) for i in range(span.start + 1, span.end)]
    places = [replace(span, start=i + 1) for i, word in there if word in _BEFORE and i + 1 < span.end]
    places += [replace(span, end=i) for i, word in there if word in _AFTER]
    first = [words[one.start] for one in places]
    return [one for one, word in zip(places, first, strict=True) if word[0].isupper() or word.lower() in DETERMINERS]
