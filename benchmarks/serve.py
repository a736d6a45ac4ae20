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
from importlib.resources import as_file, files
from pathlib import Path

from measure import describe_machine

from handful import Tagger
from handful.text import read

CORPORA = Path(__file__).parents[1] / "corpora" / "mosaic" / "dev"
RUN = "from handful.cli import main; main()"
CLIENTS = (1, 8, 64)
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

    from handful.web._listening import listen

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
    """Return requests per second, and the median and the 99th percentile of their seconds."""
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
    return summary(times, time.perf_counter() - started)


def summary(times, seconds):
    times.sort()
    return len(times) / seconds, times[len(times) // 2], times[min(len(times) - 1, int(0.99 * len(times)))]


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
    return summary(times, time.perf_counter() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure")
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
        rate, median, p99 = json.loads(
            subprocess.run(alone, env=environment, stdout=subprocess.PIPE, check=True).stdout
        )
        print(f"{'':<16}{'clients':>8}{'requests/s':>12}{'median':>10}{'p99':>10}{'/ bare':>9}{'/ naive':>9}")
        print(f"{'bare model':<16}{'-':>8}{rate:>12.1f}{1000 * median:>7.1f} ms{1000 * p99:>7.1f} ms{1:>9.2f}{'':>9}")
        commands = {
            "naive server": [sys.executable, __file__, "--naive", str(model), *threads],
            "handful serve": [sys.executable, "-c", RUN, "serve", str(model), "--port", "0", "-q", *threads],
        }
        rates = {}
        for name, command in commands.items():
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
                port = int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])
                asyncio.run(load(port, texts, 1, 0.5))
                for n_clients in CLIENTS:
                    found = asyncio.run(load(port, texts, n_clients, options.seconds))
                    rates[name, n_clients] = found[0]
                    times = "".join(f"{1000 * one:>7.1f} ms" for one in found[1:])
                    over = found[0] / rates["naive server", n_clients]
                    print(
                        f"{name:<16}{n_clients:>8}{found[0]:>12.1f}{times}{found[0] / rate:>9.2f}{over:>9.2f}",
                        flush=True,
                    )
                process.terminate()


if __name__ == "__main__":
    main()
