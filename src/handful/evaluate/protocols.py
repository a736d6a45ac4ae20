"""The protocols: domain transfer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handful.baselines import Source
from handful.encoders import load
from handful.encoders.stored import StoredEncoder
from handful.errors import DataError
from handful.pretrain.corpora import read_corpora
from handful.tagger.encoder import WordEncoder

from .board import make_board
from .corpora import Corpus, PathLike, digest, read_corpus, read_supports
from .differences import differences
from .environment import environment
from .methods import variants
from .report import Report, write_report
from .results import Results, key_of
from .runs import Bench, Progress
from .tasks import Task, make_task

__all__ = ["METHODS", "RATIOS", "SHOTS", "transfer"]

METHODS = ("proto", "nnshot", "structshot", "regression", "hard", "soft", "handful")
RATIOS = ("none", "share", "over", "auto")
SHOTS = (1, 5)


def transfer(
    targets: Sequence[PathLike],
    *,
    report: PathLike,
    encoder: PathLike | WordEncoder = "handful-en",
    layers: int | Sequence[int] = -1,
    methods: Sequence[str] = METHODS,
    ratios: Sequence[str] = RATIOS,
    shots: Sequence[int] = SHOTS,
    sets: int = 10,
    seed: int = 0,
    supports: PathLike | None = None,
    source: Sequence[PathLike] = (),
    on: str = "test",
    most_words: int = 30_000,
    threads: int | None = None,
    command: str = "",
    progress: Progress | None = None,
    encoding: Any = None,
) -> Report:
    """Compare methods on corpora that the encoder never saw.

    Parameters
    ----------
    targets
        Folders; see `handful.evaluate.corpora.read_corpus`.
    report
        The folder to write. Rows that are finished there are not run again.
    encoder, layers, threads
        As for `handful.encoders.load`; or an object with ``dim``, ``fingerprint`` and ``encode``.
    methods, ratios
        See `handful.evaluate.methods.variants`.
    shots, sets, seed, on, most_words
        See `handful.evaluate.tasks.make_task`.
    supports
        A folder of supports, or, with several targets, of such folders named after them.
    source
        Labelled corpora that baselines may learn from; see `handful.pretrain.corpora.read_corpora`.
    command
        What to say in the report of how it was made.
    progress, encoding
        See `handful.evaluate.runs.Bench.run`.
    """
    _check(shots, sets, seed, on)
    if supports is not None and on == "dev":
        raise DataError("on='dev' draws its own supports, from one half of the dev file; leave supports out")
    chosen = variants(methods, ratios)
    tasks = _tasks(
        [read_corpus(target) for target in targets], supports, shots=shots, sets=sets, seed=seed, on=on,
        most_words=most_words,
    )  # fmt: skip
    opened = open_stored(encoder, layers, threads)
    learned = _source(source, opened)
    bench = Bench(
        "transfer", tasks, chosen, {task.name: opened for task in tasks}, on, {task.name: learned for task in tasks}
    )
    options = {
        "targets": [task.name for task in tasks], "methods": list(methods), "ratios": list(ratios),
        "shots": list(shots), "sets": sets, "seed": seed, "on": on, "most_words": most_words,
    }  # fmt: skip
    title = f"Domain transfer, scored on {on}, {_name(opened)}"
    return _run(bench, Path(report), title, shots, environment(command, options), seed, progress, encoding)


def _run(
    bench: Bench,
    folder: Path,
    title: str,
    shots: Sequence[int],
    made_with: dict[str, Any],
    seed: int,
    progress: Progress | None,
    encoding: Any,
) -> Report:
    results = Results(folder)
    rows = bench.run(results, progress, encoding)
    board = make_board(rows, bench.variants, list(dict.fromkeys(shots)), [task.name for task in bench.tasks])
    if not any(line.figures for line in board.lines):
        raise DataError(f"no run succeeded; the first failure: {rows[0]['error']}")
    notes = [note for task in bench.tasks for note in task.notes] + board.notes
    report = Report(title, folder, board, differences(board, seed), rows, made_with, notes=notes)
    write_report(report)
    return report


def _source(given: Sequence[PathLike], encoder: WordEncoder) -> tuple[Source | None, str]:
    """Read source corpora; return them, and a hash of them."""
    if not given:
        return None, ""
    corpora = [corpus.train for corpus in read_corpora(given)]
    return Source(corpora, encoder), key_of({str(i): digest(corpus) for i, corpus in enumerate(corpora)})


def _tasks(corpora: Sequence[Corpus], supports: PathLike | None, **options: Any) -> list[Task]:
    names = [corpus.name for corpus in corpora]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"two targets are called {', '.join(twice)}; name them, as NAME=FOLDER")
    if not corpora:
        raise DataError("no target is named; give a folder with train, dev and test files")
    given: Mapping[str, Any] = {}
    if supports is not None:
        place = Path(supports)
        given = {name: read_supports(place if len(names) == 1 else place / name) for name in names}
    return [make_task(corpus, supports=given.get(corpus.name), **options) for corpus in corpora]


def _check(shots: Sequence[int], sets: int, seed: int, on: str) -> None:
    if not shots or any(type(n) is not int or n < 1 for n in shots):
        raise DataError(f"shots is {list(shots)!r}, expected whole numbers of at least 1")
    for name, value, least in (("sets", sets, 1), ("seed", seed, 0)):
        if type(value) is not int or value < least:
            raise DataError(f"{name} is {value!r}, expected a whole number of at least {least}")
    if on not in ("test", "dev"):
        raise DataError(f"on is {on!r}, expected test or dev")


def open_stored(encoder: PathLike | WordEncoder, layers: int | Sequence[int], threads: int | None) -> WordEncoder:
    """Load an encoder that keeps features on disk; one that is an object is taken as it is."""
    if isinstance(encoder, PathLike):
        return StoredEncoder(load(encoder, layers=layers, threads=threads))
    return encoder


def _name(encoder: WordEncoder) -> str:
    return str(getattr(encoder, "name", "") or type(encoder).__name__)
