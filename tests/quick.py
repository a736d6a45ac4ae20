"""The command `handful` without the seconds that imports take: one process imports everything, and forks for each.

A small script takes the place of the command. It hands its arguments, its folder, its environment and its streams to
the process, passes signals on, and ends with the exit code that comes back; if it is killed, so is the command. So a
shell and a test can run it as they would the real one. Limits of a process and options of Python do not reach it.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

MODULES = """
handful.cli.commands handful.tagger handful.cluster handful.encoders.cache handful.encoders._onnx handful.bench
onnxruntime tokenizers safetensors.numpy scipy.optimize scipy.sparse sklearn.base rich.progress rich.table
"""
CLIENT = """\
#!{python} -IS
import array, json, os, signal, socket, sys
there = socket.socket(socket.AF_UNIX)
there.connect({address!r})
for one in (signal.SIGINT, signal.SIGTERM):
    signal.signal(one, lambda number, frame: there.send(bytes([number])))
fds = array.array("i", [0, 1, 2])
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
there.sendmsg([len(asked).to_bytes(4, "little")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
there.sendall(asked)
sys.exit(int.from_bytes(there.recv(1) or b"\\x01", "little"))
"""


@contextmanager
def quick_handful(folder):
    """Yield a folder with the command, to be put on the path; None where processes cannot be forked like this."""
    if not sys.platform.startswith("linux"):
        yield None
        return
    folder = Path(folder)
    (folder / "bin").mkdir()
    address = str(folder / "socket")
    command = folder / "bin" / "handful"
    command.write_text(CLIENT.format(python=sys.executable, address=address), encoding="utf-8")
    command.chmod(0o755)
    with subprocess.Popen([sys.executable, __file__, address], stdin=subprocess.PIPE) as process:
        try:
            while not os.path.exists(address):
                assert process.poll() is None, "it ended early"
                time.sleep(0.02)
            yield folder / "bin"
        finally:
            process.kill()


def serve(address):
    """Import everything, and run a command in a new process for each that connects."""
    for name in MODULES.split():
        import_module(name)
    here = socket.socket(socket.AF_UNIX)
    here.bind(f"{address}.new")
    here.listen(8)
    os.rename(f"{address}.new", address)
    children = []
    while sys.stdin not in select.select([here, sys.stdin], [], [])[0]:  # it ends with the process that started it
        connection, _ = here.accept()
        pid = os.fork()
        if pid == 0:
            here.close()
            answer(connection)
        connection.close()
        children = [child for child in [*children, pid] if os.waitpid(child, os.WNOHANG) == (0, 0)]


def answer(connection):
    """Be the command that was asked for, and end."""
    size, fds, _, _ = socket.recv_fds(connection, 4, 3)
    left, asked = int.from_bytes(size, "little"), b""
    while len(asked) < left:
        asked += connection.recv(left - len(asked))
    arguments, folder, environment = json.loads(asked)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["handful", *arguments]
    threading.Thread(target=pass_on, args=(connection, threading.get_ident()), daemon=True).start()
    code = 1
    try:
        import_module("handful.cli").main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send(bytes([code & 255]))
        os._exit(code & 255)


def pass_on(connection, main):
    """Do what signals ask that come from the client, and end when it ends."""
    while number := connection.recv(1):
        signal.pthread_kill(main, number[0])
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    serve(sys.argv[1])
