"""Domain transfer: methods are compared on corpora that the encoder never saw."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from handful._util.files import PathLike, check_into
from handful._util.progress import Progress
from handful.encoders import CachedEncoder, load
from handful.encoders.opened import AnyEncoder, check_encoder, open_encoder
from handful.errors import DataError, number_of

from ._board import MANY, make_board
from ._environment import environment
from ._methods import variants
from ._results import Results
from ._runs import Bench, OnRun
from ._targets import read_target
from ._tasks import Task, make_task
from .report import Report, write_report
from .settings import Settings


def transfer(
    targets: Sequence[PathLike],
    *,
    report: PathLike,
    encoder: AnyEncoder = "handful-en",
    settings: Settings | None = None,
    on_run: OnRun | None = None,
    progress: Progress = None,
) -> Report:
    """Compare methods on corpora that the encoder never saw.

    Parameters
    ----------
    targets : each is a folder, or ``NAME=`` and a folder, with train, dev (which may be missing) and test: files or
        folders of files with these words as a part of their names. Supports, if any, are in ``supports/1shot`` and so
        on; ``types.txt`` says what the types mean. When dev is scored on, a target may also be one labelled file.
    report : the folder to write. Runs that are finished there are not repeated.
    encoder : a name or path, as for `handful.encoders.load`; or an object with ``dim``, ``fingerprint`` and ``encode``
    settings : everything else; ``Settings()`` if None
    on_run : called before each run, with the number of runs done, the number of all runs, and what is run now
    progress : the progress of encoding, as for `handful.encoders.Encoder.encode`
    """
    settings = settings or Settings()
    check_into(report)  # this and the rest before anything is read
    name = encoder if isinstance(encoder, str | os.PathLike) else None
    if name is not None:
        check_encoder(name)
    chosen = variants(settings.methods, settings.o_ratios, settings.texts)
    tasks = _tasks(targets, settings)
    opened = open_encoder(encoder) if name is None else CachedEncoder(load(name, threads=settings.threads))
    bench = Bench(tasks, chosen, opened, settings.on, name)
    results = Results(Path(report))
    rows = bench.run(results, on_run, progress)
    if not rows:
        raise DataError("there is nothing to run: without labels, a method must read the names of types")
    names, shots = [task.name for task in tasks], list(dict.fromkeys(settings.shots))
    board = make_board(rows, bench.variants, shots, names)
    if not any(line.figures for line in board.lines):
        raise DataError(f"no run succeeded; the first failure: {rows[0]['error']}")
    notes = _notes(tasks) + board.notes
    made_with = environment(settings.command, asdict(settings) | {"targets": names})
    called = name or opened.name or type(encoder).__name__
    title = f"Domain transfer, scored on {settings.on}, {called}"
    written = Report(title, Path(report), board, rows, made_with, notes)
    write_report(written)
    return written


def _notes(tasks: Sequence[Task]) -> list[str]:
    """Return the notes of all tasks; with many tasks, those on too few mentions become one for each of the shots."""
    if len(tasks) <= MANY:
        return [note for task in tasks for note in task.notes]
    notes = [note for task in tasks for note in task.notes if note not in task.scarce.values()]
    for shots in sorted({n for task in tasks for n in task.scarce}):
        left_out = [task.name for task in tasks if shots in task.scarce]
        notes.append(
            f"{number_of(shots, 'shot')}: {len(left_out)} of {len(tasks)} targets have too few mentions and are not in "
            f"the mean: {', '.join(left_out)}"
        )
    return notes


def _tasks(given: Sequence[PathLike], settings: Settings) -> list[Task]:
    targets = [read_target(one) for one in given]
    names = [target.name for target in targets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"two targets are called {', '.join(twice)}; name them, as NAME=FOLDER")
    if not targets:
        raise DataError("no target is named; give a folder with train, dev and test files, or a labelled file")
    return [make_task(target, settings) for target in targets]
