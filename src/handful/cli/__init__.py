"""The command line: one file a command; each parses, calls, prints.

A command's module imports what it needs inside its function, so that ``handful --help`` stays quick.
"""

import sys

import typer

from handful import __version__
from handful.errors import HandfulError

from .demo import demo
from .export_encoder import export_encoder
from .pretrain import pretrain

__all__ = ["app", "main"]

app = typer.Typer(
    name="handful",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"handful {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Find named entities from a handful of labelled examples and unlabelled text."""


app.command()(demo)
app.command()(export_encoder)
app.command()(pretrain)


def main() -> None:
    """Run the command line; an error of ours is one clear message and exit code 1, never a traceback."""
    try:
        app()
    except HandfulError as error:
        typer.secho("error: ", fg="red", bold=True, err=True, nl=False)
        typer.echo(str(error), err=True)
        sys.exit(1)
