"""``handful cache``: show or clear the features that are kept on disk."""

import json
import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from handful.errors import DataError

if TYPE_CHECKING:
    from handful.encoders.cache._store import FeatureStore, StoredFeatures


def cache(
    clear: bool = typer.Option(False, "--clear", help="Remove what is stored; asks first."),
    encoder: str = typer.Option(
        "", metavar="NAME", help="Only this encoder: its name, or the beginning of its fingerprint."
    ),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = typer.Option(False, "--json", help="Write JSON."),
) -> None:
    """Show or clear the features that are kept on disk.

    A sentence that an encoder has seen is not encoded again: its features
    are read from here. Removing them costs only the time to encode anew.

    The folder is the platform's for caches, or the one that HANDFUL_CACHE
    names. HANDFUL_CACHE_LIMIT is the most to keep (10 GB if not set); what
    was used least recently goes first.

    [bold]Examples[/bold]

    \b
    handful cache                               what is stored, and where
    handful cache --json                        the same, for a program
    handful cache --clear                       remove all of it
    handful cache --clear --encoder handful-en  remove the features of one encoder
    HANDFUL_CACHE=/data/cache HANDFUL_CACHE_LIMIT=50GB handful fit ...
    """
    from handful.encoders.cache._store import FeatureStore

    if yes and not clear:
        raise typer.BadParameter("--yes goes with --clear")
    store = FeatureStore()
    stored = _chosen(store.contents(), encoder)
    if clear:
        _clear(store, stored if encoder else None, yes=yes, as_json=as_json)
    elif as_json:
        entries = [asdict(entry) | {"folder": str(entry.folder)} for entry in stored]
        typer.echo(json.dumps({"place": str(store.path), "limit": store.limit, "stored": entries}, indent=2))
    else:
        _show(store, stored)


def _chosen(stored: "list[StoredFeatures]", encoder: str) -> "list[StoredFeatures]":
    """Return the entries of one encoder, by name or beginning of the fingerprint; all if none is named."""
    if not encoder:
        return stored
    chosen = [entry for entry in stored if entry.encoder == encoder or entry.fingerprint.startswith(encoder)]
    if not chosen:
        names = ", ".join(sorted({entry.encoder for entry in stored})) or "nothing at all"
        raise DataError(f"nothing is stored of an encoder {encoder!r}; stored are: {names}")
    return chosen


def _clear(store: "FeatureStore", stored: "list[StoredFeatures] | None", *, yes: bool, as_json: bool) -> None:
    """Remove the features of some encoders, or all if `stored` is None."""
    folders = None if stored is None else {entry.folder for entry in stored}
    n_bytes = store.size(folders)
    if n_bytes and not yes:
        if not sys.stdin.isatty():
            raise DataError("to clear without being asked, as in a script, add --yes")
        typer.confirm(f"Remove {_size(n_bytes)} of features from {store.path}?", abort=True, err=True)
    freed = store.clear(folders)
    if as_json:
        typer.echo(json.dumps({"place": str(store.path), "removed_bytes": freed}))
    else:
        typer.echo(f"removed {_size(freed)} from {store.path}")


def _show(store: "FeatureStore", stored: "list[StoredFeatures]") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if stored:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("encoder", overflow="fold")
        table.add_column("fingerprint", overflow="fold")
        for name in ("sentences", "words", "size", "last use"):
            table.add_column(name, justify="right", no_wrap=True)
        for entry in stored:
            last_use = datetime.fromtimestamp(entry.last_use).strftime("%Y-%m-%d %H:%M")
            name = entry.encoder if entry.precision == "float32" else f"{entry.encoder} ({entry.precision})"
            counts = (f"{entry.n_sentences:,}", f"{entry.n_words:,}", _size(entry.n_bytes), last_use)
            table.add_row(name, entry.fingerprint[:12], *counts)
        console.print(table)
    else:
        console.print("nothing is stored")
    typer.echo(f"place  {store.path}")
    typer.echo(f"limit  {_size(store.limit)}, {_size(store.size())} used")


def _size(n_bytes: int) -> str:
    size, units = float(n_bytes), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.0f} {units[0]}" if units[0] == "bytes" or size >= 100 else f"{size:.1f} {units[0]}"
