"""`Batches`: one thread that predicts the requests that arrive within milliseconds in one go.

A request is a `Job`. Jobs wait in a queue of bounded length. The thread takes the first one and others of the same
model, and encodes sentences of all of them in one call. While it is at work, the next batch gathers. Where several came
the last time, it waits a moment for as many; a client that is alone is answered at once.

A batch has a bounded number of words. The rest of a large job goes to the end of the queue, so that small ones need not
wait for all of it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from handful._util.parallel import several_threads
from handful.encoders import Encoder
from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.finding import Find
from handful.tagger.model import TagModel
from handful.tagger.tagging import MinScore, Notice, is_sure, tag_sentences
from handful.text import Document, Prediction, Sentence
from handful.web import Limits
from handful.web.http import later

BATCH_WORDS = 2048  # about how many words are encoded at once

Ready = tuple[Encoder, TagModel, Notice | None]
"""An encoder and a model, which do not change any more, and what looks at sentences that they tag."""


def ready_of(tagger: Tagger, find: Find | None = None) -> Ready:
    """Return the encoder, the model and the notice of a tagger, as they are now; `find` is how much it is to find."""
    return tagger.encoder_, tagger.finding(find), tagger.notice_


@dataclass(eq=False)
class Job:
    """Texts to look for mentions in, with one model; each text is a str or a list of words.

    The answer has one list of mentions for each text. If it is cancelled, the job is dropped. Texts are cut into
    sentences as it is their turn, since one text may have very many.
    """

    ready: Ready
    texts: Sequence[Any]
    min_score: MinScore = 0.0
    answer: "Future[list[list[Prediction]]]" = field(default_factory=Future)
    came: float = field(default_factory=time.monotonic)
    n_words: int = 0  # of the sentences that were taken
    is_over: bool = False  # whether all were

    def __post_init__(self) -> None:
        self._n_about = sum(len(text) // 5 + 1 if isinstance(text, str) else len(text) for text in self.texts)
        self._sentences = self._cut()
        self._taken: list[tuple[int, Document]] = []  # last: each as a document, with the number of its text
        self._found: list[list[Prediction]] = [[] for _ in self.texts]

    @property
    def size(self) -> int:
        """About how many words are left."""
        return max(1, self._n_about - self.n_words)

    def take(self, n_words: int) -> list[Sentence]:
        """Return the next sentences, until they have this number of words; at least one if any is left."""
        self._taken, most = [], self.n_words + n_words
        for number, document in self._sentences:
            self._taken.append((number, document))
            self.n_words += document.n_words
            if self.n_words >= most:
                break
        else:
            self.is_over = True
        return [document.sentences[0] for _, document in self._taken]

    def add(self, tagged: Iterator[Sentence]) -> None:
        """Take the sentences that were taken last with their mentions; after the last one, answer."""
        for number, document in self._taken:
            sentence = next(tagged)
            if spans := tuple(span for span in sentence.spans or () if is_sure(span, self.min_score)):
                self._found[number] += document.with_sentences([replace(sentence, spans=spans)]).predictions()
        if self.is_over:
            self.settle(self._found)

    def _cut(self) -> Iterator[tuple[int, Document]]:
        for number, text in enumerate(self.texts):
            try:
                yield from ((number, sentence) for sentence in Document.parts(text))
            except DataError as error:
                raise error.at(f"text {number} (from 0)") from None

    def settle(self, result: list[list[Prediction]] | Exception) -> None:
        """Answer, unless nobody waits any more."""
        if not self.answer.set_running_or_notify_cancel():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Batches:
    """A bounded queue of jobs, and the thread that does them.

    After each batch, `notice` is called with the number of its jobs and words, and its seconds. A job waits `wait`
    seconds for others to share its batch, if several came the last time.
    """

    def __init__(
        self,
        limits: Limits,
        notice: Callable[[int, int, float], None] | None = None,
        *,
        wait: float = 0.002,
        batch_words: int = BATCH_WORDS,
    ) -> None:
        self._limits = limits
        self._notice = notice
        self._wait, self._batch_words = wait, batch_words
        self._waiting: deque[Job] = deque()
        self._awake = threading.Condition()
        self._is_stopping = False
        self._n_last = 1  # how many jobs waited when the last batch began
        self._thread = threading.Thread(target=self._work, name="handful-serve", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, job: Job) -> None:
        """Put a job into the queue; its answer comes later."""
        with self._awake:
            if self._is_stopping:
                raise later(503, "the server is about to end")
            if len(self._waiting) >= self._limits.max_requests:
                raise later(429, "there is too much to do already")
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
            started = time.perf_counter()
            n_words = _do(batch, self._batch_words)
            if self._notice is not None:
                self._notice(len(batch), n_words, time.perf_counter() - started)
            with self._awake:
                self._waiting.extend(job for job in batch if not job.is_over and not job.answer.done())

    def _next(self) -> list[Job]:
        """Wait for jobs and return those of one batch; none where it is time to end."""
        with self._awake:
            while True:
                self._waiting = deque(job for job in self._waiting if not job.answer.cancelled())
                if self._waiting:
                    left = self._waiting[0].came + self._wait - time.monotonic()
                    is_enough = (
                        len(self._waiting) >= self._n_last
                        or sum(job.size for job in self._waiting) >= self._batch_words
                    )
                    if left <= 0 or self._is_stopping or is_enough:
                        break
                    self._awake.wait(left)
                elif self._is_stopping:
                    return []
                else:
                    self._awake.wait()
            self._n_last = len(self._waiting)
            model, n_words = self._waiting[0].ready[1], 0
            batch: list[Job] = []
            others: deque[Job] = deque()
            for job in self._waiting:
                if job.ready[1] is model and n_words < self._batch_words:
                    batch.append(job)
                    n_words += job.size
                else:
                    others.append(job)
            self._waiting = others
            return batch


def _do(batch: list[Job], most: int) -> int:
    """Go on with jobs of one model, answer those that are done, and return how many words were tagged."""
    n_words = 0
    parts: list[tuple[Job, list[Sentence]]] = []
    for job in batch:
        try:
            taken = job.take(most - n_words)
        except Exception as error:
            job.settle(error)
        else:
            parts.append((job, taken))
            n_words += sum(len(sentence.words) for sentence in taken)
    if parts:
        _tag(parts)
    return n_words


def _tag(parts: list[tuple[Job, list[Sentence]]]) -> None:
    """Tag sentences of jobs all at once; where one of them brings down all, each job by itself."""
    encoder, model, notice = parts[0][0].ready
    try:
        found = list(tag_sentences(encoder, model, [sentence for _, taken in parts for sentence in taken], notice))
    except Exception as error:
        if len(parts) == 1:
            parts[0][0].settle(error)
        else:
            for part in parts:
                _tag([part])
        return
    tagged = (words.sentence for words in found)
    for job, _ in parts:
        job.add(tagged)
