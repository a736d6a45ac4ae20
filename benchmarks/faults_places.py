"""Full disks, closed folders and damaged files: what `faults.py` tries on the same commands."""

import os
import shutil
import signal
import subprocess
import time

from faults_commands import TOKEN, contents, handful

ROOM = (0, 4, 16, 48, 128, 512, 2048)  # KiB that are left on the disk, and then as much as it takes
DISK = 64  # MiB
NOBODY = 65534
TO_DO = ("; ", "give ", "make room", "remove", "again", "nothing can be written into", "check ")


class Disk:
    """A small disk of its own, in memory."""

    def __init__(self, place):
        self.place = place
        place.mkdir(parents=True)

    def __enter__(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", self.place], check=True)
        return self

    def __exit__(self, *error):
        subprocess.run(["umount", "-l", self.place], check=True)

    def leave(self, kib):
        """Empty the disk, and fill all but some KiB of it."""
        for one in self.place.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        (self.place / "work").mkdir()
        free = shutil.disk_usage(self.place).free
        (self.place / "filler").write_bytes(b"\1" * max(0, free - 1024 * kib))

    def close(self, *, closed=True):
        """Let nothing be written to it, or let it again."""
        subprocess.run(["mount", "-o", f"remount,{'ro' if closed else 'rw'}", self.place], check=True)


def run(function, log, *, user=None, seconds=120):
    """Run a command in a child, as another user if asked; return its status and what it said."""
    from faults import start, wait

    def as_user():
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        function()

    pid = start(as_user, log)
    status, _ = wait(pid, log.parent, seconds)
    if status is None:  # a server
        os.kill(pid, signal.SIGTERM)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status, log.read_text()


def commands(given, out):
    """Return by name what writes into a folder, and the path that it writes."""
    few, text, encoder, model = (given / name for name in ("few.txt", "text.txt", "encoder", "model"))

    def pretrain():
        from handful.training import Recipe, pretrain

        recipe = Recipe(epochs=1, batch_tokens=256)
        corpora = [f"made={few}"]
        try:
            pretrain(corpora, encoder=given / "network", out=out / "p", recipe=recipe, device="cpu")
        except OSError as error:  # as the command line says it
            raise SystemExit(print(f"error: {error}") or 1) from None

    def with_cache():
        os.environ["HANDFUL_CACHE"] = str(out)
        handful("predict", model, text, "--keep-features", "--out", given / "found.jsonl", "-q")

    fit = ("fit", few, "-u", text, "--encoder", encoder, "-q")
    return {
        "fit": (lambda: handful(*fit, "--no-cache", "--out", out / "model"), out / "model"),
        "predict": (lambda: handful("predict", model, text, "--out", out / "found.jsonl", "-q"), out / "found.jsonl"),
        "cache": (with_cache, given / "found.jsonl"),
        "pretrain": (pretrain, out / "p"),
        "dask": (lambda: handful(*fit, "--workers", "1", "--out", out / "model"), out / "model"),
    }


def complaint(said):
    """Return the one line of a message, or what is wrong with it."""
    lines = [line for line in said.splitlines() if line.startswith(("error: ", "warning: "))]
    is_logged = "distributed.worker - ERROR" in said  # Dask writes down what fails on a worker
    if ("Traceback" in said and not is_logged) or len(lines) != 1:
        return None
    return lines[0]


def show(given, place, rng):
    """Try all of it; print a line for each, and return whether all was well."""
    place.mkdir()
    results = {}
    for name, (function, path) in commands(given, place).items():
        status, said = run(function, place / "log.txt")
        assert status == 0, said
        results[name] = contents(path)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    rows = []
    if os.geteuid() == 0:
        rows += full(given, place / "full", results)
        rows += label_full(given, place / "label")
        rows += closed(given, place / "closed", results)
    else:
        print("a full disk and a read-only one are skipped: they need root")
    rows += damaged(given, place / "damaged", rng)
    for what, how, n, n_bad, words in rows:
        print(f"{what:<11}{how:<22}{n:>6} trials{n_bad:>4} faults   {words}", flush=True)
    return not any(row[3] for row in rows)


def judged(status, said, path, expected):
    """Return whether a run did all of it, or nothing and said so in one line that says what to do."""
    line = complaint(said)
    if status == 0:
        return contents(path) == expected and (not said.strip() or line is not None)
    return status == 1 and not path.exists() and line is not None and any(word in line for word in TO_DO)


def full(given, place, results):
    """Run each command on a disk with less and less room."""
    with Disk(place) as disk:
        for name, (function, path) in commands(given, place / "work").items():
            n_bad, words = 0, ""
            for kib in (*ROOM, 1024 * DISK):
                disk.leave(kib)
                (given / "found.jsonl").unlink(missing_ok=True)
                status, said = run(function, given / "log.txt")
                is_well = judged(status, said, path, results[name])
                rest = [one.name for one in (place / "work").iterdir() if one.name.startswith(".")]
                n_bad += not is_well or bool(rest)
                if not is_well or rest:
                    print(f"    {name}, {kib} KiB: {status} {rest} {said[-600:]}")
                words = complaint(said) or words
            yield name, "the disk is full", len(ROOM) + 1, n_bad, words


def label_full(given, place):
    """Decide in the workbench until the disk is full: each decision is confirmed and kept, or refused."""
    import faults_commands
    from faults import start

    with Disk(place) as disk:
        disk.leave(300)
        os.environ["HANDFUL_TOKEN"] = TOKEN
        label = faults_commands.Label(given, place / "work" / "label")
        label.result = 62
        log = given / "log.txt"
        pid = start(label.run, log)
        refused = []
        try:
            label.decide(pid, log)
        except AssertionError as error:
            refused.append(str(error))
        time.sleep(0.2)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        (place / "filler").unlink()
        words = refused[0] if refused else "nothing was refused"
        n_bad = int(not any(word in words for word in TO_DO))
        for spans in label.confirmed.values():
            del spans[1:]  # what was refused is not there
        try:
            label.check_killed()
        except AssertionError as error:
            n_bad, words = n_bad + 1, str(error)
        yield "label", "the disk is full", label.n_confirmed, n_bad, words


def closed(given, place, results):
    """Run each command on a disk that is read-only, and in a folder that belongs to somebody else."""
    with Disk(place) as disk:
        for name, (function, path) in commands(given, place / "work").items():
            n_bad, words = 0, ""
            for user in (None, NOBODY):
                disk.leave(1024 * DISK)
                (given / "found.jsonl").unlink(missing_ok=True)
                if user is None:
                    disk.close()
                else:
                    (place / "work").chmod(0o555)
                    for folder in (given, given.parent, place):  # where the rest is
                        folder.chmod(0o777)
                status, said = run(function, given / "log.txt", user=user)
                if user is None:
                    disk.close(closed=False)
                is_well = judged(status, said, path, results[name])
                if not is_well:
                    print(f"    {name}, user {user}: {status} {said[-600:]}")
                n_bad, words = n_bad + (not is_well), complaint(said) or words
            yield name, "the folder is closed", 2, n_bad, words


def damaged(given, place, rng, n=200):
    """Flip a bit or cut a file, in models, encoders and kept features: an error, or the right answer."""
    import warnings

    from handful import Tagger
    from handful.errors import HandfulError

    text = (given / "text.txt").read_text().splitlines()[:100]
    place.mkdir()
    shutil.copytree(given / "encoder", place / "encoder")
    tagger = Tagger(encoder=str(place / "encoder"), cache=False, threads=1)
    tagger.fit(str(given / "few.txt"), progress=False).save(place / "model")

    expected = Tagger.load(place / "model", threads=1, cache=False).predict(text)
    os.environ["HANDFUL_CACHE"] = str(place / "cache")
    for what in ("model", "encoder", "cache"):
        n_bad, words = 0, ""
        for trial in range(n):
            if what == "cache":
                Tagger.load(place / "model", threads=1, cache="all").predict(text)
            files = [one for one in sorted((place / what).rglob("*")) if one.is_file() and one.name != "README.md"]
            path = rng.choice(files)
            content = path.read_bytes()
            spoil(path, content, rng, cut=trial % 4 == 0)
            try:
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    tagger = Tagger.load(place / "model", threads=1, cache="all" if what == "cache" else False)
                    n_bad += (found := tagger.predict(text)) != expected
                if found != expected:
                    print(f"    {what}: {path.name} was used")
                words = str(warned[0].message) if warned else words
            except HandfulError as error:
                words = str(error)
            except Exception as error:
                n_bad += 1
                print(f"    {what}: {path.name}: {type(error).__name__}: {error}")
            if path.exists():
                path.write_bytes(content)
        yield what, "bits, cuts", n, n_bad, words.replace(str(place), "...")


def spoil(path, content, rng, *, cut):
    """Cut a file, or flip one bit of it."""
    if cut:
        path.write_bytes(content[: rng.randrange(len(content))])
        return
    spoiled = bytearray(content)
    spoiled[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(spoiled)
