"""The server at 1, 8 and 64 clients, beside the bare model and a naive server, in the same run.

    python benchmarks/serve.py

Each client sends one sentence of corpora/mosaic/dev, waits for the answer, and sends the next. The bare model is
`Tagger.predict` in a loop, one sentence at a time, in a process of its own. The naive server has the same HTTP
parts (Starlette, uvicorn) and calls `predict` for each request, one after the other. Ratios are to the bare model and
to the naive server. Clients are one process, whose own time is part of what is measured.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path

from measure import describe_machine

from handful import Tagger
from handful.text import read

CORPORA = Path(__file__).parents[1] / "corpora" / "mosaic" / "dev"
RUN = "from handful.cli import main; main()"
CLIENTS = (1, 8, 64)
NAMES = ("bare model", "naive server", "handful serve")
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def sentences(n):
    found = []
    for file in sorted(CORPORA.glob("*.txt")):
        found += [sentence.text for sentence in read(file) if 5 <= len(sentence.words) <= 40][: n // 8 + 1]
    return found[:n]


def naive(model, port, threads):
    """Serve a model as one does at first: predict in the handler."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from handful.web.server import listen

    tagger = Tagger.load(model, threads=threads, cache=False)
    tagger.predict("One sentence, to be ready.")

    async def predict(request):
        given = await request.json()
        return JSONResponse({"entities": tagger.predict(given["text"])})

    app = Starlette(routes=[Route("/predict", predict, methods=["POST"])])
    listening = listen("127.0.0.1", port, 0)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listening])


async def client(port, bodies, times):
    """Send bodies until there are none left, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for body in bodies:
        started = time.perf_counter()
        writer.write(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        lengths = [line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(int(lengths[0].partition(b":")[2]))
        times.append(time.perf_counter() - started)
    writer.close()


async def load(port, texts, n_clients, seconds):
    """Return the seconds of each request, and those of all."""
    bodies = [json.dumps({"text": text}).encode() for text in texts]
    end = time.perf_counter() + seconds

    def until_the_end(first):
        number = first
        while time.perf_counter() < end:
            yield bodies[number % len(bodies)]
            number += n_clients

    times = []
    started = time.perf_counter()
    await asyncio.gather(*(client(port, until_the_end(i), times) for i in range(n_clients)))
    return times, time.perf_counter() - started


def bare(model, texts, threads, seconds):
    """Return the same for the model alone."""
    tagger = Tagger.load(model, threads=threads, cache=False)
    tagger.predict(texts[0])
    times, started, number = [], time.perf_counter(), 0
    while time.perf_counter() < started + seconds:
        begun = time.perf_counter()
        tagger.predict(texts[number % len(texts)])
        times.append(time.perf_counter() - begun)
        number += 1
    return times, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None, help="of the encoder")
    parser.add_argument("--naive", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.naive is not None:
        naive(options.naive, 0, options.threads)
        return
    if options.bare is not None:
        print(json.dumps(bare(options.bare, sentences(400), options.threads, options.seconds)))
        return
    texts = sentences(400)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        with as_file(files("handful") / "examples" / "support.txt") as support:
            Tagger(cache=False).fit(support, progress=False).save(model)
        print(describe_machine())
        print(f"{len(texts)} sentences, {sum(len(text.split()) for text in texts) / len(texts):.0f} words on average")
        environment = {key: value for key, value in os.environ.items() if key != "HANDFUL_TOKEN"}
        threads = [] if options.threads is None else ["--threads", str(options.threads)]
        if threads:  # of matrices, too, as handful serve does
            environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads[1])
        alone = [sys.executable, __file__, "--bare", str(model), "--seconds", str(options.seconds), *threads]
        commands = {
            "naive server": [sys.executable, __file__, "--naive", str(model), *threads],
            "handful serve": [sys.executable, "-c", RUN, "serve", str(model), "--port", "0", "-q", *threads],
        }
        found = {}
        with ExitStack() as stack:
            ports = {}
            for name, command in commands.items():
                process = stack.enter_context(
                    subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
                )
                stack.callback(process.terminate)
                ports[name] = int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])
                asyncio.run(load(ports[name], texts, 1, 0.5))
            for _ in range(options.rounds):  # in turns, so that other work on the machine disturbs all alike
                output = subprocess.run(alone, env=environment, stdout=subprocess.PIPE, check=True).stdout
                found.setdefault(("bare model", "-"), []).append(json.loads(output))
                for n_clients in CLIENTS:
                    for name, port in ports.items():
                        times = asyncio.run(load(port, texts, n_clients, options.seconds))
                        found.setdefault((name, n_clients), []).append(times)
        report(found)


def report(found):
    rates = {key: sum(len(times) for times, _ in rounds) / sum(s for _, s in rounds) for key, rounds in found.items()}
    print(f"{'':<16}{'clients':>8}{'requests/s':>12}{'median':>11}{'p99':>11}{'/ bare':>9}{'/ naive':>9}")
    for (name, n_clients), rounds in sorted(found.items(), key=lambda item: NAMES.index(item[0][0])):
        times = sorted(one for times, _ in rounds for one in times)
        middle, late = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
        rate = rates[name, n_clients]
        over = f"{rate / rates['naive server', n_clients]:>9.2f}" if n_clients != "-" else ""
        bare_rate = rates["bare model", "-"]
        print(f"{name:<16}{n_clients:>8}{rate:>12.1f}{middle:>8.1f} ms{late:>8.1f} ms{rate / bare_rate:>9.2f}{over}")


if __name__ == "__main__":
    main()
