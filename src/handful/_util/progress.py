"""The progress of long work: what a ``progress=`` argument may be, and a bar for it."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: A function that is called with the words (or rounds) done so far and those in all, 0 where that is not known.
ProgressCallback = Callable[[int, int], None]

#: The values of a ``progress=`` argument; see `reporting`.
Progress = bool | ProgressCallback | None

_PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def reporting(
    progress: Progress, total: int | None, what: str = "encoding", unit: str = "words", patience: float = _PATIENCE
) -> Iterator[ProgressCallback]:
    """Yield a function to call with the words done and the words in all, 0 where that is not known.

    With True, there is a bar on standard error; with False, nothing; with a function, that function is called. With
    None, there is a bar if standard error is a terminal, or in a notebook, and the work lasts longer than `patience`
    seconds. `total` is None where words are not counted before, and the function is called with an estimate. Units
    other than words, such as rounds, have no speed.
    """
    if callable(progress):
        yield progress
        return
    ipython = sys.modules.get("IPython")  # where nobody has imported it, this is no notebook
    in_notebook = ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None
    if not (sys.stderr.isatty() or in_notebook if progress is None else progress):
        yield lambda done, total: None
        return
    from tqdm.std import tqdm

    share = "{percentage:3.0f}% · {n:,}" if total is None else "{n:,}/{total:,}"
    speed = " · {rate_noinv_fmt}" if unit == "words" else ""
    known, unknown = f"{{desc}} {{bar}} {share} {unit}{speed} {{remaining}}", f"{{desc}} {{n:,}} {unit}{speed}"
    with tqdm(
        desc=what,
        total=total,
        unit=f" {unit}",
        delay=0 if progress else patience,
        leave=progress is True,
        bar_format=known if total else unknown,
        ncols=shutil.get_terminal_size().columns - 1,
        nrows=24,  # a terminal whose size is not known has a bar, too
    ) as bar:

        def update(done: int, total: int) -> None:
            bar.total, bar.bar_format = total or None, known if total else unknown
            bar.update(done - bar.n)

        yield update
        if bar.last_print_t >= bar.start_t + bar.delay:  # it is there: its last state is seen, too
            bar.refresh()
