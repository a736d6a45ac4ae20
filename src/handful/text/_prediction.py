"""`Prediction`: a mention as Hugging Face's pipelines write it; lists of them show themselves in notebooks."""

from collections.abc import Iterable
from typing import TypedDict

from handful._util.html import marked

__all__ = ["Prediction", "Predictions", "PredictionsOfTexts"]

N_SHOWN = 25  # texts in a notebook


class Prediction(TypedDict):
    """A mention that was found.

    Attributes
    ----------
    entity_group : the name of its type
    score : how sure the tagger is of it, from 0 to 1
    word : the words as the text has them
    start, end : where they are in the text, in code points: ``text[start:end] == word``
    """

    entity_group: str
    score: float
    word: str
    start: int
    end: int


class Predictions(list[Prediction]):
    """The mentions of a text: a list, which a notebook shows as the text with its mentions marked.

    Attributes
    ----------
    text : the text
    """

    __slots__ = ("text",)

    def __init__(self, found: Iterable[Prediction] = (), text: str = "") -> None:
        super().__init__(found)
        self.text = text

    def _repr_html_(self) -> str:
        return _shown([self])


class PredictionsOfTexts(list[list[Prediction]]):
    """The mentions of several texts: a list of lists, which a notebook shows as the first texts, with marks."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return nothing, so that the list is shown as it is, where something else was put into it."""
        first = [one for one in self[:N_SHOWN] if isinstance(one, Predictions)]
        if len(first) < min(len(self), N_SHOWN):
            return None
        n_more = len(self) - len(first)
        return _shown(first) + (f"<p>… and {n_more:,} more</p>" if n_more else "")


def _shown(found: list[Predictions]) -> str:
    """Return texts with their mentions marked; where the list was changed so that they overlap, the first is shown."""
    types = sorted({one["entity_group"] for mentions in found for one in mentions})
    pieces = []
    for mentions in found:
        end, places = 0, []
        for one in sorted(mentions, key=lambda one: one["start"]):
            if end <= one["start"] <= one["end"] <= len(mentions.text):
                places.append((one["start"], one["end"], one["entity_group"], one["score"]))
                end = one["end"]
        pieces.append(marked(mentions.text, places, types))
    return "".join(pieces)
