"""`Batches`: one thread that predicts what arrives within milliseconds in one go.

A request is a `Job`. Jobs wait in a queue of bounded length. The thread takes the first one, waits a moment for others
of the same model, and encodes the sentences of all of them in one call. While it is at work, the next batch gathers.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from handful._util.parallel import several_threads
from handful.encoders import WordEncoder
from handful.errors import HandfulError
from handful.tagger._model import TagModel
from handful.tagger._tagging import MinScore, is_sure, tag_sentences
from handful.text import Document, Prediction

from ._settings import Settings

__all__ = ["Batches", "Busy", "Job", "Ready", "Stopping"]


Ready = tuple[WordEncoder, TagModel]
"""What gives features, and what tags them; neither changes any more."""


class Busy(Exception):  # noqa: N818
    """There is too much to do already."""


class Stopping(Exception):  # noqa: N818
    """The server is about to end."""


@dataclass(eq=False)
class Job:
    """Texts to look for mentions in, with one model.

    Attributes
    ----------
    ready : the encoder and the model, as they are now
    texts : each a str or a list of words
    min_score : mentions with a lower score are left out
    answer : one list of mentions for each text, once they are found
    n_words : how many words there were, once they are known
    """

    ready: Ready
    texts: Sequence[Any]
    min_score: MinScore = 0.0
    answer: "Future[list[list[Prediction]]]" = field(default_factory=Future)
    n_words: int = 0
    came: float = field(default_factory=time.monotonic)

    @property
    def size(self) -> int:
        """About how many words there are."""
        return sum(len(text) // 5 + 1 if isinstance(text, str) else len(text) for text in self.texts)


class Batches:
    """A bounded queue of jobs, and the thread that does them.

    Parameters
    ----------
    settings : Settings
    notice : function
        Called after each batch with the number of its jobs and words, and its seconds.
    """

    def __init__(self, settings: Settings, notice: Callable[[int, int, float], None] | None = None) -> None:
        self.settings = settings
        self._notice = notice
        self._waiting: deque[Job] = deque()
        self._awake = threading.Condition()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._work, name="handful-serve", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, job: Job) -> None:
        """Put a job into the queue; its answer comes later."""
        with self._awake:
            if self._is_stopping:
                raise Stopping
            if len(self._waiting) >= self.settings.max_requests:
                raise Busy
            self._waiting.append(job)
            self._awake.notify()

    def stop(self) -> None:
        """Take no more jobs, finish those that were taken, and end the thread."""
        with self._awake:
            self._is_stopping = True
            self._awake.notify()
        self._thread.join()

    @several_threads()  # matrices of a few sentences are too small for threads of BLAS, which get in each other's way
    def _work(self) -> None:
        while batch := self._next():
            batch = [job for job in batch if job.answer.set_running_or_notify_cancel()]
            started = time.perf_counter()
            _do(batch)
            if batch and self._notice is not None:
                self._notice(len(batch), sum(job.n_words for job in batch), time.perf_counter() - started)

    def _next(self) -> list[Job]:
        """Wait for jobs and return those of one batch; none where it is time to end."""
        with self._awake:
            while not self._waiting:
                if self._is_stopping:
                    return []
                self._awake.wait()
            until = self._waiting[0].came + self.settings.wait
            while (left := until - time.monotonic()) > 0 and not self._is_stopping and not self._is_enough():
                self._awake.wait(left)
            model, n_words = self._waiting[0].ready[1], 0
            batch: list[Job] = []
            others: deque[Job] = deque()
            for job in self._waiting:
                if job.ready[1] is model and (not batch or n_words + job.size <= self.settings.batch_words):
                    batch.append(job)
                    n_words += job.size
                else:
                    others.append(job)
            self._waiting = others
            return batch

    def _is_enough(self) -> bool:
        return sum(job.size for job in self._waiting) >= self.settings.batch_words


def _do(batch: list[Job]) -> None:
    """Answer jobs of one model; where one of them brings down all, each is tried by itself."""
    try:
        answers = _found(batch)
    except Exception as error:
        if len(batch) > 1:
            for job in batch:
                _do([job])
        else:
            batch[0].answer.set_exception(error)
        return
    for job, answer in zip(batch, answers, strict=True):
        job.answer.set_result(answer)


def _found(batch: list[Job]) -> list[list[list[Prediction]]]:
    """Return the mentions in the texts of jobs, which are encoded together."""
    if not batch:
        return []
    encoder, model = batch[0].ready
    documents = [[_document(text, i) for i, text in enumerate(job.texts)] for job in batch]
    sentences = [sentence for own in documents for document in own for sentence in document.sentences]
    tagged = tag_sentences(encoder, model, sentences)
    answers = []
    for job, own in zip(batch, documents, strict=True):
        job.n_words = sum(document.n_words for document in own)
        whole = [document.with_sentences([next(tagged).sentence for _ in document.sentences]) for document in own]
        answers.append([_sure(document, job.min_score) for document in whole])
    return answers


def _document(text: Any, i: int) -> Document:
    try:
        return Document.of(text)
    except HandfulError as error:
        raise error.at(f"text {i} (from 0)") from None


def _sure(document: Document, min_score: MinScore) -> list[Prediction]:
    if not min_score:
        return document.predictions()
    spans = [span for sentence in document.sentences for span in sentence.spans or ()]
    return [found for found, span in zip(document.predictions(), spans, strict=True) if is_sure(span, min_score)]
