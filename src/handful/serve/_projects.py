"""`Projects`: a tagger for each project of Label Studio, which one thread fits again as annotations come."""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

from handful.tagger import Tagger
from handful.text import EntityType, Sentence
from handful.text.type_choice import TypeChoice
from handful.text.types import completed
from handful.web import Limits
from handful.web.http import later

from ._annotations import Annotations, Key
from ._batches import Ready, ready_of
from ._label_config import LabelConfig


@dataclass(frozen=True)
class Trained:
    """A model for a project."""

    ready: Ready
    version: str  # its name in Label Studio: another one whenever something was learned
    n_labelled: int = 0  # labelled texts of the project that it has learned from


class Projects:
    """The taggers of projects, and the thread that fits them.

    A project starts from a model, its `base`. After each fit, `report` is called with the project, and the new model or
    the error.
    """

    def __init__(
        self,
        models: dict[str, Tagger],
        annotations: Annotations,
        limits: Limits,
        report: Callable[[Key, Trained | Exception], None],
    ) -> None:
        self.models = models
        self.annotations = annotations
        self.limits = limits
        self._report = report
        self.base = {}
        for name, tagger in models.items():
            types = [(one.name, one.description) for one in tagger.types_]
            version = _version(name, [tagger.summary_.to_dict(), types], tagger.encoder_.fingerprint)
            self.base[name] = Trained(ready_of(tagger), version)
        self._now: dict[Key, _Project] = {}  # the one that was asked least recently comes first
        self._asked: dict[Key, Future[None]] = {}
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, "handful-train")

    def current(self, key: Key, config: LabelConfig) -> Trained | None:
        """Return the model of a project as it is now; None where something must be learned first."""
        with self._lock:
            if key in self._now:
                self._now[key] = now = self._now.pop(key)
                if now.types == config.types:
                    return now.trained
        known = {one.name for one in self.models[key[0]].types_}
        is_new = any(one.name not in known for one in config.types) or self.annotations.count(key) > 0
        return None if is_new else self.base[key[0]]

    def train(self, key: Key) -> "Future[None]":
        """Ask for a fit with the annotations that there are; it is done when the result is."""
        with self._lock:
            if key not in self._asked:
                if len(self._asked) >= self.limits.max_requests:
                    raise later(429, "there is too much to do already")
                self._asked[key] = self._thread.submit(self._fit, key)
            return self._asked[key]

    def stop(self) -> None:
        """End the thread, after the fit that it is at."""
        self._thread.shutdown(cancel_futures=True)

    def _fit(self, key: Key) -> None:
        base = self.base[key[0]]
        with self._lock:
            del self._asked[key]
            project = self._now.get(key) or _Project(self.models[key[0]], base)
        types = project.types
        result: Trained | Exception
        try:
            config = self.annotations.config(key)
            assert config is not None, "it is stored before a fit is asked for"
            types = config.types
            sentences = self.annotations.sentences(key)
            said = [repr((one.words, one.spans, one.allowed)) for one in sentences]
            version = _version(key[0], base.version, [(one.name, one.description) for one in types], said)
            result = project.trained = Trained(project.fit(types, sentences), version, len(sentences))
        except Exception as error:  # the model from before stays, and the next annotation is another chance
            result = error
        with self._lock:
            project.types = types
            self._now.pop(key, None)
            self._now[key] = project
            while len(self._now) > self.limits.max_projects:
                del self._now[next(iter(self._now))]
        self._report(key, result)


class _Project:
    """A tagger for a project, fitted on the support of the model and the labels of the project.

    `types` are those of the last fit, whether or not it went well; `trained` is the result of the last one that did.
    """

    def __init__(self, model: Tagger, base: Trained) -> None:
        self.model = model
        self.types: tuple[EntityType, ...] | None = None
        self.trained = base
        self._tagger: Tagger | None = None
        self._basis: tuple[tuple[EntityType, ...], frozenset[tuple[str, ...]]] = ((), frozenset())

    def fit(self, types: tuple[EntityType, ...], labelled: list[Sentence]) -> Ready:
        """Fit; where labels were only added, the features of the other sentences are used again."""
        known = {one.name: one for one in self.model.types_}
        types = completed(types, [known[one.name] for one in types if one.name in known])
        names = [one.name for one in types]
        chosen = TypeChoice(names)
        given = [chosen.sentence(one) for one in self.model.support_]
        given += [chosen.sentence(one).judged_for(names) for one in labelled]
        words = frozenset(one.words for one in given)
        if self._tagger is not None and self._basis[0] == types and words >= self._basis[1]:
            self._tagger.relabel(given)
        else:
            own = {"encoder": self.model.encoder_, "types": types, "cache": False}
            self._tagger = Tagger(**self.model.get_params() | own).fit(given or None, progress=False)
        self._basis = (types, words)
        return ready_of(self._tagger)


def _version(name: str, *values: object) -> str:
    """Return the name of a model in Label Studio: another name whenever something that it depends on is another."""
    text = json.dumps(values, default=str, sort_keys=True)
    return f"{name}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
