"""How long a large corpus takes to open: `handful label` as a process, from its start to what a page shows.

    python benchmarks/workbench_open.py TEXT TYPES [--sentences 100000]

The text may be .gz; it is repeated, with a number in each sentence, if it is shorter than asked for. Rows: the first
start, which brings the text into a project, and the second one, which opens the project. Columns: seconds from the
start of the process until the server listens, until a page has its first sentences, and until they have predictions.
Features are not kept on disk, so the second start encodes again, too.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
from measure import describe_machine

from handful.text import stream


def start(arguments):
    """Start the workbench; return the seconds until it listens, has sentences, and has predictions for them."""
    began = time.perf_counter()
    command = [sys.executable, "-u", "-m", "handful", "label", *arguments, "--no-browser", "--no-cache", "--port", "0"]
    times = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = next(line for line in process.stdout if line.startswith("http"))
            times.append(time.perf_counter() - began)
            url = urlsplit(address.strip())
            headers = {"X-Handful-Token": parse_qs(url.query)["token"][0]}
            with httpx.Client(base_url=f"http://{url.netloc}", headers=headers, timeout=600, trust_env=False) as client:
                ids = [one["id"] for one in ask(client)]
                times.append(time.perf_counter() - began)
                while any(one["predictions"] is None for one in ask(client, ids)):
                    time.sleep(0.05)
                times.append(time.perf_counter() - began)
        finally:
            process.terminate()
    return times


def ask(client, ids=None):
    """Return the sentences of the queue, or some of them again."""
    if ids is None:
        return client.get("/api/queue", params={"mode": "teach", "n": 12}).json()["sentences"]
    return [client.get(f"/api/sentences/{id}").json() for id in ids]


def write_corpus(text, n, path):
    """Write n sentences of a text, repeated with a number in each where it has fewer; return the file."""
    with stream(text, unlabelled=True) as documents, path.open("w", encoding="utf-8") as out:
        found = itertools.islice((one for document in documents for one in document.sentences), n)
        texts = [" ".join(one.text.split()) for one in found]
        for i in range(n):
            again = f" {i // len(texts)}" if i >= len(texts) else ""
            out.write(f"{texts[i % len(texts)]}{again}\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("types")
    parser.add_argument("--sentences", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = write_corpus(options.text, options.sentences, Path(folder) / "corpus.txt")
        print(f"{describe_machine()}; {options.sentences:,} sentences, {corpus.stat().st_size / 1e6:.1f} MB")
        print("              listens, s  sentences, s  predictions, s")
        for name, arguments in (("first start", [str(corpus)]), ("second start", [str(corpus.with_suffix(".db"))])):
            seconds = start([*arguments, "--types", options.types])
            print(f"{name:12}  {seconds[0]:10.1f}  {seconds[1]:12.1f}  {seconds[2]:14.1f}", flush=True)


if __name__ == "__main__":
    main()
