"""The command line's frame: version, help, demo, errors."""

import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import handful
from handful.cli import commands as cli
from handful.cli._common import command_line
from handful.errors import Advice, DataError, HandfulWarning

run = CliRunner().invoke


def test_version():
    assert run(cli.make_app(), ["--version"]).output == f"handful {handful.__version__}\n"


def test_python_runs_the_module():
    command = [sys.executable, "-m", "handful", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == (
        f"handful {handful.__version__}\n"
    )


def test_help_names_the_commands():
    assert "demo" in run(cli.make_app(), ["--help"]).output


def test_help_imports_nothing_heavy():
    code = "import sys, handful.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "sklearn", "torch", "transformers", "onnxruntime"} & set(loaded)


def test_errors_and_warnings_of_ours_are_one_line(monkeypatch):
    app = typer.Typer(cls=type(typer.main.get_command(cli.make_app())))

    @app.callback()
    def _():
        pass

    @app.command()
    def fail():
        warnings.warn(HandfulWarning("an odd file", Advice("say encoding=", "say --encoding")), stacklevel=1)
        raise DataError("no word is\nlabelled", Advice("use format='text'", "use --from text"))

    result = run(app, ["fail"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "warning: an odd file; say --encoding\nerror: no word is labelled; use --from text\n"


def test_ctrl_c_is_one_line_and_exit_code_130(monkeypatch):
    def press(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("handful.cli.stats.describe", press)
    result = run(cli.make_app(), ["stats", __file__, "--from", "text"])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "stopped\n")


@pytest.mark.parametrize("error", [ImportError("initialization failed"), DataError("odd"), OSError("odd")])
@pytest.mark.parametrize("is_named", [True, False])
def test_ctrl_c_that_became_another_error_is_still_ctrl_c(monkeypatch, error, is_named):
    def press(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as pressed:
            raise error from (pressed if is_named else None)

    monkeypatch.setattr("handful.cli.stats.describe", press)
    result = run(cli.make_app(), ["stats", __file__, "--from", "text"])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "stopped\n")


def test_the_command_line_can_be_typed_again(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/handful", "pretrain", "a file.txt", "--origin", "don't know"])
    assert command_line() == """handful pretrain 'a file.txt' --origin 'don'"'"'t know'"""


def test_there_are_few_options():
    found = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "options.py"))["slots"]()
    counts = {name: len(options) for name, options in found}
    assert counts.keys() > {"", "fit", "bench transfer"}
    assert sum(counts.values()) <= 200  # `python tools/options.py` prints them
    assert max(counts.values()) <= 20


def commands(group=None, name=()):
    """Yield every command, those of groups too, with the words that call it."""
    for word, command in (group or typer.main.get_command(cli.make_app())).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*name, word))
        yield (*name, word), command


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_help_reads_well_in_80_columns(name, command):
    shown = run(cli.make_app(), [*name, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).output
    assert max(map(len, shown.splitlines())) <= 80
    examples = command.help.split("\b\n")[1].split("\n") if "\b\n" in command.help else []
    assert any(" ".join(["handful", *name]) in line for line in examples)
    lines = [line.strip() for line in shown.splitlines()]
    for example in examples:  # on one line, to be copied
        assert example.strip() in lines
    options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    for option in options:  # not cut off
        assert f" {option} " in shown
