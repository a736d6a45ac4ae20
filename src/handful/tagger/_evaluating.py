"""The evaluation of a model on labelled sentences: predict, and compare."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from handful._util.progress import Progress, reporting
from handful.encoders import Encoder
from handful.encoders.seen import count_seen
from handful.errors import DataError
from handful.evaluate import Evaluation, evaluate
from handful.text import Sentence

from .model import Model
from .tagging import Notice, tag_sentences

__all__ = ["evaluate_on"]


def evaluate_on(
    gold: Sequence[Sentence],
    encoder: Encoder,
    model: Model,
    fitted_on: Iterable[Sentence],
    notice: Notice,
    progress: Progress,
) -> Evaluation:
    """Tag sentences, which must be wholly labelled, and compare; `fitted_on` are the labelled ones of the fit."""
    for number, sentence in enumerate(gold):
        if not sentence.is_labelled:
            raise DataError(
                f"sentence {number} (from 0) is not wholly labelled, so nothing can be compared; label it or "
                f"leave it out: {sentence}"
            )
    found: list[Sentence] = []
    confidences: list[Sequence[float]] = []
    n_words, n_done = sum(len(sentence.words) for sentence in gold), 0
    with reporting(progress, n_words) as report:
        for words in tag_sentences(encoder, model, gold, notice):
            found.append(words.sentence)
            confidences.append(words.scores[range(len(words.tags)), words.tags].tolist())
            n_done += len(words.tags)
            report(n_done, n_words)
    known = {sentence.words for sentence in fitted_on}
    return replace(
        evaluate(gold, found, types=model.types, confidences=confidences),
        n_fitted=sum(sentence.words in known for sentence in gold),
        n_trained=count_seen(encoder, gold),
    )
