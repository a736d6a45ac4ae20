"""Running every task, support and variant; each row is kept as soon as it is finished."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import handful
from handful._util.files import PathLike
from handful._util.progress import Progress
from handful.encoders import Encoder
from handful.encoders.cache import RememberingEncoder
from handful.errors import HandfulError, HandfulWarning
from handful.evaluate import score
from handful.text import Sentence

from ._environment import code_digest
from ._methods import NAMES, ComparedMethod, Variant, fit_figures, make_method, own_digest, takes_types
from ._results import Results, Row, key_of
from ._tasks import NO_LABELS, Support, Task

SCORES = ("f1", "precision", "recall", "n_gold", "n_predicted", "n_correct")  # of all types together

#: Called before each run, with the number of runs done, the number of all runs, and what is run now.
OnRun = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Cell:
    """One run: a method on a support of a task."""

    task: Task
    support: Support
    variant: Variant
    identity: Row = field(repr=False)

    @property
    def key(self) -> str:
        return key_of(self.identity)


@dataclass(frozen=True)
class Bench:
    """A comparison to run."""

    tasks: Sequence[Task]  # the targets
    variants: Sequence[Variant]  # what is compared
    encoder: Encoder  # gives features; it may cache them on disk
    on: str  # test or dev
    folder: PathLike | None  # the name or path of the encoder, where it has one

    def cells(self) -> Iterator[Cell]:
        code = code_digest()
        own = {variant.method: own_digest(variant.method) for variant in self.variants}
        encoder, transitions = self.encoder, self.encoder.transitions
        for task in self.tasks:
            for support, variant in self._pairs(task):
                has_types = takes_types(variant.method)
                identity = {
                    "on": self.on,
                    "target": task.name,
                    "shots": support.shots,
                    "support": support.name,
                    "method": variant.method,
                    "o_ratio": variant.o_ratio,
                    "o_ratio_given": task.o_ratio(variant.o_ratio),
                    "text": variant.text,
                    "encoder": encoder.name,
                    "fingerprint": encoder.fingerprint,
                    "transitions": transitions and transitions.to_dict(),
                    "types": [[one.name, one.description] for one in task.types] if has_types else None,
                    "names": has_types and encoder.has_names,
                    "support_origin": support.origin,
                    "sha256": {"support": support.digest, **task.digests},
                    "handful": handful.__version__,
                    "code": code,
                    "own_code": own[variant.method],
                }
                yield Cell(task, support, variant, identity)

    def _pairs(self, task: Task) -> Iterator[tuple[Support, Variant]]:
        """Yield what is run on a task: without labels only what reads names, and names alone only without labels."""
        supports = [one for some in task.supports.values() for one in some]
        if NO_LABELS not in supports and any(variant.method == NAMES for variant in self.variants):
            supports.insert(0, NO_LABELS)
        for support in supports:
            for variant in self.variants:
                if support.shots == 0:
                    is_run = variant.method == NAMES or (0 in task.supports and takes_types(variant.method))
                else:
                    is_run = variant.method != NAMES
                if is_run:
                    yield support, variant

    def run(self, results: Results, on_run: OnRun | None = None, progress: Progress = None) -> list[Row]:
        """Run what is not finished yet; return all rows, in order. Finished rows are kept in `results`."""
        for task in self.tasks[:1]:  # a method that cannot be made is an error before any run, not in each of them
            for variant in self.variants:
                self._make(task, variant, self.encoder, None)
        cells = list(self.cells())
        keys = [cell.key for cell in cells]
        n_done = sum(key in results.rows for key in keys)
        for task in self.tasks:
            left = [cell for cell in cells if cell.task is task and cell.key not in results.rows]
            if not left:
                continue
            encoder = encoded(task, self.encoder, progress)
            texts = {which: task.text(which) for which in {cell.variant.text for cell in left}}
            for cell in left:
                if on_run is not None:
                    on_run(n_done, len(cells), f"{task.name}, {cell.support.shots}-shot, {cell.variant.method}")
                make = partial(self._make, task, cell.variant, encoder, cell.identity["o_ratio_given"])
                results.add(_run(cell, make, texts[cell.variant.text]))
                n_done += 1
            del encoder
        if on_run is not None:
            on_run(n_done, len(cells), "")
        return results.keep(keys)

    def _make(self, task: Task, variant: Variant, encoder: Encoder, o_ratio: float | str | None) -> ComparedMethod:
        return make_method(variant, encoder, o_ratio, self.folder, task.types)


def encoded(task: Task, encoder: Encoder, progress: Progress = None) -> RememberingEncoder:
    """Encode everything that a task needs, once."""
    text = task.pool + task.other
    known = {sentence.words for sentence in text}
    added = {
        sentence.words: sentence
        for supports in task.supports.values()
        for support in supports
        for sentence in support.sentences
        if sentence.words not in known
    }
    remembering = RememberingEncoder(encoder)
    for part in (text, task.scored, list(added.values())):
        remembering.remember(part, progress)
    return remembering


def _run(cell: Cell, make: Callable[[], ComparedMethod], text: list[Sentence] | None) -> Row:
    """Fit and score; where a method refuses, the row has an error."""
    task = cell.task
    row: Row = {"key": cell.key, **cell.identity}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HandfulWarning)
        started = time.perf_counter()
        try:
            method = make()
            method.fit(cell.support.sentences or None, text)
            fitted = time.perf_counter()
            found = method.predict_sentences([sentence.without_labels() for sentence in task.scored])
            finished = time.perf_counter()
        except HandfulError as error:
            return row | {"error": str(error), "f1": None}
    scores = score(task.scored, found)
    row |= {"error": None} | {name: getattr(scores.micro, name) for name in SCORES}
    row |= {"by_type": {name: one.f1 for name, one in scores.by_type.items()}} | fit_figures(method)
    row["warnings"] = sorted({str(warning.message) for warning in caught})
    row["seconds_fit"], row["seconds_predict"] = round(fitted - started, 3), round(finished - fitted, 3)
    return row
