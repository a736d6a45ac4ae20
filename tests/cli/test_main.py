"""The command line's frame: version, help, demo, errors."""

import subprocess
import sys
import warnings

import typer
from typer.testing import CliRunner

import handful
from handful.cli import commands as cli
from handful.errors import DataError, HandfulWarning

run = CliRunner().invoke


def test_version():
    assert run(cli.app, ["--version"]).output == f"handful {handful.__version__}\n"


def test_help_names_the_commands():
    assert "demo" in run(cli.app, ["--help"]).output


def test_help_imports_nothing_heavy():
    code = "import sys, handful.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "sklearn", "torch", "transformers", "onnxruntime"} & set(loaded)


def test_errors_and_warnings_of_ours_are_one_line(monkeypatch):
    app = typer.Typer(cls=type(typer.main.get_command(cli.app)))

    @app.callback()
    def _():
        pass

    @app.command()
    def fail():
        warnings.warn("an odd file", HandfulWarning, stacklevel=1)
        raise DataError("no word is labelled;\nuse format='text'")

    result = run(app, ["fail"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "warning: an odd file\nerror: no word is labelled; use --from text\n"


def test_ctrl_c_is_one_line_and_exit_code_130(monkeypatch):
    def press(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("handful.text.describe", press)
    result = run(cli.app, ["stats", __file__, "--from", "text"])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "stopped\n")


def test_help_has_examples_for_every_command():
    for name in typer.main.get_command(cli.app).commands:
        shown = run(cli.app, [name, "--help"]).output
        assert "Example" in shown
        assert f"handful {name} " in shown or f"handful {name}\n" in shown
