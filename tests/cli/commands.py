"""Ways to run a command, and small texts to run it on."""

import os
import subprocess
import sys

from typer.testing import CliRunner

from handful.cli.commands import make_app

app = make_app()

SUPPORT = """\
[Ekeus](PER) heads for [Baghdad](LOC) on Thursday .
the quick brown fox jumps over the lazy dog in [Paris](LOC)
says the official [Anna Berg](PER) in the rain .
café owners in [Zürich](LOC) don't like dollars
[Dupont](PER) says the fox costs dollars .
the dog and the official like the rain on Thursday
"""
TEXT = """\
Ekeus says the dog heads for Paris on Thursday .
the official Dupont and Anna Berg like Zürich
the lazy fox in Baghdad jumps over dollars .
owners of the café don't like the quick rain
"""


def run(*arguments, **options):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False, **options)


COMMAND = ("handful",)  # a fork of a process that has imported everything (tests/quick.py)
SLOW_COMMAND = (sys.executable, "-c", "import sys; sys.argv[0] = 'handful'; from handful.cli import main; main()")


def handful(*arguments, command=COMMAND, env=None, **options):
    """Run a command in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"} | options
    command = [*command, *map(str, arguments)]
    return subprocess.run(command, check=False, env=os.environ | (env or {}), **options)


def failed(result, message):
    """Whether a run ended in one line and exit code 1."""
    code = result.exit_code if hasattr(result, "exit_code") else result.returncode
    assert (code, result.stdout) == (1, "")
    lines = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert message in lines[0]
    return True
