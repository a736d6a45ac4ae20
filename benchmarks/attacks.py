"""Try what strangers can do to the servers, and ask for ``/health`` all the while.

    python benchmarks/attacks.py            # serve, then label; each attack for 3 seconds

A server with few descriptors is started for each attack. A row of the table has the answers of ``/health`` during one
attack: how many, the median and the slowest of their times, and the share of those within 0.1 seconds. ``nothing`` is
the same without an attack. A process of its own asks, ``attacks_prober.py``. It says where the time of an answer went:
how long the connection took (one second, if the system had no room for it and it was tried again), how long the asker
waited for a processor itself, how long the server did, and how long the server worked. The table has that for the
slowest answer; answers that took longer than 0.1 seconds are written to standard error.
"""

import argparse
import contextlib
import gzip
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

TOKEN = "a-token-of-the-attacks"
CLIENT = httpx.Client(
    timeout=60, trust_env=False, verify=False
)  # one: to make it takes 0.1 s, for which nobody is asked
MOST = 0.1  # seconds that /health may take
CONFIG = '<View><Labels name="a" toName="t"><Label value="pest"/></Labels><Text name="t" value="$text"/></View>'


def raw(place, data, wait=0.0):
    """Send bytes, and return the first line of the answer; without one, how the connection ended."""
    try:
        with socket.create_connection(place, timeout=20) as connection:
            connection.sendall(data)
            time.sleep(wait)
            return connection.recv(100).split(b"\r\n")[0].decode("latin-1") or "closed"
    except OSError as error:
        return type(error).__name__


def nothing(place):
    """Do nothing: so long takes an answer on this machine."""
    time.sleep(0.5)
    return ""


def cookie(place):
    return raw(place, b'GET /info HTTP/1.1\r\nHost: localhost\r\nCookie: a="' + rb"\1" * 30_000 + b'"\r\n\r\n')


def small_cookie(place):
    return raw(place, b'GET /info HTTP/1.1\r\nHost: localhost\r\nCookie: a="' + rb"\1" * 7_500 + b'"\r\n\r\n')


def many_headers(place):
    """Send as many headers as the limit allows."""
    return raw(place, b"GET /info HTTP/1.1\r\nHost: localhost\r\n" + b"a:\r\n" * 4_000 + b"\r\n")


def small_chunks(place):
    """Send a body without the token, in the smallest chunks there are."""
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return raw(place, head + b"1\r\na\r\n" * 40_000)


def half_headers(place):
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            with contextlib.suppress(OSError):
                one = stack.enter_context(socket.create_connection(place, timeout=5))
                one.sendall(b"GET / HTTP/1.1\r\nX: ")
        time.sleep(1)
    return "held by 300 sockets"


def slow_bodies(place):
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_connection(place, timeout=5)).sendall(head.encode())
        time.sleep(1)
    return "held by 40 sockets"


def post(place, path, record):
    url = f"http://{place[0]}:{place[1]}{path}"
    answer = CLIENT.post(url, json=record, headers={"X-Handful-Token": TOKEN})
    return f"{answer.status_code} {answer.json().get('error', {}).get('what', '')[:60]}".strip()


def comments(place):
    return post(place, "/label-studio/setup", {"project": "1", "schema": "<!--" * 25_000})


def long_text(place):
    return post(place, "/predict", {"text": "Slugs ate the lettuce. " * 20_000})


def short_sentences(place):
    """Send as many sentences as fit into a request."""
    return post(place, "/predict", {"text": "A! " * 330_000})


def long_sentence(place):
    """Send as many words as fit into a request, in one sentence."""
    return post(place, "/predict", {"text": "slugs " * 170_000})


def known_words(place):
    return post(place, "/predict", {"text": "slugs ate " * 4_000})


def many_texts(place):
    return post(place, "/predict", {"texts": ["Slugs ate the lettuce."] * 1_000})


def deep(place):
    body = b'{"text": ' + b"[" * 900_000
    headers = {"X-Handful-Token": TOKEN, "Content-Type": "application/json"}
    url = f"http://{place[0]}:{place[1]}/predict"
    return str(CLIENT.post(url, content=body, headers=headers).status_code)


def tasks(place):
    many = [{"id": i, "data": {"text": "Slugs ate the lettuce."}} for i in range(3_000)]
    return post(place, "/label-studio/predict", {"project": "1", "label_config": CONFIG, "tasks": many})


def projects(place):
    config = CONFIG.replace('value="pest"', 'value="pest"/><Label value="tool"')
    record = {"label_config": config, "tasks": [{"id": 1, "data": {"text": "Slugs ate the lettuce."}}]}
    return [post(place, "/label-studio/predict", record | {"project": str(i)}) for i in range(3)][-1]


