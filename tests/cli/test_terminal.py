"""What a stranger wrote gives no commands to the terminal."""

import contextlib
import os
import subprocess
import sys
import threading

import pytest
from commands import COMMAND

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal")

CLIPBOARD = "\x1b]52;c;aGk=\x07"
TEXT = f"Slugs{CLIPBOARD} ate \u202eecuttel\u202c \x9b31m again\n"


def on_terminal(*arguments, cwd):
    """Run a command on a terminal, and return what it wrote there."""
    ours, theirs = os.openpty()
    got = []

    def read():
        with contextlib.suppress(OSError):  # the other end was closed
            while piece := os.read(ours, 65536):
                got.append(piece)

    reading = threading.Thread(target=read)
    reading.start()
    environment = os.environ | {"TERM": "xterm-256color"}
    run = subprocess.run([*COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs, cwd=cwd, env=environment)
    os.close(theirs)
    reading.join()
    os.close(ours)
    assert run.returncode in (0, 1)
    return b"".join(got).decode()


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "--types", "pest", "strange.txt"],
        ["predict", "--types", "pest", "strange.txt", "--to", "inline"],
        ["predict", "--types", "pest", "strange.txt", "--to", "conll"],
        ["predict", "--types", "pest", "strange.txt", "--to", "jsonl"],
        ["convert", "strange.txt", "-", "--to", "text"],
        ["stats", "strange.txt"],
        ["stats", f"no{CLIPBOARD}file"],
    ],
)
def test_control_characters_are_shown_on_a_terminal(command, tmp_path):
    (tmp_path / "strange.txt").write_text(TEXT * 3, encoding="utf-8")
    shown = on_terminal(*command, cwd=tmp_path)
    assert shown
    for character in ("\x1b]", "\x07", "\u202e", "\x9b"):
        assert character not in shown, repr(shown)


def test_in_a_pipe_a_text_is_as_it_is(tmp_path):
    (tmp_path / "strange.txt").write_text(TEXT, encoding="utf-8")
    command = [*COMMAND, "convert", "strange.txt", "-", "--to", "text"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert CLIPBOARD.encode() in run.stdout
