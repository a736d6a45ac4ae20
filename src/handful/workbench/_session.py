"""`Session`: the live side of a project. One worker thread encodes, fits and predicts; requests never wait for it.

The worker does one small thing after the other, the one that a person waits for first: fit if labels changed, predict
the sentences on the page, encode more text, predict the rest, estimate the quality. Results that requests read are
replaced as a whole when they are ready.
"""

import gc
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from threading import Condition, Lock, Thread
from typing import Any

from handful.encoders import CachedEncoder
from handful.encoders.cache import RememberingEncoder
from handful.encoders.opened import AnyEncoder, open_encoder
from handful.errors import Advice, DataError, FileError, HandfulError
from handful.tagger import Tagger
from handful.tagger.finding import Find, odds_of
from handful.text import Sentence

from ._agreement import compare
from ._events import Events
from ._learner import Found, Learner
from ._mirror import Mirror
from ._people import People
from ._quality import cross_validate
from ._queue import most_teaching
from ._store import Project
from ._why import reasons

ENCODED_AT_ONCE, PREDICTED_AT_ONCE = 400, 2_000  # words, so that a new decision does not wait long
RANKED = 60  # sentences in the queue
QUIET = 0.5  # seconds without a decision before the quality is estimated, so that no fit waits for it
MOST_VISIBLE = 100  # sentences on pages, which are predicted first
EXAMPLES = 8  # of a type, beside its description
FIRST_TEXT = 2_000  # words after which the first fit with text is made; then at twice as many


