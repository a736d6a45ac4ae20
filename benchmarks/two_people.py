"""Two scripted people at one workbench, and whether a decision is lost, doubled, or made without sight of the last one.

    python benchmarks/two_people.py CORPUS [--minutes 10] [--both 0.1] [--pause 0.1]

A corpus is a folder with dev.txt and types.txt. Both work through the HTTP interface that the page uses, at the same
time and as fast as they can but for a pause of random length. They take the sentence that the queue gives them, and
decide on all of it or mark one mention, now and then with a mistake. They leave sentences, undo, redo, change what was
decided before, try to decide on what the other one has on the page or on an old version, and settle answers that
differ.

Afterwards the file is compared with what the server had confirmed to each of them:

- lost: a decision that was confirmed, but is not in the log with its author, its sentence and its labels;
- doubled: a decision in the log that was not confirmed, or is there twice;
- blind: a decision that was not based on the last entry about its sentence that its author could see;
- taken back: an undo that takes back anything else than what its author has decided on the sentence, and nobody since;
- at once: a sentence that both had at the same time, though it was open and not given to both;
- wrong: a sentence whose label in the file is not that of its last decision.

It needs the package with its extra `web`, and httpx. It needs no browser.
"""

import argparse
import random
import secrets
import sqlite3
import statistics
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
from measure import describe_machine

from handful.text import Document, read, read_types
from handful.text.projects import State, states
from handful.web.connection import Server
from handful.web.server import listen
from handful.workbench import People, Project, Session, agreement
from handful.workbench._server import LIMITS, make_server

NAMES = ("anna", "ben")
STATUS = {"label": "labelled", "nothing": "none", "unsure": "unsure", "skip": "skipped"}


@contextmanager
def serving(session):
    """Serve a session, and give the address."""
    with listen("127.0.0.1", 0, 0) as listening, session:
        tokens = session.people.tokens(secrets.token_urlsafe())
        server = Server(make_server(session, tokens, frozenset({"localhost"})), LIMITS)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", tokens
        finally:
            session.stop()
            server.should_exit = True
            thread.join()


