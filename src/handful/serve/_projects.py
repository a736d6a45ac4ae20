"""`Projects`: a tagger for each project of Label Studio, which one thread fits again as annotations come."""

import hashlib
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

from handful.tagger import Tagger
from handful.text import Allowed, EntityType, Sentence

from ._annotations import Annotations, Key
from ._batches import Ready, ready_of
from ._label_config import LabelConfig

__all__ = ["Projects", "Trained", "version_of"]


@dataclass(frozen=True)
class Trained:
    """What finds mentions for a project.

    Attributes
    ----------
    ready : the encoder and the model
    version : what Label Studio shall call it; another one whenever something was learned
    n_labelled : how many labelled texts of the project it has learned from
    """

    ready: Ready
    version: str
    n_labelled: int = 0


class Projects:
    """The taggers of projects, and the thread that fits them.

    Parameters
    ----------
    models : dict
        Taggers by name, from which projects start.
    annotations : Annotations
    report : function
        Called after each fit with the project, and what was learned or the error that there was.
    """

    def __init__(
        self,
        models: dict[str, Tagger],
        annotations: Annotations,
        report: Callable[[Key, Trained | Exception], None] | None = None,
    ) -> None:
        self.models = models
        self.annotations = annotations
        self._report = report
        self._base = {name: Trained(ready_of(tagger), version_of(name, tagger)) for name, tagger in models.items()}
        self._fits: dict[Key, _Fit] = {}
        self._now: dict[Key, tuple[tuple[EntityType, ...], Trained]] = {}
        self._asked: dict[Key, Future[None]] = {}
        self._awake = threading.Condition()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._work, name="handful-train", daemon=True)
        self._thread.start()

    def base(self, name: str) -> Trained:
        """Return a model as it was loaded."""
        return self._base[name]

    def current(self, key: Key, config: LabelConfig) -> Trained | None:
        """Return what finds mentions now; None where something must be learned first."""
        types, trained = self._now.get(key, (None, self._base[key[0]]))
        if types == config.types:
            return trained
        known = {one.name for one in self.models[key[0]].types_}
        is_new = any(one.name not in known for one in config.types) or self.annotations.count(key) > 0
        return None if is_new else self._base[key[0]]

    def train(self, key: Key) -> "Future[None]":
        """Ask for a fit with the annotations that there are; it is done when the result is."""
        with self._awake:
            done = self._asked.setdefault(key, Future())
            self._awake.notify()
        return done

    def stop(self) -> None:
        """End the thread, after the fit that it is at."""
        with self._awake:
            self._is_stopping = True
            self._awake.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._awake:
                while not self._asked and not self._is_stopping:
                    self._awake.wait()
                if self._is_stopping:
                    for done in self._asked.values():
                        done.cancel()
                    return
                key = next(iter(self._asked))
                done = self._asked.pop(key)
            self._fit(key)
            done.set_result(None)

    def _fit(self, key: Key) -> None:
        config = self.annotations.config(key)
        if config is None:
            return
        base = self._base[key[0]]
        trained: Trained | Exception
        try:
            sentences = self.annotations.sentences(key)
            fit = self._fits.setdefault(key, _Fit(self.models[key[0]]))
            trained = Trained(
                fit.fit(config.types, sentences), _version(key[0], base, config, sentences), len(sentences)
            )
        except Exception as error:  # what there was stays, and the next annotation is another chance
            trained = error
            self._now[key] = (config.types, self._now.get(key, (None, base))[1])
        else:
            self._now[key] = (config.types, trained)
        if self._report is not None:
            self._report(key, trained)


class _Fit:
    """A tagger for a project: what the model was fitted with, and the labels of the project."""

    def __init__(self, model: Tagger) -> None:
        self.model = model
        self._tagger: Tagger | None = None
        self._basis: tuple[tuple[EntityType, ...], frozenset[tuple[str, ...]]] = ((), frozenset())

    def fit(self, types: tuple[EntityType, ...], labelled: list[Sentence]) -> Ready:
        """Fit; where labels were only added, what is known of the other sentences is used again."""
        known = {one.name: one for one in self.model.types_}
        types = tuple(one if one.description else known.get(one.name, one) for one in types)
        names = {one.name for one in types}
        new = frozenset(names - known.keys())
        given = [_of_types(one, names, new) for one in self.model.support_]
        given += [_of_types(one, names, frozenset()) for one in labelled]
        words = frozenset(one.words for one in given)
        if self._tagger is not None and self._basis[0] == types and words >= self._basis[1]:
            self._tagger.relabel(given)
        else:
            model = self.model
            self._tagger = Tagger(
                model.encoder_,
                types=types,
                names=model.names,
                method=model.method,
                o_ratio=model.o_ratio,
                clusters=model.clusters,
                cache=False,
            ).fit(given or None, progress=False)
        self._basis = (types, words)
        return ready_of(self._tagger)


def _of_types(sentence: Sentence, names: set[str], new: frozenset[str]) -> Sentence:
    """Return a labelled sentence with labels of these types alone.

    A word in no mention may be of one of the new types, which nobody looked for.
    """
    spans = tuple(one for one in sentence.spans or () if one.type in names)
    if not new:
        return replace(sentence, spans=spans)
    open_ = Allowed(new | {"O"})
    entries: list[Allowed | None] = [one | open_ if one else open_ for one in sentence.allowed or _none(sentence)]
    for span in spans:
        entries[span.start : span.end] = [None] * (span.end - span.start)
    return replace(sentence, spans=spans, allowed=tuple(entries))


def _none(sentence: Sentence) -> list[None]:
    return [None] * len(sentence.words)


def version_of(name: str, tagger: Tagger) -> str:
    """Return what Label Studio shall call a model: another name whenever the model is another one."""
    what = [tagger.summary_.to_dict(), [(one.name, one.description) for one in tagger.types_]]
    return f"{name}-{_digest(what, tagger.encoder_.fingerprint)}"


def _version(name: str, base: Trained, config: LabelConfig, sentences: list[Sentence]) -> str:
    types = [(one.name, one.description) for one in config.types]
    return f"{name}-{_digest(base.version, types, [repr((one.words, one.spans, one.allowed)) for one in sentences])}"


def _digest(*values: object) -> str:
    text = json.dumps(values, default=str, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
