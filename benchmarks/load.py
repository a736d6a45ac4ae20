"""Memory under load: the servers at 64 clients for ten minutes, and ten million words through a pipe.

    python benchmarks/load.py [--only serve] [--clients 64] [--seconds 600] [--words 10000000]

`serve`: each client sends one sentence after the other, all of them different; one in 20 opens a new connection, one in
50 is malformed. `workbench`: each client looks at the state, the queue, a sentence or the mentions, and one request in
ten is a decision, to which the tagger is fitted again; eight clients listen to events. Both use handful-en.
`predict`: lines into `handful predict MODEL -`, all of them different, with a very small made encoder, so that many
words pass in little time. `predict-real`: the same with handful-en, for as many words as --real-seconds allow.

Memory is what the process holds in RAM (RSS), less what it has mapped from files: at the start, after a sixth of the
time (warm), at the end, and the most. The slope is that of a line through the second half.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from importlib.resources import as_file, files
from pathlib import Path

import made
import numpy as np
from measure import describe_machine

TOKEN = "a-token-for-trials"


class Memory:
    """The memory of a process, looked at twice a second."""

    def __init__(self, pid):
        self.pid, self.seen, self.done = pid, [], threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.done.set()
        self.thread.join()

    def watch(self):
        """Look until it is over."""
        while not self.done.wait(0.5):
            try:
                lines = Path(f"/proc/{self.pid}/status").read_text().split("\n")
            except OSError:
                return
            kib = next((int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)
            if kib:
                self.seen.append((time.monotonic(), kib / 1024))

    def __str__(self):
        times, sizes = np.array(self.seen).T
        half = times >= (times[0] + times[-1]) / 2
        slope = 60 * np.polyfit(times[half], sizes[half], 1)[0]
        warm = sizes[np.searchsorted(times, times[0] + (times[-1] - times[0]) / 6)]
        return (
            f"{sizes[0]:,.0f} MiB at the start, {warm:,.0f} warm, {sizes[-1]:,.0f} at the end, "
            f"{sizes.max():,.0f} at most; {slope:+.2f} MiB a minute in the second half"
        )


def command(*arguments):
    """Return how a command is started."""
    return [sys.executable, "-u", "-m", "handful", *map(str, arguments)]


class Client:
    """One connection, which is opened again when it is lost."""

    def __init__(self, port):
        self.port, self.writer = port, None

    async def ask(self, method, path, body=b""):
        """Return the status and the content of an answer."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Handful-Token: {TOKEN}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.partition(b"content-length:")[2].split(b"\r\n")[0])
        content = await self.reader.readexactly(length)
        if b"connection: close" in answer:
            self.close()
        return int(answer.split()[1]), content

    def close(self):
        """Close the connection."""
        if self.writer is not None:
            self.writer.close()
        self.writer = None


async def predictions(client, number, end, times, counts):
    """Send sentences to `handful serve`."""
    rng = random.Random(number)
    lines = [made.line(one) for one in made.sentences(200, seed=number)]
    for i in itertools.count():
        if time.monotonic() > end:
            return
        is_bad = rng.random() < 0.02
        text = f"{rng.choice(lines)} {number} {i}"
        started = time.perf_counter()
        status, _ = await client.ask(
            "POST", "/predict", b'{"text": ' if is_bad else json.dumps({"text": text}).encode()
        )
        counts[status] = counts.get(status, 0) + 1
        if status == 200:
            times.append(time.perf_counter() - started)
        if rng.random() < 0.05:
            client.close()


async def labels(client, number, end, times, counts):
    """Look at sentences in the workbench, and decide on some."""
    rng = random.Random(number)
    if number % 8 == 0:
        await listen(client.port, end)
        return
    while time.monotonic() < end:
        id = rng.randint(1, 200)
        path = rng.choice(
            ["/api/state", "/api/queue?mode=teach&n=5", f"/api/sentences/{id}", "/api/mentions?type=PEST&n=50"]
        )
        method, body = "GET", b""
        if rng.random() < 0.1:
            _, content = await client.ask("GET", f"/api/sentences/{id}")
            kind = rng.choice(["PEST", "TOOL", None])
            record = {"version": json.loads(content)["version"], "action": "label" if kind else "nothing"}
            record["labels"] = [{"start": 0, "end": 1, "type": kind}] if kind else []
            method, path, body = "POST", f"/api/sentences/{id}/decision", json.dumps(record).encode()
        started = time.perf_counter()
        status, _ = await client.ask(method, path, body)
        times.append(time.perf_counter() - started)
        kind = f"{status} to a decision" if body else str(status)
        counts[kind] = counts.get(kind, 0) + 1
        await asyncio.sleep(rng.uniform(0, 0.1))


