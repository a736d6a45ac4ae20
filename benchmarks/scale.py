"""How fast, and in how much memory and traffic, one and two workers encode and fit, beside one process.

python benchmarks/scale.py TEXT --words 20000           encode and fit on text; some minutes on 2 cores
python benchmarks/scale.py --rows 100000,1000000        fit on made features from disk, n by n

Made features are float16 rows of 768 numbers. At most a million of them are different: the files of more rows are the
same file by several names, so that 20 million rows take 1.5 GB of disk and not 31. The system may then keep the file in
memory, which a disk of 31 GB would not allow; `--distinct 20000000` writes them all.

Memory is what a process has for itself (RssAnon), the most of all samples; pages of mapped files come on top, and the
system takes them back when it needs room. Traffic is what goes over the loopback interface, so all of it is counted:
client, scheduler and workers. It is that of rounds 2 to the last, by round. Processor time is that of all processes; it
counts the one pass for the scatter, too.
"""

import argparse
import itertools
import os
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from measure import describe_machine
from rich.console import Console
from rich.table import Table

from handful import SubspaceKMeans, Tagger
from handful._util.arrays import Part, Rows
from handful.cluster import Labels
from handful.encoders import load
from handful.scale import Features, encode_texts, fit, workers
from handful.scale._shards import seal
from handful.text import stream

D, N_TYPES, O_RATIO = 768, 4, 0.85
SHARD = 100_000  # rows
TYPES = {"person": "names of people", "place": "names of towns, countries and regions", "organisation": "companies"}


