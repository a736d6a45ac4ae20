"""A scripted person at the workbench: how fast it learns, by the queue and in random order.

    python benchmarks/workbench.py CORPUS... [--decisions 60] [--every 5] [--runs 3] [--plot workbench.svg]
    python benchmarks/workbench.py CORPUS... --rows rows.json        keep all rows, and draw them elsewhere:
    python benchmarks/workbench.py --drawn rows.json --plot workbench.svg
    python benchmarks/workbench.py CORPUS... --later 20              half of the types come after 20 decisions

A corpus is a folder with dev.txt, test.txt and types.txt. The person works through the HTTP interface that the page
uses, knows the right labels of dev.txt, and confirms or corrects one sentence after the other: those of the queue, or
any. Each run has other sentences of dev.txt to choose from, the same ones in both orders. After every few decisions
strict span F1 is measured on sentences of dev.txt that are not part of the project; with --on test on those of
test.txt, which can be text of another kind. Seconds are those that the person waits for the tagger and the next
sentence. Measuring is not counted, nor what the tagger does when nobody decides for a moment: a person reads then. A
correction is a mention that was added, deleted or changed.

With --later the project begins with the first half of the types. Once the others are there, the person looks at the
decided sentences again, as the page asks, and each of these looks is a decision, too. F1 is that of all types, always.

It needs the package with its extra `web`, and httpx; --plot needs matplotlib, too. It needs no browser.
"""

import argparse
import json
import random
import secrets
import socket
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import uvicorn

from handful.evaluate import score
from handful.text import Document, read, read_types
from handful.workbench import Project, Session
from handful.workbench._server import make_server


