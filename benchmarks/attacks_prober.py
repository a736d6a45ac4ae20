"""Ask a server for ``/health`` every 20 ms, and print what became of it, one line of JSON for each.

    python benchmarks/attacks_prober.py PORT PID        # until its standard input ends

This is a process of its own, so that it does not wait for those who attack the server. Each request has a new
connection, as somebody who comes now has. Requests do not wait for earlier ones. The times come from Linux:

- ``seconds`` from the start of the connection to the end of the answer, and ``connected``: until it was made;
- ``asker``: of these seconds, those in which this process waited for a processor; ``late``: how much later than every
  20 ms it began, for the same reason;
- ``queued`` and ``worked``: those in which the thread of the server that answers (the first of process PID) waited for
  a processor, and had one. In the rest it waited for something else, such as Python's lock.
"""

import json
import os
import selectors
import socket
import sys
import time

EVERY = 0.02  # seconds
PATIENCE = 30.0  # seconds after which no answer is expected
REQUEST, BODY = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b'{"status":"ok"}'


def processor_times(pid):
    """Return the seconds for which the first thread of a process has had a processor, and has waited for one."""
    with open(f"/proc/{pid}/task/{pid}/schedstat") as file:
        worked, queued, _ = file.read().split()
    return int(worked) / 1e9, int(queued) / 1e9


class Asked:
    """A request that was made and is not answered."""

    def __init__(self, place, pid, late):
        self.pid, self.late, self.connected, self.came = pid, late, None, b""
        self.before = processor_times(os.getpid()), processor_times(pid)
        self.connection = socket.socket()
        self.connection.setblocking(False)
        self.started = time.perf_counter()
        self.connection.connect_ex(place)

    def go_on(self):
        """Do what can be done now; return what went wrong, "" where all went well, None where it is not over."""
        try:
            if self.connected is None:
                if error := self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(error, os.strerror(error))
                self.connected = time.perf_counter() - self.started
                self.connection.send(REQUEST)
                return None
            data = self.connection.recv(4096)
        except OSError as error:
            return type(error).__name__
        self.came += data
        if self.came.startswith(b"HTTP/1.1 200 ") and self.came.endswith(BODY):
            return ""
        return None if data else f"ended after {self.came[:40]!r}"

    def end(self, wrong):
        """Say how it went."""
        found = {"wrong": wrong, "seconds": time.perf_counter() - self.started, "connected": self.connected}
        asker, server = processor_times(os.getpid()), processor_times(self.pid)
        found |= {"late": self.late, "asker": asker[1] - self.before[0][1]}
        found["worked"], found["queued"] = (now - then for now, then in zip(server, self.before[1], strict=True))
        self.connection.close()
        print(json.dumps(found), flush=True)


def main():
    port, pid = map(int, sys.argv[1:])
    asked, due = set(), time.perf_counter()
    with selectors.DefaultSelector() as ready:
        ready.register(sys.stdin, selectors.EVENT_READ)
        while ready.get_map():
            if (now := time.perf_counter()) >= due and sys.stdin in ready.get_map():
                one = Asked(("127.0.0.1", port), pid, now - due)
                asked.add(one)
                ready.register(one.connection, selectors.EVENT_WRITE, one)
                due += EVERY * (1 + (now - due) // EVERY)
            over = {one: "no answer" for one in asked if now - one.started > PATIENCE}
            for key, _ in ready.select(max(0, min(due - time.perf_counter(), EVERY))):
                if key.fileobj is sys.stdin:
                    ready.unregister(sys.stdin)
                elif (wrong := key.data.go_on()) is not None:
                    over[key.data] = wrong
                else:
                    ready.modify(key.fileobj, selectors.EVENT_READ, key.data)
            for one, wrong in over.items():
                ready.unregister(one.connection)
                asked.remove(one)
                one.end(wrong)


if __name__ == "__main__":
    main()
