"""Commands that are killed at any moment, disks that are full, folders that are closed, bits that are flipped.

    python benchmarks/faults.py [--kills 200] [--only NAME] [--seed 0]

Each command works on made text with a very small encoder, and is killed (SIGKILL) again and again. Half of the moments
are spread evenly over the time that it takes; the other half follow within 20 ms on a change in the folder that it
writes to. What it was to write is compared with what an undisturbed run wrote: it has to be the same to the byte, or as
it was before, or not there. After some kills the command is run to its end, which has to give the same bytes, and leave
nothing else behind.

Commands are children of this process, which has imported their modules, so that little time is spent before the
interesting part. Of `dask` (`handful fit --workers 2`), every other kill hits the command and the others a worker.

`places` needs root, for a small disk of its own that can be full or read-only. Linux only.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path

import faults_commands
import faults_places
from measure import describe_machine

SOON = 0.02  # seconds after a change in the folder
MOST_IN_A_ROW = 10  # kills, until the command is run to its end
PATIENCE = 120  # seconds that a run may take


def start(function, log):
    """Run a function in a child of this process; return its process id."""
    sys.stdout.flush()
    log.unlink(missing_ok=True)
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for descriptor, target in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
            os.dup2(descriptor, target)
        vars(sys.modules["__main__"]).pop("__file__", None)  # the workers of Dask need not import this script
        function()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def names_in(folder):
    """Return what is in a folder and in those in it."""
    found = set()
    try:
        for one in os.scandir(folder):
            found.add(one.name)
            if one.is_dir():
                found |= {f"{one.name}/{name}" for name in os.listdir(one.path)}
    except OSError:  # gone in the meantime
        pass
    return found


def wait(pid, watched, seconds, n_changes=0, longest=PATIENCE):
    """Wait until a child ends, or some seconds after so many changes in a folder, or for the longest time.

    Return its status, None if it is still running, and the number of changes.
    """
    changes, before = 0, names_in(watched)
    end = time.monotonic() + (longest if n_changes else seconds)
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), changes
        if n_changes and (names := names_in(watched)) != before:
            before, changes = names, changes + 1
            if changes == n_changes:
                end = time.monotonic() + seconds
        time.sleep(0.0005)
    return None, changes


class Killer:
    """Runs a command, undisturbed or not, and looks at what it left.

    Parameters
    ----------
    command : what `faults_commands` has
    place : an empty folder
    """

    def __init__(self, command, place, rng):
        self.command, self.rng, self.log = command, rng, place / "log.txt"
        self.faults, self.ends = [], 0
        started = time.monotonic()
        self.n_changes = self.run_to_the_end()
        self.seconds = time.monotonic() - started
        command.remember()

    def run_to_the_end(self):
        """Run it undisturbed; return how many changes there were in its folder."""
        pid = start(partial(self.command.run, to_the_end=True), self.log)
        status, changes = wait(pid, self.command.watched, 0, n_changes=10**9)
        if status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        assert status == self.command.ends_with, f"it ended with {status}"
        return changes

    def strike(self):
        """Run it and kill it; return whether that was in time."""
        self.command.prepare(self.rng)
        pid = start(self.command.run, self.log)
        helper = self.command.accompany(pid, self.log)
        if self.rng.random() < 0.5 or not self.n_changes:
            status, _ = wait(pid, self.command.watched, self.rng.uniform(0, 1.1 * self.seconds))
        else:
            n = self.rng.randint(1, self.n_changes)
            status, _ = wait(pid, self.command.watched, self.rng.uniform(0, SOON), n, 1.1 * self.seconds)
        if status is None:
            status = self.command.kill(pid, self.rng)
        helper()
        return status

    def go(self, n_kills, minutes):
        """Kill it so many times, or for so long; return how many hit a running command."""
        kills = in_a_row = 0
        end = time.monotonic() + 60 * minutes
        for _ in range(4 * n_kills):
            if kills >= n_kills or time.monotonic() > end:
                break
            try:
                if in_a_row >= MOST_IN_A_ROW:
                    status = self.command.ends_with
                    self.run_to_the_end()
                else:
                    status = self.strike()
                if status == -signal.SIGKILL:
                    kills, in_a_row = kills + self.command.n_killed, in_a_row + 1
                    self.command.check_killed()
                else:
                    assert status == self.command.ends_with, f"it ended with {status}"
                    self.ends, in_a_row = self.ends + 1, 0
                    self.command.check_ended()
            except AssertionError as fault:
                self.faults.append(f"{fault}\n{self.log.read_text()[-1500:]}")
                self.command.reset()
        return kills


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*faults_commands.COMMANDS, "places"]
    parser.add_argument("--kills", type=int, default=200, help="of each command")
    parser.add_argument("--minutes", type=float, default=60.0, help="the most for each command")
    parser.add_argument("--only", choices=names, action="append", help="this alone; may be repeated")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    faults_commands.import_all()
    print(describe_machine())
    is_well = True
    with tempfile.TemporaryDirectory() as folder:
        given = faults_commands.make_given(Path(folder) / "given")
        print(f"{'':<10}{'kills':>7}{'ends':>7}{'faults':>8}{'a run':>9}{'left, most':>12}{'minutes':>9}")
        for name in options.only or names:
            if name == "places":
                continue
            place = Path(folder) / name
            place.mkdir()
            os.environ["HANDFUL_CACHE"] = str(place / "cache")
            started = time.monotonic()
            command = faults_commands.COMMANDS[name](given, place / "out")
            killer = Killer(command, place, random.Random(f"{name} {options.seed}"))
            kills = killer.go(options.kills, options.minutes)
            minutes = (time.monotonic() - started) / 60
            print(
                f"{name:<10}{kills:>7}{killer.ends:>7}{len(killer.faults):>8}{killer.seconds:>7.2f} s"
                f"{command.most_left:>12}{minutes:>9.1f}",
                flush=True,
            )
            if command.note():
                print(f"    {command.note()}", flush=True)
            for fault in dict.fromkeys(killer.faults):
                print(f"    {fault}")
            is_well &= not killer.faults and kills >= options.kills
            shutil.rmtree(place)
        if "places" in (options.only or names):
            os.environ["HANDFUL_CACHE"] = str(Path(folder) / "cache")
            is_well &= faults_places.show(given, Path(folder) / "places", random.Random(options.seed))
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
