"""The bars of ``handful bench``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._common import progress_of


@contextmanager
def watched(quiet: bool) -> "Iterator[dict[str, Any]]":
    """Yield the two ways to report progress: on a terminal, a bar of runs and a bar of encoded words."""
    if quiet or not sys.stderr.isatty():
        yield {"progress": progress_of(quiet)}
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    runs = bar.add_task("", total=None)
    words = bar.add_task("encoding", total=None, visible=False)

    def run(done: int, total: int, what: str) -> None:
        bar.update(runs, completed=done, total=total, description=what)
        bar.update(words, visible=False)

    def encode(done: int, total: int) -> None:
        bar.update(words, completed=done, total=total, visible=done < total)

    with bar:
        yield {"on_run": run, "progress": encode}
