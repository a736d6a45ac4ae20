"""`Worker`: a thread that encodes, fits and predicts what a project has.

It does one small thing after the other, the one that a person waits for first. Results that requests read are replaced
as a whole when they are ready.
"""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import takewhile
from threading import Condition, Lock, Thread

from handful.encoders import CachedEncoder
from handful.encoders.cache import RememberingEncoder
from handful.encoders.opened import AnyEncoder, open_encoder
from handful.errors import Advice, FileError, HandfulError
from handful.tagger.finding import Find, odds_of
from handful.text import Sentence

from ._events import Events
from ._learner import Found, Learner
from ._mirror import DECIDED, Mirror
from ._quality import Quality, cross_validate, in_random_order
from ._queue import most_teaching
from ._store import Project

ENCODED_AT_ONCE, PREDICTED_AT_ONCE = 400, 2_000  # words, so that a new decision does not wait long
PREDICTED_FIRST = 500  # words of what is on a page, before it is told of a fit
RANKED = 60  # sentences in the queue
QUIET = 0.5  # seconds without a decision before what nobody waits for is done, so that no fit waits for it
TURN = 0.5  # seconds at most that other work has after a fit, if somebody has decided again by then
MOST_VISIBLE = 100  # sentences on pages, which are predicted first
FIRST_TEXT = 2_000  # words after which the first fit with text is made; then at twice as many


