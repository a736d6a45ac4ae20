"""`Session`: the live side of a project, for requests, which never wait for its worker."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from handful.encoders.opened import AnyEncoder
from handful.errors import DataError
from handful.tagger import Tagger

from ._people import People
from ._quality import EVERY
from ._store import Project
from ._why import reasons
from ._worker import Worker

EXAMPLES = 8  # of a type, beside its description


class Session(Worker):
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
        super().__init__(project, encoder, most_words=most_words, threads=threads, cache=cache)
        self.people = people
        if people is not None:
            people.tell = partial(self.events.add, "people")

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

    def why(self, id: int, start: int, end: int, name: str | None) -> dict[str, Any]:
        """Say why words of a sentence are found as a mention, or why they are not, by the last fit."""
        with self._at_work:  # between steps of the worker, which changes the tagger
            if self.learner is None or self.learner.tagger is None:
                raise DataError("there is no tagger yet that could say why; it comes with the first fit")
            return reasons(self.learner.tagger, self.mirror.entry(id).sentence, start, end, name)

    def teach(self, first: Iterable[int] = ()) -> Iterator[int]:
        """Yield the sentences whose labels would teach most, best first; those that are not ranked yet come last.

        Each `EVERY` times it is the next one of the sample that the quality is estimated by, whatever it teaches.
        """
        drawn = (id for id in self._in_random_order if self.mirror.is_open(id))
        n = sum(self.mirror.count_statuses()[status] for status in ("decided", "unsure", "skipped"))
        given = dict.fromkeys(first)
        yield from list(given)
        for id in dict.fromkeys([*self._ranking, *self._pool]):
            if n % EVERY == EVERY - 1 and (one := next((one for one in drawn if one not in given), None)) is not None:
                given[one] = None
                n += 1
                yield one
            if id not in given and self.mirror.is_open(id):
                given[id] = None
                n += 1
                yield id

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
            shares = self.mirror.overlap
        tagger = Tagger(
            types, encoder=self.encoder, find=self.find, overlap=shares, threads=self._threads, cache=self._cache
        )
        with self._at_work:
            return tagger.fit(labels or None, text or None, progress=False)