def bomb(place):
    body = gzip.compress(b"a word and more\n" * 7_000_000, 9)
    headers = {"X-Handful-Token": TOKEN, "Content-Type": "application/octet-stream"}
    url = f"http://{place[0]}:{place[1]}/api/import"
    answer = CLIENT.post(url, content=body, headers=headers)
    return f"{answer.status_code} {answer.json().get('error', {}).get('what', '')[:60]}".strip()


def numbers(place):
    return raw(place, f"GET /api/queue?n=--5 HTTP/1.1\r\nHost: localhost\r\nX-Handful-Token: {TOKEN}\r\n\r\n".encode())


ATTACKS = {
    "serve": [
        nothing,
        cookie,
        small_cookie,
        many_headers,
        small_chunks,
        half_headers,
        slow_bodies,
        deep,
        long_text,
        short_sentences,
        long_sentence,
        known_words,
        many_texts,
        comments,
        tasks,
        projects,
    ],
    "label": [nothing, cookie, small_cookie, many_headers, small_chunks, half_headers, numbers, bomb],
}


def fit_status(port):
    headers = {"X-Handful-Token": TOKEN}
    state = CLIENT.get(f"http://127.0.0.1:{port}/api/state", headers=headers).json()
    return state["fit"]["status"] if state["fit"]["number"] > 1 else "not yet"


@contextlib.contextmanager
def server(command, folder):
    """Start a server with few descriptors, and give its place and its process."""
    (folder / "text.txt").write_text("Slugs ate the lettuce.\n")
    (folder / "types.txt").write_text("pest\n  words: slugs, slugs ate\n  words: /(?:[a-z]?){15}!/\n")
    arguments = ["serve", "--types", "types.txt", "--label-studio", str(folder / "annotations.db")]
    if command == "label":
        arguments = ["label", "text.txt", "--types", "pest", "--no-browser", "--project", str(folder / "p.db")]
    arguments = [sys.executable, "-u", "-m", "handful", *arguments, "--port", "0"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))  # noqa: E731
    environment = os.environ | {"HANDFUL_TOKEN": TOKEN}
    with subprocess.Popen(
        arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limit
    ) as process:
        try:
            port = int(process.stdout.readline().decode().split(":")[2].split("/")[0])
            while command == "label" and fit_status(port) != "idle":  # imports of a first fit are not part of an attack
                time.sleep(0.2)
            yield ("127.0.0.1", port), process.pid
        finally:
            process.kill()


def try_one(place, pid, attack, seconds):
    """Repeat an attack for some seconds; return what became of /health each time, and the answers to it."""
    answers = Counter()
    command = [sys.executable, Path(__file__).with_name("attacks_prober.py"), str(place[1]), str(pid)]
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said) as prober:  # it ends with its standard input
            time.sleep(0.2)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                answers[attack(place)] += 1
            prober.stdin.close()
        said.seek(0)
        return [json.loads(line) for line in said], answers


def parts(one):
    """Return where the time of an answer went, in milliseconds."""
    return ", ".join(f"{name} {1e3 * (one[name] or 0):.0f}" for name in ("connected", "asker", "queued", "worked"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", action="append", metavar="NAME", help="only this attack; may be given again")
    given = parser.parse_args()
    rows = []
    for command, attacks in ATTACKS.items():
        for attack in attacks:
            if given.only and attack.__name__ not in given.only:
                continue
            with tempfile.TemporaryDirectory() as folder, server(command, Path(folder)) as (place, pid):
                asked, answers = try_one(place, pid, attack, given.seconds)
            rows.append((command, attack.__name__, asked, *answers.most_common(1)[0]))
            print(command, attack.__name__, f"{max(one['seconds'] for one in asked):.3f}", file=sys.stderr)
            for one in asked:
                if one["wrong"] or one["seconds"] > MOST:
                    print(f"    {1e3 * one['seconds']:.0f} ms: {parts(one)} {one['wrong']}", file=sys.stderr)
    names = "server, attack, answers, median (ms), slowest (ms), of these, within 0.1 s, answer to the attack, times"
    print(f"| {names.replace(', ', ' | ')} |\n|{'---|' * len(names.split(', '))}")
    for command, name, asked, answer, n_answers in rows:
        slowest = max(asked, key=lambda one: one["seconds"])
        share = sum(not one["wrong"] and one["seconds"] <= MOST for one in asked) / len(asked)
        median = 1e3 * statistics.median(one["seconds"] for one in asked)
        times = f"{median:.0f} | {1e3 * slowest['seconds']:.0f} | {parts(slowest)}", f"{share:.1%}"
        row = command, name, len(asked), *times, answer, n_answers
        print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()
