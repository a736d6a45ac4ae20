"""All commands under one name, and what ends them early.

A command's module imports what it needs inside its function, and a run loads the module of its own command alone, so
that it starts quickly.
"""

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from handful import __version__
from handful._util.foreign import visible
from handful.errors import HandfulError, HandfulWarning

from ._common import paragraphs

#: The commands, in the order of the help; each is in a module of its name.
COMMANDS = tuple(
    str.split(
        "demo label serve fit predict explain evaluate suggest add types tune stats convert cache encoders "
        "export-encoder pretrain bench"
    )
)

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
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "stopped", err=True)
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
    typer.echo(visible(" ".join(message.split("\n"))), err=True)
    return typer.Exit(1)


def _warn(
    message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Show a warning of ours as one line, without the place in the code; others as Python does."""
    if issubclass(category, HandfulWarning):
        typer.secho("warning: ", fg="yellow", err=True, nl=False)
        typer.echo(visible(message.for_shell), err=True)
    else:
        typer.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def _let_go_of_output() -> None:
    """Let Python end without trying once more to write what nobody takes."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Return the command line with some commands, or all."""
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
    app.callback()(_options)
    for name in names:
        module = name.replace("-", "_")
        command = getattr(import_module(f".{module}", __package__), module)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
            infos = command.registered_commands
        else:
            app.command()(command)
            infos = app.registered_commands[-1:]
        for info in infos:
            info.help = paragraphs(info.callback.__doc__ or "")
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"handful {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Find named entities of your own types: from what they mean, a handful of labels, and unlabelled text.

    [bold]Start here[/bold]

    \b
    handful demo
    handful label corpus.txt --types types.txt
    handful predict --types "person, place, disease" notes.txt
    handful fit few.txt --unlabelled corpus.txt --out model
    handful predict model notes.txt
    handful evaluate model test.conll
    """
