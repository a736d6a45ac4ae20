"""A bar in a Jupyter notebook: HTML that is shown once and then changed in its place; nothing need be installed."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

__all__ = ["in_notebook", "notebook_bar"]

_PAUSE = 0.2  # seconds between two changes


def in_notebook() -> bool:
    """Whether this runs in a kernel of Jupyter. Where nobody has imported IPython, it is not imported either."""
    found = sys.modules.get("IPython")
    return found is not None and getattr(found.get_ipython(), "kernel", None) is not None


@contextmanager
def notebook_bar(
    what: str, total: int | None, patience: float, *, unit: str, stays: bool
) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the words done and the words in all, as `reporting` does.

    Parameters
    ----------
    what, unit
        What is done, and with what: "words", or something whose speed says nothing.
    total
        The words in all; None where the function is called with an estimate.
    patience
        Seconds before the bar appears.
    stays
        Whether the bar is still there at the end.
    """
    import IPython.display

    page: Any = IPython.display
    started = time.monotonic()
    handle: Any = None
    shown, last = 0.0, (0, total or 0)

    def draw(*, is_due: bool = False) -> None:
        nonlocal handle, shown
        now = time.monotonic()
        if not is_due and now - max(shown, started + patience - _PAUSE) < _PAUSE:
            return
        shown, bar = now, page.HTML(_html(what, *last, unit, now - started, is_estimate=total is None))
        if handle is None:
            handle = page.display(bar, display_id=True)
        else:
            handle.update(bar)

    def report(done: int, total: int) -> None:
        nonlocal last
        last = (done, total)
        draw()

    if not patience:
        draw(is_due=True)
    try:
        yield report
    finally:
        if handle is not None:
            if stays:
                draw(is_due=True)
            else:
                handle.update(page.HTML(""))


def _html(what: str, done: int, total: int, unit: str, seconds: float, *, is_estimate: bool) -> str:
    share = f"{100 * done / total:.0f} % · " if total and is_estimate else ""
    of_all = f"/{total:,}" if total and not is_estimate else ""
    speed = f" · {done / seconds:,.0f} words/s" if done and seconds > 0 and unit == "words" else ""
    value = f' value="{done}" max="{total}"' if total else ""
    return (
        f'<div style="font:.9em system-ui,sans-serif">{escape(what)} <progress{value} '
        f'style="width:16em;vertical-align:middle"></progress> {share}{done:,}{of_all} {unit}{speed}</div>'
    )
