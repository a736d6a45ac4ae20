"""Reports of a training while it runs."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ._recipe import group_of


@dataclass(frozen=True)
class TrainingState:
    """How far a training is."""

    # counted from 1
    epoch: int
    n_epochs: int
    step: int
    n_steps: int
    loss: float  # the mean loss per word since the last report; at the end of an epoch, over the whole epoch
    words_per_second: float  # since the last report
    # at the end of an epoch, precision, recall and f1 on the dev sentences, by corpus; None in between
    dev: Mapping[str, Mapping[str, float]] | None = None

    def __str__(self) -> str:
        if self.dev is None:
            return (
                f"epoch {self.epoch}/{self.n_epochs} · step {self.step:,}/{self.n_steps:,} · "
                f"loss {self.loss:.4f} · {self.words_per_second:,.0f} words/s"
            )
        figures = " · ".join(f"{name} {100 * f1:.1f}" for name, f1 in mean_f1(self.dev).items())
        return f"epoch {self.epoch}/{self.n_epochs} done · loss {self.loss:.4f}" + (
            f" · dev F1: {figures}" if figures else ""
        )


@dataclass(frozen=True)
class TuneState:
    """How far tuning is."""

    what: str  # what is trained now
    # Of all trainings together, counted from 1
    step: int
    n_steps: int
    loss: float  # the mean per word since the last report
    seconds_left: float  # at the speed so far
    dev: None = None  # always None

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds_left), 60)
        return f"{self.what} · step {self.step:,}/{self.n_steps:,} · loss {self.loss:.4f} · {minutes}:{seconds:02} left"


def mean_f1(dev: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the F1 of each corpus, and for a group of corpora their mean."""
    groups: dict[str, list[str]] = {}
    for name in dev:
        groups.setdefault(group_of(name), []).append(name)
    called = {group: f"{group} ({len(names)} corpora)" if names[1:] else names[0] for group, names in groups.items()}
    return {called[group]: sum(dev[name]["f1"] for name in names) / len(names) for group, names in groups.items()}


#: Called with each state.
OnState = Callable[[Any], None]


@contextmanager
def showing(progress: bool | OnState | None) -> Iterator[OnState]:
    """Yield a function to call with each state; `handful.training.pretrain` says what `progress` may be."""
    if callable(progress):
        yield progress
        return
    is_terminal = sys.stderr.isatty()
    if progress is False or (progress is None and not is_terminal):
        yield lambda state: None
        return
    if not is_terminal:
        yield lambda state: print(state, file=sys.stderr, flush=True)  # noqa: T201
        return
    from tqdm.std import tqdm

    with tqdm(bar_format="{bar:30} {remaining} {desc}", leave=False) as bar:

        def show(state: TrainingState) -> None:
            bar.total = state.n_steps
            bar.set_description_str(str(state), refresh=False)
            bar.update(state.step - bar.n)
            if state.dev is not None:
                bar.write(str(state), file=sys.stderr)

        yield show