async def listen(port, end):
    """Read events, over a new connection now and then."""
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nX-Handful-Token: {TOKEN}\r\n\r\n".encode())
        until = min(end, time.monotonic() + 30)
        while (left := until - time.monotonic()) > 0:
            try:
                if not await asyncio.wait_for(reader.read(1 << 16), left):
                    break
            except TimeoutError:
                break
        writer.close()


def load(name, arguments, behaviour, options):
    """Start a server, put it under load, and print what it took."""
    environment = os.environ | {"HANDFUL_TOKEN": TOKEN}
    with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address = next(line for line in process.stdout if line.startswith("http"))
            port = int(address.partition("//")[2].partition("/")[0].rpartition(":")[2])
            times, counts = [], {}

            async def everybody():
                end = time.monotonic() + options.seconds
                clients = [behaviour(Client(port), i, end, times, counts) for i in range(options.clients)]
                await asyncio.gather(*clients)

            with Memory(process.pid) as memory:
                asyncio.run(everybody())
        finally:
            process.terminate()
    middle, late = (1000 * np.quantile(times, share) for share in (0.5, 0.99))
    print(f"{name}: {options.clients} clients, {options.seconds:.0f} s; answers: {counts}")
    print(f"    {len(times) / options.seconds:.0f} requests/s; median {middle:.0f} ms, p99 {late:.0f} ms")
    print(f"    memory {memory}", flush=True)


def through_a_pipe(name, model, n_words, seconds):
    """Let words pass through `handful predict`, up to a number or for a time."""
    arguments = command("predict", model, "-", "--to", "jsonl", "-q")
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        started, sent = time.monotonic(), [0]

        def send():
            lines = [(made.line(one), len(one) + 1) for one in made.sentences(20_000)]
            for number, (text, n) in enumerate(itertools.cycle(lines)):
                if sent[0] >= n_words or time.monotonic() > started + seconds:
                    break
                process.stdin.write(f"{text} {number}\n".encode())
                sent[0] += n
            process.stdin.close()

        with Memory(process.pid) as memory:
            writer = threading.Thread(target=send)
            writer.start()
            n_lines = n_entities = 0
            for line in process.stdout:
                n_lines += 1
                n_entities += line.count(b"entity_group")
            writer.join()
        spent = time.monotonic() - started
    assert process.returncode == 0
    print(f"{name}: {sent[0]:,} words in {spent:,.0f} s, {sent[0] / spent:,.0f} words/s")
    print(f"    {n_lines:,} lines, {n_entities:,} mentions")
    print(f"    memory {memory}", flush=True)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("serve", "workbench", "predict", "predict-real"), action="append")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=600.0, help="of each server")
    parser.add_argument("--words", type=float, default=1e7)
    parser.add_argument("--real-seconds", type=float, default=300.0)
    options = parser.parse_args(given)
    asked = options.only or ("serve", "workbench", "predict", "predict-real")
    from handful import Tagger

    print(describe_machine())
    with tempfile.TemporaryDirectory() as folder, as_file(files("handful") / "examples") as garden:
        place = Path(folder)
        os.environ["HANDFUL_CACHE"] = str(place / "cache")
        if set(asked) & {"serve", "predict-real"}:
            Tagger(cache=False).fit(garden / "support.txt", progress=False).save(place / "model")
        if "serve" in asked:
            load("serve", ("serve", place / "model", "--port", "0", "-q"), predictions, options)
        if "workbench" in asked:
            text = "".join(f"{made.line(one)}\n" for one in made.sentences(400))
            (place / "text.txt").write_text(text + (garden / "unlabelled.txt").read_text(encoding="utf-8")[:40_000])
            types = ("--types", "PEST, TOOL")
            load("workbench", ("label", place / "text.txt", *types, "--no-browser", "--port", "0"), labels, options)
        if "predict" in asked:
            made.write_texts(place / "given", 2000)
            encoder = made.make_encoder(place / "encoder")
            tagger = Tagger(encoder=str(encoder), cache=False).fit(str(place / "given" / "few.txt"), progress=False)
            tagger.save(place / "small")
            through_a_pipe("predict", place / "small", options.words, 3600)
        if "predict-real" in asked:
            through_a_pipe("predict-real", place / "model", options.words, options.real_seconds)


if __name__ == "__main__":
    main()
