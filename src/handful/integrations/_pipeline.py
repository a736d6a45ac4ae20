"""Answers as the pipelines of transformers give them, so that a tagger can stand where one of them does."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handful._util.files import PathLike
from handful.errors import DataError
from handful.tagger import Predictor
from handful.tagger.frames import is_frame, texts_of

from ._hub import from_hub


class TokenClassification:
    """What `pipeline` returns: a function of texts, as ``transformers.pipeline("token-classification")`` is.

    Attributes
    ----------
    model : the tagger
    task : "token-classification"
    """

    task = "token-classification"

    def __init__(self, model: Predictor, *, min_score: float | Mapping[str, float] = 0.0) -> None:
        self.model = model
        self.min_score = min_score

    def __call__(self, inputs: Any, *, batch_size: int | None = None) -> Any:
        """Find mentions.

        Parameters
        ----------
        inputs
            A text; or a list or tuple of texts; or any other iterable of them, such as a generator or a column of a
            data set.
        batch_size
            It is taken, and has no effect: texts are put into batches by their words.

        Returns
        -------
        list of dict, list of lists of dict, or iterator
            For a text its mentions, each with ``entity_group``, ``score``, ``word``, ``start`` and ``end``. For a list
            one such list for each text. For another iterable an iterator of such lists, which holds few texts at a
            time.
        """
        if isinstance(inputs, Mapping) or not isinstance(inputs, Iterable):
            raise DataError(f"inputs must be a text, or a list or another iterable of texts, found {inputs!r}")
        if is_frame(inputs):
            inputs = texts_of(inputs, "inputs")
        if isinstance(inputs, str):
            return list(self.model.predict(inputs, min_score=self.min_score, progress=False))
        found = map(list, self.model.predict_iter(self._texts(inputs), min_score=self.min_score))
        return list(found) if isinstance(inputs, list | tuple) else found

    @staticmethod
    def _texts(inputs: Iterable[Any]) -> Iterator[str]:
        for number, text in enumerate(inputs):
            if not isinstance(text, str):
                raise DataError(f"text {number} (from 0) is {text!r}, expected a str")
            yield text

    def __repr__(self) -> str:
        return f"<TokenClassification of {self.model!r}>"


def pipeline(
    model: PathLike | Predictor, *, min_score: float | Mapping[str, float] = 0.0, **options: Any
) -> TokenClassification:
    """Return a function that answers as ``transformers.pipeline("token-classification")`` does.

    The form is that of ``aggregation_strategy="simple"``: a dict for each mention. ``word`` is what the text has
    between ``start`` and ``end``, and ``score`` is a float of Python.

    Parameters
    ----------
    model
        A fitted tagger, the folder of a saved one, or the name of a repository; see `handful.integrations.from_hub`.
    min_score
        As for `Tagger.predict`.
    **options
        As for `handful.integrations.from_hub`, where the model is not a tagger itself.

    Examples
    --------
    >>> find = pipeline("user/garden")  # doctest: +SKIP
    >>> find("We sprayed the tomatoes against whitefly.")  # doctest: +SKIP
    [{'entity_group': 'PEST', 'score': 0.88, 'word': 'whitefly', 'start': 32, 'end': 40}]
    """
    if isinstance(model, Predictor):
        if options:
            raise DataError(f"{', '.join(options)} has no meaning for a model that is a tagger already")
        return TokenClassification(model, min_score=min_score)
    return TokenClassification(from_hub(model, **options), min_score=min_score)