class Session:
    """A project with a tagger that follows its labels.

    Parameters
    ----------
    project : it is not closed by the session
    encoder : as for `Tagger`
    most_words : how many words of text the tagger learns from, and looks through for the queue. Of a larger corpus it
        takes sentences at random.
    threads, cache : as for `Tagger`
    people : those who work on it at once; None, it is one
    """

    def __init__(
        self,
        project: Project,
        encoder: AnyEncoder = "handful-en",
        *,
        most_words: int = 50_000,
        threads: int | None = None,
        cache: bool = True,
        people: People | None = None,
    ) -> None:
        self.mirror = Mirror(project)
        self.project = project
        self.people = people
        self.events = Events()
        self.found: dict[int, Found] = {}
        self.status, self.progress, self.seconds = "encoding", 0.0, 0.0
        self.error: HandfulError | None = None
        self.find: Find = "usual"  # how much to find, which a person chooses on the page
        self.o_share: float | None = None
        self.number = self.ranked = 0  # of the last fit, and of the one that the queue is by
        self.version = 0  # of the labels that the last fit knows
        self._ranking: list[int] = []
        self._agreed: tuple[int, list[dict[str, Any]]] = 0, []
        self.encoder, self._threads, self._cache = encoder, threads, cache
        self._most_words = most_words
        self.learner: Learner | None = None  # the tagger and its features, once the encoder is loaded
        self.is_stopped = self._is_settled = False
        self._pool: list[int] = []  # the sentences that the tagger looks through, in the order of encoding
        self._n_encoded = self._n_words_encoded = self._n_fitted = 0
        self._next_fit = FIRST_TEXT
        self._visible: dict[int, None] = {}
        self._wanted, self._fitted, self._estimated = 0, -1, -1
        self._further = 0  # the fit by which all text is looked through, also what the tagger does not learn from
        self._awake, self._at_work = Condition(), Lock()
        self._thread = Thread(target=self._work, name="workbench", daemon=True)
        self._choose_pool()

    def stop(self) -> None:
        """Stop the worker after what it is doing; decisions are on the disk already."""
        with self._awake:
            self.is_stopped = True
            self._awake.notify_all()
        self.events.add("stop")
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> "Session":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def follow(self) -> None:
        """Take over new decisions from the project, tell those who listen, and wake the worker."""
        with self.mirror.lock:
            sentences, has_types, has_texts = self.mirror.follow()
            version = self.mirror.version
        if has_types or has_texts or sentences:
            self._wake()
        if has_texts:
            with self._at_work:  # between steps of the worker, which counts what it has read
                self._choose_pool()
            self.events.add("texts", version=version)
        if has_types:
            self.events.add("types", version=version)
        if sentences:
            self.events.add("labels", version=version, sentences=sentences[:1_000])

    @contextmanager
    def present(self, person: str | None) -> Iterator[None]:
        """Tell the others that one of several people is there, until the end of the block."""
        if person is None or self.people is None:
            yield
            return
        try:
            with self.people.here(person):
                self.events.add("people")
                yield
        finally:
            self.events.add("people")

    def set_find(self, find: Find) -> None:
        """Choose how much to find; what was found is looked for again."""
        odds_of(find)
        self.find = find
        self._wake()

    def look_at(self, ids: Sequence[int]) -> None:
        """Say which sentences are on a page: they are predicted first."""
        with self._awake:
            for id in ids:
                self._visible.pop(id, None)
                self._visible[id] = None
            while len(self._visible) > MOST_VISIBLE:
                del self._visible[next(iter(self._visible))]
            self._awake.notify_all()

    def look_further(self) -> None:
        """Look through all text by the present fit, also what the tagger does not learn from; a review is about all."""
        with self._awake:
            self._further = max(1, self.number if self._cache else 1)  # features that are not kept are read once
            self._awake.notify_all()

    def teach(self, first: Iterable[int] = ()) -> Iterator[int]:
        """Yield the sentences whose labels would teach most, best first; those that are not ranked yet come last."""
        yield from dict.fromkeys([*first, *self._ranking, *self._pool])

    def agreement(self) -> list[dict[str, Any]]:
        """Return how far each two people agree who answered the same sentences."""
        with self.mirror.lock:
            if self._agreed[0] != self.mirror.answered:
                given = {id: {who: state for who, (_, state) in one.items()} for id, one in self.mirror.answers.items()}
                found = compare(given, lambda id: len(self.mirror.sentence(id).words))
                self._agreed = self.mirror.answered, [asdict(one) for one in found]
            return self._agreed[1]

    def why(self, id: int, start: int, end: int, name: str | None) -> dict[str, Any]:
        """Say why words of a sentence are found as a mention, or why they are not, by the last fit."""
        with self._at_work:  # between steps of the worker, which changes the tagger
            if self.learner is None or self.learner.tagger is None:
                raise DataError("there is no tagger yet that could say why; it comes with the first fit")
            return reasons(self.learner.tagger, self.mirror.entry(id).sentence, start, end, name)

    def check(self, name: str, description: str) -> dict[str, Any]:
        """Return labelled mentions of a type, the most frequent first, and how many words another description finds."""
        with self.mirror.lock:
            types = [
                replace(one, description=description) if one.name == name else one for one in self.mirror.entity_types()
            ]
            labels = self.mirror.labelled()
        spoken = Counter(one.span_text(span) for one in labels for span in one.spans or () if span.type == name)
        found = None
        with self._at_work:
            if self.learner is not None and spoken:
                summary = self.learner.new(tuple(types)).fit(labels, progress=False).summary_
                found = summary.guidelines.get(name)
        return {"examples": spoken.most_common(EXAMPLES), "guideline": None if found is None else asdict(found)}

    def export_tagger(self) -> Tagger:
        """Return a tagger of its own, fitted on the labels and the text there are now, between steps of the worker."""
        with self.mirror.lock:
            labels, types = self.mirror.labelled(), self.mirror.entity_types()
            text = self._sentences(self._pool)
        tagger = Tagger(types, encoder=self.encoder, find=self.find, threads=self._threads, cache=self._cache)
        with self._at_work:
            return tagger.fit(labels or None, text or None, progress=False)

    def _choose_pool(self) -> None:
        """Choose the sentences that the tagger looks through: new ones go behind those that are there still."""
        with self.mirror.lock, self._awake:
            entries = self.mirror.entries
            self._n_encoded = sum(id in entries for id in self._pool[: self._n_encoded])
            self._n_fitted = sum(id in entries for id in self._pool[: self._n_fitted])
            self._pool = [id for id in self._pool if id in entries]
            self.found = {id: one for id, one in self.found.items() if id in entries}
            chosen = set(self._pool)
            n_words = sum(len(entries[id].sentence.words) for id in chosen)
            rest = [id for id in entries if id not in chosen]
            random.Random(0).shuffle(rest)
            new: list[int] = []
            for id in rest:
                n_words += len(entries[id].sentence.words)
                if n_words > self._most_words and (chosen or new):
                    break
                new.append(id)
            self._pool = [*self._pool, *new]

    def _wake(self) -> None:
        with self._awake:
            self._wanted += 1
            self._awake.notify_all()

    def _work(self) -> None:
        try:
            opened = open_encoder(self.encoder, threads=self._threads)
            self.learner = Learner(RememberingEncoder(CachedEncoder(opened) if self._cache else opened))
        except HandfulError as error:
            self.error = error
            self.events.add("fit", fit=0, seconds=0.0, sentences=[], changed=0)
            return
        try:
            while (step := self._wait()) is not None:
                with self._at_work:
                    step()
        except Exception as error:  # a fault of ours: say it, and keep what people decide
            self.status = "stopped"
            what = f"the tagger has stopped by a fault ({type(error).__name__}: {error}); decisions are still stored"
            self.error = HandfulError(what, Advice("start again", "stop handful label, and start it again"))
            self.events.add("fit", fit=self.number, seconds=0.0, sentences=[], changed=0)
            raise

    def _wait(self) -> Callable[[], object] | None:
        """Wait for something to do; None where the session is stopped."""
        with self._awake:
            while not self.is_stopped:
                step = self._next_step()
                self.status = "idle" if step in (None, self._estimate) else self.status
                if step is None:
                    if not self._is_settled:
                        gc.freeze()  # collections of garbage, for which requests wait, look at later things alone
                        self._is_settled = True
                    self._awake.wait()
                elif step != self._estimate or not self._awake.wait(QUIET):
                    return step
            return None

    def _next_step(self) -> Callable[[], object] | None:
        """Return what to do next, what a person waits for first; None if there is nothing."""
        if self._fitted < self._wanted:
            return self._fit
        if ids := self._to_predict(reversed(self._visible)):
            return lambda: self._predict(ids)
        if ids := self._to_predict(islice(self._pool, self._n_encoded)):
            return lambda: self._predict(ids)
        if self.ranked < self.number:
            return self._rank
        if self._n_encoded < len(self._pool):
            return self._encode
        if self._n_fitted < self._n_encoded:
            return self._fit
        if self._further and (ids := self._to_look_at()):
            return lambda: self._look(ids)
        if self._estimated < self._fitted:
            return self._estimate
        return None

    def _fit(self) -> None:
        assert self.learner is not None
        self.status = "fitting"
        started = time.perf_counter()
        with self.mirror.lock:
            wanted, version = self._wanted, self.mirror.version
            self.learner.setting = self.find
            labels, types = self.mirror.labelled(), self.mirror.entity_types()
            text = self._sentences(self._pool[: self._n_encoded])
        if self._n_encoded < len(self._pool):  # the next fit with more text is when there is much more
            text = text[: self._n_fitted] if self._n_words_encoded < self._next_fit else text
        try:
            self.learner.fit(labels, text, types)
            self.error = None
        except HandfulError as error:
            self.error = error
            self.learner.tagger = None  # there is nothing to learn from any more
            self.found = {}
        if len(text) > self._n_fitted:
            self._n_fitted, self._next_fit = len(text), max(FIRST_TEXT, 2 * self._n_words_encoded)
        self._fitted = wanted
        self.number, self.seconds = self.learner.number, time.perf_counter() - started
        self.version = version
        with self._awake:
            ids = self._to_predict(reversed(self._visible))
        self._predict(ids, is_fit=True)

    def _to_predict(self, ids: Iterable[int]) -> list[int]:
        """Return the sentences that the last fit has not predicted, as many as are predicted at once."""
        if self.learner is None or self.learner.tagger is None or self._fitted < 0:
            return []
        found, entries = self.found, self.mirror.entries
        missing = (id for id in ids if id in entries and (id not in found or found[id].fit != self.number))
        return self._first(missing, PREDICTED_AT_ONCE)

    def _to_look_at(self) -> list[int]:
        """Return sentences that are looked through for a review, those first that no fit has predicted."""
        if self.learner is None or self.learner.tagger is None:
            return []
        found = self.found
        new = self._first((id for id in self.mirror.entries if id not in found), ENCODED_AT_ONCE)
        return new or self._first((id for id, one in found.items() if one.fit < self._further), PREDICTED_AT_ONCE)

    def _first(self, ids: Iterable[int], n_words: int) -> list[int]:
        """Return the first sentences, until they have a number of words."""
        chosen = []
        for id in ids:
            chosen.append(id)
            n_words -= len(self.mirror.sentence(id).words)
            if n_words <= 0:
                break
        return chosen

    def _sentences(self, ids: Iterable[int]) -> list[Sentence]:
        return [self.mirror.sentence(id) for id in ids]

    def _predict(self, ids: Sequence[int], *, is_fit: bool = False) -> None:
        assert self.learner is not None
        new = self._find(ids)
        changed = sum(one.before is not None and one.before != one.spans for one in new.values())
        shown = [id for id in ids if id in self._visible]
        if is_fit or shown:
            details = {"version": self.version, "seconds": round(self.seconds, 3)}
            self.events.add("fit", fit=self.number, **details, sentences=shown, changed=changed)

    def _find(self, ids: Iterable[int], *, remembers: bool = True) -> dict[int, Found]:
        assert self.learner is not None
        old = self.found
        new = self.learner.find(((id, self.mirror.sentence(id), old.get(id)) for id in ids), remembers=remembers)
        self.found = {**old, **new}
        return new

    def _look(self, ids: Sequence[int]) -> None:
        self.status = "looking"
        self._find(ids, remembers=False)
        self.events.add("looked", looked=len(self.found), sentences=len(self.mirror.entries))

    def _rank(self) -> None:
        """Find the sentences that teach most by the last fit, and the share of words that are in no mention."""
        with self.mirror.lock:
            now = {id: one.words for id, one in self.found.items() if one.fit == self.number}
            found = {id: words for id, words in now.items() if words is not None}
            is_label = {id: self.mirror.state(id)[1].is_label for id in found}
            is_open = {id: self.mirror.is_open(id) and not self.mirror.others(id) for id in found}
            mentions = self.mirror.count_labels()
        learner = self.learner
        if learner is not None and learner.tagger is not None:
            counts = [mentions.get(one.name, 0) for one in learner.tagger.types_]
            candidates = {id: words for id, words in found.items() if is_open[id]}
            labelled = [words for id, words in found.items() if is_label[id] and not is_open[id]]
            self._ranking = most_teaching(candidates, labelled, counts, RANKED)
        n_words = sum(len(words.tags) for words in found.values())
        n_inside = sum(int((words.tags > 0).sum()) for words in found.values())
        self.o_share = 1 - n_inside / n_words if n_words else None
        self.ranked = self.number
        self.events.add("queue", fit=self.ranked)

    def _encode(self) -> None:
        assert self.learner is not None
        self.status = "encoding"
        batch = self._sentences(self._first(self._pool[self._n_encoded :], ENCODED_AT_ONCE))
        self.learner.encoder.encode(batch)
        self._n_encoded += len(batch)
        self._n_words_encoded += sum(len(sentence.words) for sentence in batch)
        self.progress = self._n_encoded / len(self._pool)
        self.events.add("encode", progress=round(self.progress, 4))
        if self._n_words_encoded >= self._next_fit:
            with self._awake:
                self._wanted += 1

    def _estimate(self) -> None:
        assert self.learner is not None
        wanted = self._fitted
        with self.mirror.lock:
            labelled = [one for one in self.mirror.labelled() if one.is_labelled]
            types = self.mirror.entity_types()
        make = partial(self.learner.new, types)
        quality = cross_validate(labelled, make, lambda: self._fitted == self._wanted and not self.is_stopped)
        if quality is not None:
            decisions = self.project.n_decisions
            with suppress(FileError):  # a full disk is said where something is decided
                self.project.add_quality(decisions, *quality)
            self.events.add("quality", decisions=decisions, **quality._asdict())
        if self._fitted == self._wanted:
            self._estimated = wanted
