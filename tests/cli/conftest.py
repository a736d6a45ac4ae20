"""A tiny encoder, a support, some text, and a model fitted on them, made once a run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))

from handful.cli import app

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


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep features out of the home folder."""
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """Make a folder with encoder, support.txt, text.txt and model; it is not to be written to."""
    from models import FAMILIES

    from handful.encoders.export import export_encoder

    place = tmp_path_factory.mktemp("tagging")
    FAMILIES["bert"](place / "source")
    export_encoder(place / "source", place / "encoder")
    (place / "support.txt").write_text(SUPPORT, encoding="utf-8")
    (place / "text.txt").write_text(TEXT, encoding="utf-8")
    arguments = ["fit", "support.txt", "--unlabelled", "text.txt", "--ratio", "0.8", "--encoder", "encoder"]
    done = handful(*arguments, "--out", "model", cwd=place, env={"HANDFUL_CACHE": str(place / "cache")})
    assert (done.returncode, done.stderr) == (0, "\nwrote model; try: handful predict model FILE\n")
    (place / "fit.out").write_text(done.stdout, encoding="utf-8")
    return place


def run(*arguments, **options):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False, **options)


COMMAND = (sys.executable, "-c", "import sys; sys.argv[0] = 'handful'; from handful.cli import main; main()")


def handful(*arguments, env=None, **options):
    """Run a command in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"} | options
    command = [*COMMAND, *map(str, arguments)]
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
