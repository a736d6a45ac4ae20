"""A process for each target, so that nothing that happens in it ends the run: it is started again after a death."""

import faulthandler
import hashlib
import multiprocessing
import os
import pickle
import shutil
import tempfile
import time
import traceback
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from .engine import REPORT, Case, Fault, Outcome, Target, try_inputs, try_one
from .targets import TARGETS
from .targets.faulty import FAULTY

__all__ = ["FOUND", "fuzz", "missing", "replay", "save"]

FOUND = Path(__file__).parent / "found"
HANGS = 20  # seconds after which an input is given up, and the process with it
ROOM = 2 << 30  # bytes of address space beyond those that the process starts with
MOST_DEATHS = 20


def missing(target: Target) -> list[str]:
    """Return the modules that a target needs and that are not installed."""
    return [name for name in target.needs if find_spec(name) is None]


def fuzz(target: Target, *, n: int, seconds: float, seed: int, hangs: int = HANGS) -> tuple[Outcome, float]:
    """Try inputs until there were n of them or the time is over; return what came of them, and the seconds it took."""
    total, started, taken = Outcome(), time.monotonic(), 0.0
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="handful-fuzz-", dir=_memory_folder()) as folder:
        for attempt in range(MOST_DEATHS):
            here, there = context.Pipe(duplex=False)
            left = n - total.n_inputs
            rest = seconds - taken
            process = context.Process(
                target=_work, args=(target.name, left, rest, seed + attempt, hangs, folder, there)
            )
            process.start()
            there.close()
            begun, is_done = time.monotonic(), False
            try:
                while True:
                    what, sent = here.recv()
                    if what == "begin":
                        begun = time.monotonic()
                    elif what == "fault":
                        save(target, sent)
                    else:
                        is_done = True
                        _merge(total, sent)
            except EOFError:
                process.join()
            taken += time.monotonic() - begun
            if is_done:
                break
            if not (Path(folder) / "current").exists():
                raise RuntimeError((Path(folder) / "death").read_text(encoding="utf-8"))
            died = _death(Path(folder), process.exitcode)
            if died.key not in total.faults:
                save(target, died)
            _merge(total, _counted(Path(folder)))
            total.add(died)
            if total.n_inputs >= n or taken >= seconds:
                break
    return total, min(taken, time.monotonic() - started)


def _work(name: str, n: int, seconds: float, seed: int, hangs: int, folder: str, pipe: Connection) -> None:
    """Run in a process of its own; a fault of the fuzzer itself is noted like the death of the process."""
    try:
        _try_all(name, n, seconds, seed, hangs, folder, pipe)
    except BaseException:
        (Path(folder) / "death").write_text(traceback.format_exc(), encoding="utf-8")
        os._exit(1)
    os._exit(0)  # threads of libraries are not waited for


def _try_all(name: str, n: int, seconds: float, seed: int, hangs: int, folder: str, pipe: Connection) -> None:
    """Try inputs and send faults, and at the end what came of all."""
    target = {**TARGETS, **FAULTY}[name]
    place = Path(folder)
    current = os.open(place / "current", os.O_RDWR | os.O_CREAT)
    with open(place / "death", "w", encoding="utf-8") as death, target.open(_empty(place / "files")) as run:
        faulthandler.enable(death)
        _be_quiet()
        _limit_memory()
        outcome = Outcome()
        pipe.send(("begin", None))

        def note(case: Case) -> None:
            data = pickle.dumps((case, outcome.n_results, outcome.n_errors, outcome.n_faults))
            os.pwrite(current, data, 0)
            faulthandler.dump_traceback_later(hangs, exit=True, file=death)

        until = time.monotonic() + seconds
        for fault in try_inputs(target, run, Random(f"{seed} {name}"), outcome, n=n, until=until, before=note):
            pipe.send(("fault", fault))
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()
        pipe.send(("done", outcome))
    pipe.close()


def replay(target: Target, case: Case) -> tuple[str, Fault | None]:
    """Try one input in this process."""
    with tempfile.TemporaryDirectory(prefix="handful-fuzz-") as folder, target.open(Path(folder)) as run:
        return try_one(run, case)


def save(target: Target, fault: Fault) -> Path:
    """Save a fault: its files, and a file that says what happened and how to see it again."""
    number = hashlib.sha256(fault.key.encode("utf-8", "replace")).hexdigest()[:8]
    folder = FOUND / f"{target.name}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in fault.case.items():
        (folder / name).write_bytes(data)
    command = f"python -m fuzz --target {target.name} --replay {folder.relative_to(FOUND.parents[1])}"
    text = f"{command}\n\n{fault.key}\n\n{fault.what}\n"
    (folder / REPORT).write_text(text, encoding="utf-8", errors="backslashreplace")
    return folder


def _death(folder: Path, code: int | None) -> Fault:
    """Return the fault of a process that has ended before its time."""
    case, *_ = pickle.loads((folder / "current").read_bytes())
    said = (folder / "death").read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in said.splitlines() if "handful" in line and "File" in line]
    return Fault(case, f"the process ended with {code}\n{said}", f"death {code} {lines[0] if lines else ''}")


def _counted(folder: Path) -> Outcome:
    _, n_results, n_errors, n_faults = pickle.loads((folder / "current").read_bytes())
    return Outcome(n_results, n_errors, n_faults)


def _merge(total: Outcome, more: Outcome) -> None:
    total.n_results += more.n_results
    total.n_errors += more.n_errors
    total.n_faults += more.n_faults
    total.slowest = max(total.slowest, more.slowest)
    total.kinds |= more.kinds
    total.faults |= more.faults


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _memory_folder() -> str | None:
    """Return a folder in memory, where there is one: files of inputs are written often."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _be_quiet() -> None:
    """Keep what libraries print, on their way to an error, off the screen."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limit_memory() -> None:
    """Make an input that asks for too much memory an error, where the system can do that."""
    try:
        import resource

        size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit: Any = size + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
