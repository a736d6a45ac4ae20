"""The progress of long work: what a ``progress=`` argument may be, and a bar for it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .notebook import in_notebook, notebook_bar

__all__ = ["Progress", "ProgressCallback", "reporting"]

#: A function that is called with the words (or rounds) done so far and those in all, 0 where that is not known.
ProgressCallback = Callable[[int, int], None]

#: What a ``progress=`` argument may be; see `reporting`.
Progress = bool | ProgressCallback | None

_PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def reporting(
    progress: Progress, total: int | None, what: str = "encoding", unit: str = "words", patience: float = _PATIENCE
) -> Iterator[ProgressCallback]:
    """Yield a function to call with the words done and the words in all, 0 where that is not known.

    Parameters
    ----------
    progress
        True, a bar on standard error, or in the notebook; False, nothing; None, a bar if standard error is a
        terminal, or in a notebook, and the work lasts longer than `patience`; a function, that function.
    total
        The words in all; None where they are not counted before, and what the function is called with is an estimate.
    what, unit
        What is done, and with what: "words", or "rounds" and the like, whose speed says nothing.
    patience
        Seconds before a bar appears that was not asked for; 0, it appears at once, before anything is reported.
    """
    if callable(progress):
        yield progress
        return
    is_notebook = in_notebook()
    if not (sys.stderr.isatty() or is_notebook if progress is None else progress):
        yield lambda done, total: None
        return
    if is_notebook:
        with notebook_bar(what, total, 0.0 if progress else patience, unit=unit, stays=progress is True) as report:
            yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, Task, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Words(ProgressColumn):
        """Words done, words in all or the share of them, words per second."""

        def render(self, task: Task) -> Text:
            speed = f" · {task.speed:,.0f} words/s" if task.speed and unit == "words" else ""
            share = f"{task.percentage:3.0f}% · " if total is None and task.total else ""
            of_all = "" if total is None else f"/{task.total:,.0f}"
            return Text(f"{share}{task.completed:,.0f}{of_all} {unit}{speed}")

    bar = Bar(
        what,
        BarColumn(),
        Words(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=progress is None,
    )
    task = bar.add_task(what, total=total)
    started = time.monotonic()
    is_shown = progress is True or not patience
    if is_shown:
        bar.start()

    def update(done: int, total: int) -> None:
        nonlocal is_shown
        bar.update(task, completed=done, total=total or None)
        if not is_shown and done != total and time.monotonic() - started > patience:
            bar.start()
            is_shown = True

    try:
        yield update
    finally:
        if is_shown:
            bar.stop()