class Person(threading.Thread):
    """Someone who knows the right labels, and makes mistakes."""

    def __init__(self, name, url, token, gold, seed, options):
        super().__init__()
        self.name, self.gold, self.options = name, gold, options
        self.rng = random.Random(seed)
        self.client = httpx.Client(base_url=url, headers={"X-Handful-Token": token}, timeout=60, trust_env=False)
        self.confirmed = []  # (log entry, sentence, version it was based on, labels or None)
        self.held = []  # (sentence, when it was taken, when it was decided or left)
        self.seconds = []  # of each request
        self.n_undone = self.n_refused = self.n_settled = 0
        self.page = None  # the sentence on it, and since when
        self.other = None
        self.problem = None

    def run(self):
        """Work, and keep a problem for those who started it."""
        try:
            self.work(time.monotonic() + 60 * self.options.minutes)
        except Exception as error:
            self.problem = error

    def work(self, end):
        """Do one thing after the other until the time is over."""
        with self.client.stream("GET", "/api/events"):  # as an open page
            while time.monotonic() < end:
                kind = self.rng.choices(
                    (self.next, self.cross, self.reverse, self.settle, self.browse), (74, 10, 8, 4, 4)
                )[0]
                kind()
                time.sleep(self.rng.uniform(0, 2 * self.options.pause))

    def ask(self, method, path, **given):
        """Return an answer, None where it is a refusal."""
        started = time.perf_counter()
        answer = self.client.request(method, path, **given)
        self.seconds.append(time.perf_counter() - started)
        if answer.status_code == 409:
            self.n_refused += 1
            return None
        answer.raise_for_status()
        return answer.json()

    def queue(self, **given):
        """Return sentences."""
        return self.ask("GET", "/api/queue", params={"n": 12, **given})["sentences"]

    def take(self, id):
        """Put a sentence on the page; return it if it is free."""
        left = self.page[0]["id"] if self.page else 0
        self.leave()
        found = self.ask("POST", f"/api/sentences/{id}/take", json={"leave": left})
        if found["held"] is None:
            self.page = found, time.monotonic()
        return None if found["held"] else found

    def leave(self):
        """Keep how long the sentence on the page was there, if it was to be decided."""
        if self.page is not None:
            found, since = self.page
            if found["status"] in ("new", "partial", "disputed"):
                self.held.append((found["id"], since, time.monotonic()))
            self.page = None

    def decide(self, found, action, labels=()):
        """Decide on a sentence, and keep what is confirmed."""
        record = {"version": found["version"], "action": action, "labels": list(labels)}
        if self.page is not None and self.page[0]["id"] == found["id"]:
            self.leave()  # before it is sent, because the other one may have it before the answer is here
        answer = self.ask("POST", f"/api/sentences/{found['id']}/decision", json=record)
        if answer is not None:
            spans = sorted((one["start"], one["end"], one["type"]) for one in labels)
            status = "none" if action == "label" and not spans else STATUS[action]
            self.confirmed.append((answer["decision"], found["id"], found["version"], (status, spans)))

    def answer(self, found):
        """Decide on all of a sentence: rightly, or with a mistake."""
        labels = [
            {"start": span.start, "end": span.end, "type": span.type} for span in self.gold[tuple(found["words"])]
        ]
        luck = self.rng.random()
        if luck < 0.1 and labels:
            labels.pop(self.rng.randrange(len(labels)))
        elif luck < 0.15:
            return self.decide(found, self.rng.choice(["unsure", "skip"]))
        return self.decide(found, "label" if labels else "nothing", labels)

    def next(self):
        """Take what the queue gives, and decide on all of it or on a mention; or leave it."""
        for one in self.queue(mode="teach"):
            if (found := self.take(one["id"])) is not None:
                break
        else:
            return
        gold = self.gold[tuple(found["words"])]
        luck = self.rng.random()
        if luck < 0.15 and gold and found["status"] == "new":
            span = self.rng.choice(gold)
            mention = {"sentence": found["id"], "start": span.start, "end": span.end, "version": found["version"]}
            answer = self.ask("POST", "/api/mentions/review", json={"type": span.type, "accept": [mention]})
            if answer["accepted"]:
                self.confirmed.append((answer["decision"], found["id"], found["version"], None))
                found = self.ask("GET", f"/api/sentences/{found['id']}")
            else:
                self.n_refused += 1
        elif luck < 0.2:
            return
        time.sleep(self.rng.uniform(0, self.options.pause))
        self.answer(found)

    def cross(self):
        """Decide on what the other one has on the page, or on a version that is no longer there."""
        page = self.other.page
        if page is not None and self.rng.random() < 0.7:
            return self.decide(page[0], "nothing")
        listed = self.queue(mode="order", part="decided", after=self.rng.randrange(len(self.gold)))
        if listed:
            self.decide({**listed[0], "version": self.rng.randrange(listed[0]["version"])}, "nothing")

    def browse(self):
        """Change a sentence that is decided already, as it stands now."""
        listed = self.queue(mode="order", part="decided", after=self.rng.randrange(len(self.gold)))
        if listed:
            self.answer(self.ask("GET", f"/api/sentences/{listed[0]['id']}"))

    def reverse(self):
        """Undo or redo some steps."""
        way = self.rng.choice(["undo", "undo", "redo"])
        self.n_undone += self.ask("POST", f"/api/{way}", json={"n": self.rng.randint(1, 3)})[f"{way}ne"]

    def settle(self):
        """Settle a sentence on which the two differ."""
        for one in self.queue(mode="order", part="disputed"):
            if (found := self.take(one["id"])) is not None and found["status"] == "disputed":
                self.n_settled += 1
                return self.answer(found)


