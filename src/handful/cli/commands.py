"""All commands under one name, and what ends them early.

A command's module imports what it needs inside its function, so that ``handful --help`` stays quick.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer.core import TyperGroup

from handful import __version__
from handful.errors import HandfulError, HandfulWarning

from .bench import bench
from .cache import cache
from .convert import convert
from .demo import demo
from .evaluate import evaluate
from .explain import explain
from .export_encoder import export_encoder
from .fit import fit
from .options import Quiet, Threads, paragraphs
from .predict import predict
from .pretrain import pretrain
from .sample import sample
from .stats import stats

__all__ = ["app"]

_SIGPIPE = 13


class _Commands(TyperGroup):
    """The commands; what ends one of them early is one clear line and an exit code that says it."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _ending_well():  # --help and --version are dealt with here
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings(), _ending_well():
            warnings.simplefilter("default", HandfulWarning)
            warnings.showwarning = _warn
            result = super().invoke(ctx)
            sys.stdout.flush()  # an output that cannot be written is known now, not when Python ends
        return result


@contextmanager
def _ending_well() -> Iterator[None]:
    try:
        with _seeing_ctrl_c():
            yield
    except BrokenPipeError:
        raise _unread() from None
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich makes this of it
            raise _unread() from None
        raise
    except HandfulError as error:
        raise _failed(error.for_shell) from None
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        raise typer.Exit(130) from None
    except OSError as error:
        _let_go_of_output()
        raise _failed(f"{error.filename or 'standard output'}: {error.strerror or error}") from None


@contextmanager
def _seeing_ctrl_c() -> Iterator[None]:
    """Raise Ctrl-C as what it is where other code made an error of it: modules in C do, while they are loaded."""
    try:
        yield
    except typer.Exit:  # a command has dealt with it
        raise
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            cause = cause.__cause__ or cause.__context__
        raise


def _unread() -> typer.Exit:
    """End quietly when the reader of the output has gone, as it does in ``handful ... | head``."""
    _let_go_of_output()
    return typer.Exit(128 + _SIGPIPE)


def _failed(message: str) -> typer.Exit:
    """Say what is wrong in one line."""
    typer.secho("error: ", fg="red", bold=True, err=True, nl=False)
    typer.echo(" ".join(message.split("\n")), err=True)
    return typer.Exit(1)


def _warn(
    message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Show a warning of ours as one line, without the place in the code; others as Python does."""
    if issubclass(category, HandfulWarning):
        typer.secho("warning: ", fg="yellow", err=True, nl=False)
        typer.echo(message.for_shell, err=True)
    else:
        typer.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def _let_go_of_output() -> None:
    """Let Python end without trying once more to write what nobody takes."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    name="handful",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all is well, 1 an error (one line says which), 2 wrong usage, 130 stopped by Ctrl-C, "
    "141 the reader of the output has gone.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"handful {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Find named entities from a handful of labelled examples and unlabelled text.

    [bold]Start here[/bold]

    \b
    handful demo
    handful fit few.txt --unlabelled corpus.txt --out model
    handful predict model notes.txt
    handful evaluate model test.conll
    """


for command in (demo, fit, predict, explain, evaluate, sample, stats, convert, cache, export_encoder, pretrain):
    app.command()(command)
app.add_typer(bench)
for info in (*app.registered_commands, *bench.registered_commands):
    info.help = paragraphs(info.callback.__doc__ or "")
