"""The Dockerfile, as far as it can be looked at without Docker: what it copies, and the commands that it runs."""

import json
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from typer.main import get_command

from handful import Tagger
from handful.cli.commands import make_app

from .conftest import serving
from .made import fitted

ROOT = Path(__file__).parents[2]
LINES = [line for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")]


def steps(name):
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{name} ")]


def test_what_is_copied_is_there_and_is_let_in():
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line[0] == "!"]
    copied = [file for line in steps("COPY") if not line.startswith("--from") for file in line.split()[:-1]]
    assert {"pyproject.toml", "src"} <= set(copied)
    for file in copied:
        assert (ROOT / file).exists(), file
        assert any(fnmatch(file, one) for one in allowed), file
    named = re.findall(r'"([^"]+)"', re.search(r"license-files = (.*)", (ROOT / "pyproject.toml").read_text())[1])
    assert set(named) <= set(copied)  # the build needs them


def test_the_command_is_one_that_there_is():
    (entry,), (last,) = steps("ENTRYPOINT"), steps("CMD")
    program, *arguments = [*json.loads(entry), *json.loads(last)]
    assert program == "handful"
    parsed = get_command(make_app()).commands[arguments[0]].make_context("serve", arguments[1:]).params
    assert parsed["models"] == ["/model"]
    assert (parsed["host"], parsed["port"], parsed["json_logs"]) == ("0.0.0.0", 8480, True)
    assert steps("EXPOSE") == ["8480"]


def test_it_does_not_run_as_root():
    (user,) = steps("USER")
    assert int(user.partition(":")[0]) > 0
    assert LINES.index(f"USER {user}") > max(i for i, line in enumerate(LINES) if line.startswith("RUN"))


def test_the_health_check_tells_well_from_ill():
    (check,) = steps("HEALTHCHECK")
    command = json.loads(check[check.index("[") :])
    assert command[0] == "python"
    with serving({"people": fitted()}) as served:
        here = [one.replace("http://127.0.0.1:8480", served.url) for one in command[1:]]
        assert subprocess.run([sys.executable, *here], capture_output=True, check=False).returncode == 0
    assert subprocess.run([sys.executable, *here], capture_output=True, check=False).returncode != 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_the_server_writes_nothing(tmp_path):
    """Serve with no file that may grow: what a read-only file system means for it."""
    model = tmp_path / "model"
    Tagger({"PEST": "insects and slugs"}, cache=False).fit().save(model)
    before = sorted(tmp_path.rglob("*"))
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
        "from handful.serve import load_models; from handful.serve._server import Service;"
        "from handful.serve import Limits; import sys;"
        f"service = Service(load_models([{str(model)!r}]), Limits()); service.warm_up(); service.batches.stop()"
    )
    run = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert sorted(tmp_path.rglob("*")) == before
    assert shlex.split(steps("ENV")[0])[1] == "PYTHONDONTWRITEBYTECODE=1"