def check(path, people, session):
    """Compare the file with what was confirmed; return how often each thing went wrong."""
    wrong = dict.fromkeys(("lost", "doubled", "blind", "taken back", "at once", "wrong"), 0)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT seq, step, author, action, subject, person, undoes, before, after FROM log "
            "WHERE subject > 0 ORDER BY seq"
        ).fetchall()
        found = states(connection)
    steps, last, visible = {}, {}, {}
    effective = {}  # by sentence, the steps that were not undone
    for seq, step, author, action, subject, person, undoes, before, after in rows:
        steps_here = effective.setdefault((subject, person), [])
        if action == "undo":
            wrong["taken back"] += steps_here[-1:] != [(undoes, author)]
            steps_here[:] = [one for one in steps_here if one[0] != undoes]
        else:
            steps_here.append((undoes if action == "redo" else step, author))
        wrong["wrong"] += last.get((subject, person)) != before
        known = max(visible.get((subject, None), 0), visible.get((subject, author), 0))
        steps.setdefault(step, []).append((seq, author, action, subject, person, after, known))
        last[subject, person] = after
        visible[subject, person] = seq
    by_last = {entries[-1][0]: entries for entries in steps.values() if entries[0][2] not in ("undo", "redo")}
    confirmed = set()
    for one in people:
        for decision, id, version, sent in one.confirmed:
            entries = by_last.get(decision)
            is_other = entries is None or entries[0][1] != one.name or entries[0][3] != id
            if is_other or decision <= version:  # it changed nothing, so it has no entry
                wrong["lost"] += sent != seen(rows, one.name, id, decision)
                continue
            wrong["doubled"] += decision in confirmed
            confirmed.add(decision)
            wrong["lost"] += sent is not None and sent != plain(entries[0][5])
            wrong["blind"] += entries[0][6] != version
    wrong["doubled"] += len(set(by_last) - confirmed)
    for subject, (_, state) in found.items():
        wrong["wrong"] += State.parse(last[subject, None]) != state or session.mirror.state(subject)[1] != state
    for id, since, until in people[0].held:
        if not session.people.is_for_two(id):
            wrong["at once"] += any(id == other and since < b and a < until for other, a, b in people[1].held)
    return wrong, rows


def plain(written):
    """Return status and mentions of a state."""
    state = State.parse(written)
    return state.status, [(span.start, span.end, span.type) for span in state.spans]


def seen(rows, name, id, last):
    """Return what somebody could see of a sentence after a log entry: what counts, else their own answer."""
    known = {row[5]: row[-1] for row in rows if row[4] == id and row[0] <= last}
    what_counts = plain(known.get(None))
    return plain(known.get(name)) if what_counts[0] == "new" else what_counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--both", type=float, default=0.1, help="the share of sentences that both decide")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between two things, in the mean")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    sentences = list({one.words: one for one in read(options.corpus / "dev.txt")}.values())
    gold = {one.words: one.spans or () for one in sentences}
    with tempfile.TemporaryDirectory() as folder, Project(Path(folder) / "p.db") as project:
        project.add(
            [Document.of(one.without_labels()) for one in sentences], lambda: read_types(options.corpus / "types.txt")
        )
        session = Session(project, threads=options.threads, people=People(NAMES, options.both))
        with serving(session) as (url, tokens):
            people = [Person(name, url, tokens[name], gold, seed, options) for seed, name in enumerate(NAMES)]
            for one, other in zip(people, people[::-1], strict=True):
                one.other = other
                one.start()
            for one in people:
                one.join()
            number = session.number
        for one in people:
            if one.problem is not None:
                raise one.problem
        wrong, rows = check(project.path, people, session)
        counts = session.mirror.count_statuses()
        found = agreement(project.path)
    print(describe_machine())
    print(f"{options.corpus.name}: {len(gold):,} sentences, {options.minutes:g} minutes, {number:,} fits")
    for one in people:
        quantiles = statistics.quantiles(one.seconds, n=100)
        done = f"{len(one.confirmed):,} decisions, {one.n_refused:,} refusals, {one.n_undone:,} undone or redone"
        waited = f"median {1000 * quantiles[49]:.0f} ms, 99% within {1000 * quantiles[98]:.0f} ms"
        print(f"{one.name}: {done}, {one.n_settled:,} settled; {len(one.seconds):,} requests, {waited}")
    left = f"{counts['disputed']:,} to settle, {counts['waiting']:,} wait for an answer"
    print(f"the file: {len(rows):,} entries; {counts['decided']:,} sentences decided, {left}")
    for one in found:
        print(f"agreement: {one.n_sentences:,} sentences, F1 {one.f1:.3f}, kappa {one.kappa:.3f}")
    print(", ".join(f"{what}: {n}" for what, n in wrong.items()))
    raise SystemExit(any(wrong.values()))


if __name__ == "__main__":
    main()