@contextmanager
def serving(session):
    """Serve a session, and give a client."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    token = secrets.token_urlsafe()
    app = make_server(session, token, frozenset({"localhost"}))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    headers = {"X-Handful-Token": token, "Content-Type": "application/json"}
    try:
        with session, httpx.Client(base_url=url, headers=headers, timeout=600, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class Person:
    """Someone who knows the right labels, and works through the interface of the page."""

    def __init__(self, client, gold):
        self.client = client
        self.gold = gold
        self.n_corrections = 0

    def state(self):
        """Return where everything stands."""
        return self.client.get("/api/state").json()

    def wait(self, version, *, for_queue):
        """Wait until the tagger knows what was decided, and the queue is by that fit."""
        while True:
            fit = self.state()["fit"]
            if fit["version"] >= version and (not for_queue or fit["queue"] == fit["number"]):
                return
            time.sleep(0.05)  # asking costs the server time, too

    def wait_until_idle(self):
        """Wait until the tagger knows all decisions, and has nothing left to do."""
        while (now := self.state())["fit"]["status"] != "idle" or now["fit"]["version"] < now["version"]:
            time.sleep(0.05)

    def add(self, types):
        """Add types, in one step."""
        changes = [{"action": "add", "name": one.name, "description": one.description} for one in types]
        self.client.post("/api/types", content=json.dumps({"changes": changes})).raise_for_status()

    def next(self, order, ids):
        """Return the sentence to decide on: one that needs a look for a new type, or that of the queue, or any."""
        ways = [{"mode": "order", "part": "look", "n": 1}, {"mode": "teach", "n": 1}]
        for query in ways if order == "queue" else ways[:1]:
            if found := self.client.get("/api/queue", params=query).json()["sentences"]:
                return found[0]
        return self.client.get(f"/api/sentences/{next(ids)}").json()

    def decide(self, sentence):
        """Confirm or correct a sentence, and return the number of the decision."""
        known = {one["name"] for one in self.state()["types"]}
        gold = self.gold[tuple(sentence["words"])].spans
        right = {(span.start, span.end, span.type) for span in gold if span.type in known}
        on_page = [*(sentence["labels"] or ()), *(sentence["predictions"] or ())]
        shown = {(one["start"], one["end"], one["type"]) for one in on_page}
        self.n_corrections += len(right ^ shown)
        labels = [{"start": a, "end": b, "type": name} for a, b, name in sorted(right)]
        record = {"version": sentence["version"], "action": "label" if labels else "nothing", "labels": labels}
        answer = self.client.post(f"/api/sentences/{sentence['id']}/decision", content=json.dumps(record))
        answer.raise_for_status()
        return answer.json()["decision"]


def run(corpus, order, seed, options):
    """Yield decisions, seconds, corrections and F1."""
    rng = random.Random(seed)
    sentences = list({one.words: one for one in read(corpus / "dev.txt")}.values())
    dev = rng.sample(sentences, min(len(sentences), options.sentences))
    gold = {one.words: one for one in dev}
    others = (
        [one for one in sentences if one.words not in gold] if options.on == "dev" else list(read(corpus / "test.txt"))
    )
    test = random.Random(0).sample(others, min(len(others), options.test))
    types = read_types(corpus / "types.txt")
    n_first = len(types) if options.later is None else -(-len(types) // 2)
    with tempfile.TemporaryDirectory() as folder, Project(Path(folder) / "p.db") as project:
        project.add([Document.of(one.without_labels()) for one in dev], lambda: types[:n_first])
        session = Session(project, threads=options.threads)
        with serving(session) as client:
            person = Person(client, gold)
            ids = iter(rng.sample(sorted(session.mirror.entries), len(session.mirror.entries)))
            seconds = 0.0
            for n in range(options.decisions + 1):
                if n == options.later:
                    person.add(types[n_first:])
                person.wait_until_idle()
                if n % options.every == 0:
                    yield n, seconds, person.n_corrections, f1(session, test)
                if n == options.decisions:
                    return
                started = time.perf_counter()
                person.wait(person.decide(person.next(order, ids)), for_queue=order == "queue")
                seconds += time.perf_counter() - started


def f1(session, test):
    with session._at_work:
        found = session.learner.tagger.predict_sentences([one.without_labels() for one in test])
    return 100 * score(test, found).micro.f1


def taken_to(rows, level):
    """Return how many decisions, and seconds, it took until F1 was at a level for good; None if it never was."""
    below = [n for n, _, _, value in rows if value < level]
    after = [(n, seconds) for n, seconds, *_ in rows if not below or n > below[-1]]
    return after[0] if after else None


def levels(rows):
    """Return the F1 after all decisions, after half and after a quarter of them."""
    return [rows[(len(rows) - 1) // part][3] for part in (1, 2, 4)]


def plot(results, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(results), 2, figsize=(9, 3.2 * len(results)), squeeze=False, sharey="row")
    for row, (name, orders) in zip(axes, results.items(), strict=True):
        for order, colour in (("random", "#999999"), ("queue", "#1f77b4")):
            table = np.array(orders[order])  # (runs, checkpoints, 4)
            mean = table.mean(axis=0)
            for axis, column in zip(row, (0, 1), strict=True):
                axis.plot(
                    mean[:, column], mean[:, 3], color=colour, label=f"{order} order" if order == "random" else order
                )
                for one in table:
                    axis.plot(one[:, column], one[:, 3], color=colour, alpha=0.25, linewidth=0.8)
        row[0].set(title=name, xlabel="decisions", ylabel="F1")
        row[1].set(title=name, xlabel="seconds waited")
        row[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--decisions", type=int, default=60)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first-run", type=int, default=0, help="the number of the first run, for runs elsewhere")
    parser.add_argument("--sentences", type=int, default=600, help="of dev.txt to choose from")
    parser.add_argument("--later", type=int, help="decisions after which the second half of the types comes")
    parser.add_argument("--on", choices=("dev", "test"), default="dev", help="the file to measure on")
    parser.add_argument("--test", type=int, default=500, help="sentences to measure on")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--rows", type=Path, help="where all rows are kept, as JSON")
    parser.add_argument("--drawn", type=Path, help="such a file, to draw without running anything")
    options = parser.parse_args()
    if options.drawn:
        plot(json.loads(options.drawn.read_text()), options.plot)
        return
    results = {}
    for corpus in options.corpora:
        results[corpus.name] = {}
        for order in ("random", "queue"):
            runs = [
                list(run(corpus, order, seed, options))
                for seed in range(options.first_run, options.first_run + options.runs)
            ]
            results[corpus.name][order] = runs
            last = ", ".join(f"{one[-1][3]:.1f}" for one in runs)
            print(f"\n{corpus.name}, {order}: mean of {options.runs} runs")
            print("decisions  seconds  corrections     F1")
            for n, seconds, corrections, value in np.mean(runs, axis=0):
                print(f"{n:9.0f}  {seconds:7.1f}  {corrections:11.1f}  {value:5.1f}", flush=True)
            print(f"F1 of each run after the last decision: {last}", flush=True)
        random_runs, queue_runs = (np.mean(results[corpus.name][order], axis=0) for order in ("random", "queue"))
        print(f"\n{corpus.name}: decisions until mean F1 is at a level for good")
        print("    F1   random: decisions, seconds   queue: decisions, seconds")
        for level in levels(random_runs):
            needed = (taken_to(random_runs, level), taken_to(queue_runs, level))
            columns = ("never" if one is None else f"{one[0]:.0f}, {one[1]:.1f}" for one in needed)
            print("{:6.1f}   {:>26}   {:>25}".format(level, *columns), flush=True)
        if options.rows:
            options.rows.write_text(json.dumps(results))
        if options.plot:
            plot(results, options.plot)


if __name__ == "__main__":
    main()
