"""Try what strangers can do to the servers, and ask for ``/health`` all the while.

    python benchmarks/attacks.py            # serve, then label; each attack for 3 seconds

A server with few descriptors is started for each attack. The table has how long ``/health`` took at most, and how the
attack itself was answered. Only the attacks from Label Studio on know the token. A fault is an answer after more than
0.1 seconds: on a machine with much other work, that may be its own.
"""

import argparse
import contextlib
import gzip
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import httpx

TOKEN = "a-token-of-the-attacks"
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
    answer = httpx.post(url, json=record, headers={"X-Handful-Token": TOKEN}, timeout=60, trust_env=False)
    return f"{answer.status_code} {answer.json().get('error', {}).get('what', '')[:60]}".strip()


def comments(place):
    return post(place, "/label-studio/setup", {"project": "1", "schema": "<!--" * 25_000})


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
    answer = httpx.post(url, content=body, headers=headers, timeout=60, trust_env=False)
    return f"{answer.status_code} {answer.json().get('error', {}).get('what', '')[:60]}".strip()


def numbers(place):
    return raw(place, f"GET /api/queue?n=--5 HTTP/1.1\r\nHost: localhost\r\nX-Handful-Token: {TOKEN}\r\n\r\n".encode())


ATTACKS = {
    "serve": [nothing, cookie, small_cookie, half_headers, slow_bodies, comments, tasks, projects],
    "label": [nothing, cookie, small_cookie, half_headers, numbers, bomb],
}


@contextlib.contextmanager
def server(command, folder):
    """Start a server with few descriptors, and give its place."""
    (folder / "text.txt").write_text("Slugs ate the lettuce.\n")
    arguments = ["serve", "--types", "pest", "--label-studio"]
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
            yield "127.0.0.1", port
        finally:
            process.kill()


def try_one(place, attack, seconds):
    """Repeat an attack for some seconds, and return the longest wait for /health, and the answers to the attack."""
    waits, answers, is_over = [], Counter(), threading.Event()

    def ask():
        while not is_over.is_set():
            started = time.perf_counter()
            connection = HTTPConnection(*place, timeout=30)  # a new one each time, as somebody who comes now has
            try:
                connection.request("GET", "/health")
                if connection.getresponse().status != 200:
                    raise HTTPException
            except (OSError, HTTPException):
                waits.append(float("inf"))
            connection.close()
            waits.append(time.perf_counter() - started)
            time.sleep(0.02)

    asking = threading.Thread(target=ask)
    asking.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answers[attack(place)] += 1
    is_over.set()
    asking.join()
    return waits, answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    for command, attacks in ATTACKS.items():
        for attack in attacks:
            with tempfile.TemporaryDirectory() as folder, server(command, Path(folder)) as place:
                waits, answers = try_one(place, attack, given.seconds)
            waits.sort()
            rows.append(
                (
                    command,
                    attack.__name__,
                    len(waits),
                    waits[len(waits) // 2],
                    waits[int(0.95 * len(waits))],
                    waits[-1],
                    *answers.most_common(1)[0],
                )
            )
    if given.json:
        print(json.dumps(rows))
        return
    print("| server | attack | asked | median (ms) | 95 % (ms) | most (ms) | the attack was answered | times |")
    print("|---|---|---|---|---|---|---|---|")
    for command, name, n, median, high, most, answer, times in rows:
        times_of = " | ".join(f"{1e3 * one:.0f}" for one in (median, high, most))
        print(f"| {command} | {name} | {n} | {times_of} | {answer} | {times} |")


if __name__ == "__main__":
    main()