class Worker:
    """A thread beside a project; `Session` is what others ask."""

    def __init__(
        self, project: Project, encoder: AnyEncoder, *, most_words: int, threads: int | None, cache: bool
    ) -> None:
        self.mirror = Mirror(project)
        self.project = project
        self.events = Events()
        self.found: dict[int, Found] = {}
        self.status, self.progress, self.seconds = "encoding", 0.0, 0.0
        self.error: HandfulError | None = None
        self.find: Find = "usual"  # how much to find, which a person chooses on the page
        self.o_share: float | None = None
        self.number = self.ranked = 0  # of the last fit, and of the one that the queue is by
        self.version = 0  # of the labels that the last fit knows
        self.quality: Quality | None = None  # the last estimate
        self._ranking: list[int] = []
        self._in_random_order: list[int] = []
        self._candidates: list[int] = []  # sentences that the next fit predicts before it orders the queue
        self.encoder, self._threads, self._cache = encoder, threads, cache
        self._most_words = most_words
        self.learner: Learner | None = None  # the tagger and its features, once the encoder is loaded
        self.is_stopped = self._is_settled = False
        self._pool: list[int] = []  # the sentences that the tagger looks through, in the order of encoding
        self._n_encoded = self._n_words_encoded = self._n_fitted = 0
        self._next_fit = FIRST_TEXT
        self._visible: dict[int, None] = {}
        self._wanted, self._fitted, self._clustered, self._estimated = 0, -1, -1, -1
        self._turn_ends = 0.0  # until then other work comes before the next fit
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

    def _choose_pool(self) -> None:
        """Choose the sentences that the tagger looks through: new ones go behind those that are there still."""
        with self.mirror.lock, self._awake:
            entries = self.mirror.entries
            self._in_random_order = in_random_order((id, one.sentence) for id, one in entries.items())
            self._n_encoded = sum(id in entries for id in self._pool[: self._n_encoded])
            self._n_fitted = sum(id in entries for id in self._pool[: self._n_fitted])
            pool = [id for id in self._pool if id in entries]
            self.found = {id: one for id, one in self.found.items() if id in entries}
            chosen = set(pool)
            n_words = sum(len(entries[id].sentence.words) for id in chosen)
            for id in self._in_random_order:
                if id not in chosen:
                    n_words += len(entries[id].sentence.words)
                    if n_words > self._most_words and pool:
                        break
                    pool.append(id)
            self._pool = pool

    def _sample(self) -> set[int]:
        """Return the sentences of the sample that are decided: those in random order up to the first open one."""
        state = self.mirror.state
        reached = takewhile(lambda id: not self.mirror.is_open(id), self._in_random_order)
        return {id for id in reached if state(id)[1].status in DECIDED}

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
                elif step not in (self._estimate, self._fit_whole) or not self._awake.wait(QUIET):
                    return step
            return None

    def _next_step(self) -> Callable[[], object] | None:
        """Return what to do next, what a person waits for first; None if there is nothing.

        After a decision, a fit that keeps the clusters comes first, and the queue, for which the sentences near its top
        are predicted anew. The whole fit, the rest of the text and the whole queue follow when nothing is decided for a
        moment. If decisions are faster than fits, the queue is ordered after each fit by the predictions there are, and
        then other work has as long as the fit took (at most `TURN`), so that the text is read.
        """
        is_asked, is_whole = self._fitted < self._wanted, self._clustered == self._fitted
        if is_asked and self.ranked == self.number and time.perf_counter() >= self._turn_ends:
            return self._fit
        if not is_asked and (ids := self._to_predict(reversed(self._visible))):
            return lambda: self._predict(ids)
        read = self._pool[: self._n_encoded]
        if ids := self._to_predict(read if is_whole and not is_asked else self._candidates):
            return lambda: self._predict(ids)
        if self.ranked < self.number:
            return self._rank
        step = self._other_step() if is_whole or is_asked else self._fit_whole
        return self._fit if is_asked and step in (None, self._fit_whole, self._estimate) else step

    def _other_step(self) -> Callable[[], object] | None:
        """Return what to do next where the queue is ordered, and no fit is wanted or it has to wait."""
        since = 0 if self.learner is None else self.learner.since
        new = (id for id in self._pool[: self._n_encoded] if id not in self.found or self.found[id].fit < since)
        if self.learner is not None and self.learner.tagger is not None and (ids := self._first(new)):
            return lambda: self._predict(ids)
        if self._n_encoded < len(self._pool):
            return self._encode
        if self._n_fitted < self._n_encoded:
            return self._fit_whole
        if self._further and (ids := self._to_look_at()):
            return lambda: self._look(ids)
        if self._estimated < self._fitted:
            return self._estimate
        return None

    def _fit_whole(self) -> None:
        self._fit(keeps_clusters=False)

    def _fit(self, *, keeps_clusters: bool = True) -> None:
        assert self.learner is not None
        self.status = "fitting"
        started = time.perf_counter()
        with self.mirror.lock:
            wanted, version = self._wanted, self.mirror.version
            self.learner.setting, self.learner.overlap = self.find, self.mirror.overlap
            labels, types = self.mirror.labelled(), self.mirror.entity_types()
            text = self._sentences(self._pool[: self._n_encoded])
        if self._n_encoded < len(self._pool):  # the next fit with more text is when there is much more
            text = text[: self._n_fitted] if self._n_words_encoded < self._next_fit else text
        is_whole = True
        try:
            is_again = wanted == self._fitted
            is_whole = self.learner.fit(labels, text, types, keeps_clusters=keeps_clusters, is_again=is_again)
            self.error = None
        except HandfulError as error:
            self.error = error
            self.learner.tagger = None  # there is nothing to learn from any more
            self.found = {}
        if len(text) > self._n_fitted:
            self._n_fitted, self._next_fit = len(text), max(FIRST_TEXT, 2 * self._n_words_encoded)
        self._fitted = wanted
        self._clustered = wanted if is_whole else self._clustered
        self.number, self.seconds = self.learner.number, time.perf_counter() - started
        self.version = version
        with self._awake:
            ids = self._to_predict(reversed(self._visible), PREDICTED_FIRST)
        self._predict(ids, is_fit=True)

    def _to_predict(self, ids: Iterable[int], n_words: int = PREDICTED_AT_ONCE) -> list[int]:
        """Return the first sentences that the last fit has not predicted, until they have a number of words."""
        if self.learner is None or self.learner.tagger is None or self._fitted < 0:
            return []
        found, entries = self.found, self.mirror.entries
        missing = (id for id in ids if id in entries and (id not in found or found[id].fit != self.number))
        return self._first(missing, n_words)

    def _to_look_at(self) -> list[int]:
        """Return sentences that are looked through for a review, those first that no fit has predicted."""
        if self.learner is None or self.learner.tagger is None:
            return []
        found = self.found
        new = self._first((id for id in self.mirror.entries if id not in found), ENCODED_AT_ONCE)
        return new or self._first(id for id, one in found.items() if one.fit < self._further)

    def _first(self, ids: Iterable[int], n_words: int = PREDICTED_AT_ONCE) -> list[int]:
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
        learner, is_whole = self.learner, self._clustered == self._fitted
        assert learner is not None
        with self.mirror.lock:
            words = {id: one.words for id, one in self.found.items() if one.words is not None}
            now = {id: words[id] for id, one in self.found.items() if one.fit >= learner.since and id in words}
            is_open = {id: self.mirror.is_open(id) and not self.mirror.others(id) for id in words}
            labelled = [one for id, one in words.items() if self.mirror.state(id)[1].is_label and not is_open[id]]
            mentions = self.mirror.count_labels()
        if learner.tagger is not None:
            counts = [mentions.get(one.name, 0) for one in learner.tagger.types_]
            queue = most_teaching({id: one for id, one in now.items() if is_open[id]}, labelled, counts, RANKED)
            self._ranking, self._candidates = queue
        if is_whole:
            n_words = sum(len(one.tags) for one in now.values())
            n_inside = sum(int((one.tags > 0).sum()) for one in now.values())
            self.o_share = 1 - n_inside / n_words if n_words else None
        self.ranked = self.number
        if self._fitted < self._wanted:
            self._turn_ends = time.perf_counter() + min(self.seconds, TURN)
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
            mirror, drawn = self.mirror, self._sample()
            ids = [id for id in mirror.entries if mirror.state(id)[1].status in DECIDED]
            labelled = [mirror.state(id)[1].on(mirror.sentence(id)) for id in ids]
            types, n_text = mirror.entity_types(), len(mirror.entries)
        make, is_drawn = partial(self.learner.new, types), [id in drawn for id in ids]

        def is_wanted() -> bool:
            return self._fitted == self._wanted and not self.is_stopped

        quality = cross_validate(labelled, make, is_wanted, is_drawn=is_drawn, n_text=n_text)
        if quality is not None:
            decisions = self.project.n_decisions
            with suppress(FileError):  # a full disk is said where something is decided
                self.project.add_quality(decisions, *quality[:3])
            self.quality = quality
            self.events.add("quality", decisions=decisions, **quality._asdict())
        if self._fitted == self._wanted:
            self._estimated = wanted
