"""Fit and tag a large text with one command on two processes, kill a worker twice, and compare with one process.

python benchmarks/wikinews.py DATA/raw/wikinews.txt.gz --words 50000 --out FOLDER     some minutes on 2 cores
python benchmarks/wikinews.py DATA/raw/wikinews.txt.gz --out FOLDER                   all of it: 5.1 million words

The first worker dies (kill -9) while the text is encoded, the second while the tagger is fitted. `--no-serial` leaves
out the comparison, which takes as long again. Features take 3 KB of disk for each word, in both runs.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from measure import describe_machine

from handful.text import stream

TYPES = """\
PERSON: names of people
PLACE: names of countries, regions, towns, rivers and buildings
ORGANISATION: names of companies, parties, agencies, clubs and newspapers
"""
FEW = """\
[Maria Jensen](PERSON) , who leads the [Harbour Workers Union](ORGANISATION) , spoke in [Aarhus](PLACE) on Monday .
The [Ministry of Transport](ORGANISATION) said that the bridge near [Lake Torne](PLACE) will open in May .
[Okafor](PERSON) scored twice as [Enugu Rangers](ORGANISATION) beat the visitors from [Accra](PLACE) .
A spokesman for [Nordal Bank](ORGANISATION) declined to comment on the letter that [Peter Lund](PERSON) had sent .
Heavy rain closed two schools in [Cardiff](PLACE) , according to the [Western Courier](ORGANISATION) .
Police in [Peru](PLACE) have questioned [Ana Quispe](PERSON) about the fire .
The weather will stay dry until the weekend , and nobody was hurt .
"""


def cut(text, n_words, path):
    """Write the first documents of a text with about so many words; return how many words there are."""
    n = 0
    with open(path, "w", encoding="utf-8") as file:
        for document in stream(text, unlabelled=True):
            file.write(document.text + "\n")
            n += document.n_words
            if n_words and n >= n_words:
                break
    return n


def handful(*arguments):
    return [sys.executable, "-m", "handful", *map(str, arguments)]


def kill_a_worker(process):
    """Kill the process with the most memory of those that a command has started."""
    children = psutil.Process(process.pid).children(recursive=True)
    worker = max(children, key=lambda child: child.memory_info().rss)
    os.kill(worker.pid, signal.SIGKILL)
    return worker.pid


def run_on_workers(folder, n_workers):
    """Fit and predict on workers; return the seconds until features, model and predictions were there."""
    features = folder / "far.features"
    command = handful("fit", "few.txt", "--types", "types.txt", "-u", "text.txt", "--workers", n_workers)
    command += ["--out", "far"]
    print("$", " ".join(["handful", *command[3:]]))
    start, marks, killed = time.perf_counter(), {}, []
    process = subprocess.Popen(command, cwd=folder)
    while process.poll() is None:
        time.sleep(0.2)
        seconds = time.perf_counter() - start
        if not killed and len(list(features.glob("*.npy"))) >= 2:
            killed.append(("encode", kill_a_worker(process)))
        if (features / "index.json").exists() and "encode" not in marks:
            marks["encode"] = seconds
            time.sleep(1)
            killed.append(("fit", kill_a_worker(process)))
    assert process.returncode == 0, "the command failed"
    marks["fit"] = time.perf_counter() - start
    command = handful("predict", "far", "text.txt", "--workers", n_workers, "--out", "found")
    print("$", " ".join(["handful", *command[3:]]))
    subprocess.run(command, cwd=folder, check=True)
    marks["predict"] = time.perf_counter() - start
    print(f"killed: {', '.join(f'process {pid} in {phase}' for phase, pid in killed)}")
    assert len(killed) == 2, "the run was too short to kill a worker twice"
    return marks


def run_serially(folder):
    """Fit and predict in one process each; return the seconds until the model and the predictions were there."""
    environment = os.environ | {"HANDFUL_CACHE": str(folder / "cache"), "HANDFUL_CACHE_LIMIT": "60GB"}
    fit = handful("fit", "few.txt", "--types", "types.txt", "-u", "text.txt", "--out", "near", "--quiet")
    predict = handful("predict", "near", "text.txt", "--to", "jsonl", "--out", "near.jsonl", "--quiet")
    start, marks = time.perf_counter(), {}
    for name, command in (("encode and fit", fit), ("predict", predict)):
        print("$", " ".join(["handful", *command[3:]]))
        subprocess.run(command, cwd=folder, env=environment, check=True)
        marks[name] = time.perf_counter() - start
    return marks


def compare(folder):
    """Say whether both runs gave the same bytes."""
    for name in ("config.json", "model.safetensors", "support.jsonl"):
        same = (folder / "far" / name).read_bytes() == (folder / "near" / name).read_bytes()
        print(f"{name}: {'the same bytes' if same else 'NOT THE SAME'}")
    with open(folder / "near.jsonl", encoding="utf-8") as near:
        shards = sorted((folder / "found").glob("*.jsonl"))
        far = (line for path in shards for line in path.read_text(encoding="utf-8").splitlines(keepends=True))
        n = n_other = 0
        for one, other in zip(near, far, strict=True):
            n += 1
            n_other += one != other
    print(f"predictions: {n:,} documents, {n_other:,} of them not the same")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--words", type=int, default=0, help="how many of its words; all if not set")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--no-serial", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True)
    (given.out / "types.txt").write_text(TYPES, encoding="utf-8")
    (given.out / "few.txt").write_text(FEW, encoding="utf-8")
    n_words = cut(given.text, given.words, given.out / "text.txt")
    print(describe_machine())
    print(f"{n_words:,} words")
    for title, marks in (
        (f"{given.workers} workers", run_on_workers(given.out, given.workers)),
        ("one process", {} if given.no_serial else run_serially(given.out)),
    ):
        for name, seconds in marks.items():
            print(f"{title}: {name} done after {seconds:,.0f} s ({n_words / seconds:,.0f} words/s so far)")
    if not given.no_serial:
        compare(given.out)
