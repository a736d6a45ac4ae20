"""The loop: take an input, change it, try it, and keep what does something new.

An input (`Case`) is a few named files. A target tries one: it returns something small that says what came of it, or
raises. A result and one of our errors are as it should be. Everything else is a fault: other exceptions, warnings that
are not ours, objects that were left open, an input that takes long or much memory, and the death of the process.

There is no measure of coverage: an input is kept, to be changed further, if it leads to a result or to a message that
was not seen before. Our messages say what is wrong and where, so that they tell paths through the code apart.
"""

import re
import sys
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from handful.errors import HandfulError, HandfulWarning

from .mutate import Mutator

__all__ = ["Case", "Fault", "Outcome", "Target", "read_case", "read_seeds", "try_inputs", "try_one", "watched"]

SEEDS = Path(__file__).parent / "seeds"
SLOW = 3.0  # seconds of processor time for one input
UNPACKED = 200_000  # bytes that gzip unpacks, for each further second
MUCH_MEMORY = 512 << 20  # bytes that the process may grow by with one input
LONGEST = 1 << 16  # bytes of an input that is kept
MOST_KEPT = 1000
REPORT = "REPLAY.txt"

Case = dict[str, bytes]
"""The files of an input, by name."""

Run = Callable[[Case], object]


@dataclass(frozen=True)
class Target:
    """Something that takes inputs.

    Attributes
    ----------
    name : what it is called on the command line; its seeds are in the folder of this name
    about : what is tried, in a few words
    open : gets a folder for files, and gives a function that tries an input
    mutators : for each file of an input, what changes it; a file that is not named stays as it is
    needs : modules that must be installed
    more : files that an input has besides those that were saved
    """

    name: str
    about: str
    open: Callable[[Path], AbstractContextManager[Run]]
    mutators: Mapping[str, Sequence[Mutator]]
    needs: tuple[str, ...] = ()
    more: Mapping[str, bytes] = field(default_factory=dict)

    def change(self, rng: Random, case: Case) -> Case:
        """Return an input that differs in a few places."""
        case = dict(case)
        names = [name for name in self.mutators if name in case]
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
            name = rng.choice(names)
            case[name] = rng.choice(self.mutators[name])(rng, case[name])
        return case


@dataclass(frozen=True)
class Fault:
    """Something that must not happen: the input, what happened, and what tells it apart from other faults."""

    case: Case
    what: str
    key: str


@dataclass
class Outcome:
    """What came of many inputs: how many gave a result, how many an error of ours, and the faults by their keys."""

    n_results: int = 0
    n_errors: int = 0
    n_faults: int = 0
    slowest: float = 0.0
    kinds: set[str] = field(default_factory=set)
    faults: dict[str, Fault] = field(default_factory=dict)

    @property
    def n_inputs(self) -> int:
        """How many inputs were tried."""
        return self.n_results + self.n_errors + self.n_faults

    def add(self, fault: Fault) -> None:
        """Count a fault, and keep it if it is the first of its kind."""
        self.n_faults += 1
        self.faults.setdefault(fault.key, fault)


def read_case(path: Path) -> Case:
    """Read an input: a folder with its files, or one file, which is then called ``file``."""
    if path.is_dir():
        return {one.name: one.read_bytes() for one in sorted(path.iterdir()) if one.name != REPORT}
    return {"file": path.read_bytes()}


def read_seeds(target: Target) -> list[Case]:
    """Read the saved inputs of a target."""
    return [{**target.more, **read_case(path)} for path in sorted((SEEDS / target.name).iterdir())]


def try_inputs(
    target: Target,
    run: Run,
    rng: Random,
    outcome: Outcome,
    *,
    n: int,
    until: float = float("inf"),
    before: Callable[[Case], object] = lambda case: None,
) -> Iterator[Fault]:
    """Try the saved inputs, and then others that are made of them; yield faults of a kind that is new.

    Parameters
    ----------
    n, until
        How many inputs, and the time (of `time.monotonic`) at which to stop.
    outcome
        What is counted.
    before
        Called with each input before it is tried.
    """
    seeds = read_seeds(target)
    kept: list[Case] = []
    for number in range(n):
        if time.monotonic() > until:
            return
        if number < len(seeds):
            case = seeds[number]
        else:
            case = target.change(rng, rng.choice(seeds if not kept or rng.random() < 0.4 else kept))
        before(case)
        started = time.process_time()
        kind, fault = try_one(run, case)
        took = time.process_time() - started
        outcome.slowest = max(outcome.slowest, took)
        if fault is None and took > SLOW and took > SLOW + _unpacked(case) / UNPACKED:
            fault = Fault(case, f"it took {took:.1f} seconds of processor time", f"slow: {kind}")
        if fault is not None:
            is_new = fault.key not in outcome.faults
            outcome.add(fault)
            if is_new:
                yield fault
            continue
        if kind.startswith("error"):
            outcome.n_errors += 1
        else:
            outcome.n_results += 1
        if kind not in outcome.kinds:
            outcome.kinds.add(kind)
            if sum(map(len, case.values())) < LONGEST:
                kept.append(case)
                if len(kept) > MOST_KEPT:
                    del kept[rng.randrange(len(kept))]


def try_one(run: Run, case: Case) -> tuple[str, Fault | None]:
    """Try an input; return what kind of thing came of it, and the fault if there was one."""
    left_open: list[str] = []
    memory = _memory()
    with watched(left_open):
        try:
            kind = f"result {run(case)!r}"
        except HandfulError as error:
            kind = f"error {type(error).__name__} {_kind(str(error))}"
        except MemoryError as error:
            return "fault", Fault(case, traceback.format_exc(), f"memory {_place(error)}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # panics of Rust are no Exception
            return "fault", Fault(case, traceback.format_exc(), f"{type(error).__name__} {_place(error)}")
    if left_open:
        return "fault", Fault(case, "\n".join(left_open), f"left open: {_kind(left_open[0])}")
    if _memory() - memory > MUCH_MEMORY:
        return "fault", Fault(case, f"it took {_memory() - memory:,} bytes of memory", f"memory: {kind}")
    return kind, None


@contextmanager
def watched(left_open: list[str]) -> Iterator[None]:
    """Make every warning that is not ours an error, and note errors that Python would only print."""

    def note(unraisable: "sys.UnraisableHookArgs") -> None:
        left_open.append(f"{unraisable.err_msg or 'ignored'}: {unraisable.exc_value!r} in {unraisable.object!r:.100}")

    hook, sys.unraisablehook = sys.unraisablehook, note
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", HandfulWarning)
            yield
    finally:
        sys.unraisablehook = hook


def _unpacked(case: Case) -> int:
    """Return how many bytes gzip files of an input hold, as far as they can be read."""
    total = 0
    for data in case.values():
        if data.startswith(b"\x1f\x8b"):
            opened = zlib.decompressobj(31)
            try:
                for start in range(0, len(data), 64):
                    total += len(opened.decompress(data[start : start + 64]))
            except zlib.error:  # damaged from here on
                pass
    return total


def _kind(message: str) -> str:
    """Return a message without the parts that come from the input."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+|[^ -~]+", "", message)[:100]


def _place(error: BaseException) -> str:
    """Return where an error was raised: the last line of ours on the way, and the last line of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if {"handful", "targets"} & {*Path(frame.filename).parts}]
    shown = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in (ours[-1:] or frames[-1:])]
    return " ".join(shown)


def _memory() -> int:
    """Return the most memory that this process has had, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
