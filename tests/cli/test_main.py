"""The command line's frame: version, help, demo, errors."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import handful
from handful import cli
from handful.errors import DataError

run = CliRunner().invoke


def test_version():
    assert run(cli.app, ["--version"]).output == f"handful {handful.__version__}\n"


def test_help_names_the_commands():
    assert "demo" in run(cli.app, ["--help"]).output


def test_demo_finds_the_types():
    result = run(cli.app, ["demo"])
    assert result.exit_code == 0
    rows = [line.split("│") for line in result.output.splitlines() if line.startswith("│")]
    f1 = [float(row[3]) for row in rows]
    assert f1[0] < f1[1] <= f1[2]
    assert f1[2] > 0.9


def test_help_imports_nothing_heavy():
    code = "import sys, handful.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "sklearn", "torch", "transformers", "onnxruntime"} & set(loaded)


def test_an_error_of_ours_is_one_line_and_exit_code_1(monkeypatch, capsys):
    def fail():
        raise DataError("no word is labelled")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "error: no word is labelled\n"
