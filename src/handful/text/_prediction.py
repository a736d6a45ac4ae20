"""`Prediction`: a mention as Hugging Face's pipelines write it."""

from typing import TypedDict

__all__ = ["Prediction"]


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