@contextmanager
def memory_watched():
    """Yield a dict that is filled with the most memory of this process, and of any that it started, in bytes."""
    most, done = {"client": 0, "worker": 0}, threading.Event()

    def watch():
        me = psutil.Process()
        while not done.wait(0.1):
            most["client"] = max(most["client"], private_memory(me.pid))
            for child in me.children(recursive=True):
                most["worker"] = max(most["worker"], private_memory(child.pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def private_memory(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().split("\n")
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def cpu_seconds():
    """Return the processor time of this process and of those that it started; other work is not in it."""
    me = psutil.Process()
    return sum(sum(one.cpu_times()[:2]) for one in (me, *me.children(recursive=True)))


def loopback():
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def made_shards(folder, n, distinct):
    """Write shards of features in overlapping groups; return them, and labels of some words."""
    rng = np.random.default_rng(0)
    n_groups = 40
    centres = rng.normal(scale=0.15, size=(n_groups, D)).astype(np.float32)
    spread = 0.5 + rng.gamma(2.0, 1.0, size=D).astype(np.float32)
    share = np.r_[
        np.full(N_TYPES, (1 - O_RATIO) / N_TYPES), np.full(n_groups - N_TYPES, O_RATIO / (n_groups - N_TYPES))
    ]
    rows, tags = [], []
    sizes = [SHARD] * (n // SHARD) + ([n % SHARD] if n % SHARD else [])
    for number, size in enumerate(sizes):
        path = folder / f"{number:06d}.npy"
        if number * SHARD >= distinct and size == SHARD:
            os.link(folder / f"{number % (distinct // SHARD):06d}.npy", path)
        else:
            group = rng.choice(n_groups, size=size, p=share)
            X = rng.standard_normal((size, D), dtype=np.float32) * spread + centres[group]
            np.save(path, X.astype(np.float16))
            seal(path, b"")
            if number == 0:
                for t in range(N_TYPES + 1):
                    here = np.flatnonzero(np.where(group < N_TYPES, group + 1, 0) == t)[: 300 if t == 0 else 8]
                    rows += here.tolist()
                    tags += [t] * len(here)
    order = np.argsort(rows)
    classes = np.arange(N_TYPES + 1)
    labels = Labels(classes, np.array(rows)[order], np.eye(N_TYPES + 1, dtype=bool)[np.array(tags)[order]])
    return Features(folder, [], {}, sizes, [0] * len(sizes), D, "float16", "made", []), labels


def over_rows(console, sizes, n_workers, distinct, n_rounds):
    title = f"fit of {D} numbers by word, float16 from disk, {n_workers} workers, {n_rounds} rounds; at most "
    table = Table(
        "rows",
        "GB of features",
        "seconds",
        "CPU µs a row and round",
        "client, MB",
        "a worker, MB",
        "traffic a round, MB",
        "of n x d",
        title=title + f"{distinct:,} rows are different",
    )
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder, workers(n=n_workers):
            features, labels = made_shards(Path(folder), n, min(n, distinct))
            sent, model = [], SubspaceKMeans(O_RATIO, max_iter=n_rounds)
            with memory_watched() as memory:
                start, busy = time.perf_counter(), -cpu_seconds()
                X = Rows([Part(features.far_text().rows)])
                model.fit(X, labels, callback=lambda _, sent=sent: sent.append(loopback()))
                seconds, busy = time.perf_counter() - start, busy + cpu_seconds()
            traffic = (sent[-1] - sent[0]) / (len(sent) - 1)
            table.add_row(
                f"{n:,}",
                f"{n * D * 2 / 1e9:.1f}",
                f"{seconds:.1f}",
                f"{1e6 * busy / n / model.n_iter_:.1f}",
                f"{memory['client'] / 1e6:,.0f}",
                f"{memory['worker'] / 1e6:,.0f}",
                f"{traffic / 1e6:.1f}",
                f"{traffic / (n * D * 2):.1%}",
            )
            console.print(f"{n:,} rows: {seconds:.1f} s, {model.n_iter_} rounds")
    console.print(table)


def over_text(console, text, n_words):
    """Encode and fit on some words of a text: in this process, and on one and two workers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        counts = itertools.accumulate(one.n_words for one in stream(text, unlabelled=True))
        n_lines = sum(1 for _ in itertools.takewhile(lambda n: n <= n_words, counts))
        documents = list(itertools.islice(stream(text, unlabelled=True), n_lines))
        path.write_text("".join(one.text + "\n" for one in documents), encoding="utf-8")
        sentences = [sentence for one in documents for sentence in one.sentences]
        n = sum(len(sentence.words) for sentence in sentences)
        table = Table("", "encode, words/s", "fit, words/s", title=f"{n:,} words of text, {len(TYPES)} types by name")
        for threads in (1, 2):
            encoder = load("handful-en", threads=threads)
            start = time.perf_counter()
            rows = encoder.encode(sentences, progress=False)
            middle = time.perf_counter()
            tagger = Tagger(TYPES, encoder=Remembered(encoder, rows), cache=False).fit(unlabelled=sentences)
            end = time.perf_counter()
            row = f"one process, encoder with {threads} threads", f"{n / (middle - start):,.0f}"
            table.add_row(*row, f"{n / (end - middle):,.0f}")
        near = [array.tobytes() for piece in tagger.model_.evidence for array in piece.save().values()]
        for n_workers in (1, 2):
            with workers(n=n_workers) as client:
                client.run(load, "handful-en")  # what a worker loads, it loads once
                start = time.perf_counter()
                features = encode_texts(client, [str(path)], Path(folder) / f"w{n_workers}", threads=1)
                middle = time.perf_counter()
                tagger = fit(Tagger(TYPES, cache=False), unlabelled=features)
                end = time.perf_counter()
                far = [array.tobytes() for piece in tagger.model_.evidence for array in piece.save().values()]
            row = f"{n_workers} workers, encoder with 1 thread each", f"{n / (middle - start):,.0f}"
            table.add_row(*row, f"{n / (end - middle):,.0f}")
            assert far == near, "the models are not the same"
        console.print(table)
        console.print("all models are the same to the byte")


class Remembered:
    """An encoder that has encoded these sentences already: what is timed is the fit alone."""

    def __init__(self, encoder, rows):
        self.rows = rows
        self.inside = encoder

    def __getattr__(self, name):
        return getattr(self.inside, name)

    def encode(self, sentences, *, progress=None):
        """Return what was encoded."""
        return self.rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", help="a text, such as DATA/raw/wikinews.txt.gz")
    parser.add_argument("--words", type=int, default=20_000, help="how many of its words")
    parser.add_argument("--rows", help="numbers of rows, as in 100000,1000000")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--distinct", type=int, default=1_000_000, help="how many rows are different, in 100,000s")
    given = parser.parse_args()
    console = Console(width=140)
    console.print(describe_machine())
    if given.rows:
        over_rows(console, [int(float(n)) for n in given.rows.split(",")], given.workers, given.distinct, given.rounds)
    if given.text:
        over_text(console, given.text, given.words)
