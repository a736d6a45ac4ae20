"""``handful cache``: show or clear the features that are kept on disk."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from handful.errors import DataError

from . import options as opt

if TYPE_CHECKING:
    from handful.encoders.cache import FeatureCache


def cache(
    clear: bool = opt.own(False, "--clear", None, "Remove what is cached; asks first."),
    yes: bool = opt.own(False, "--yes -y", None, "Do not ask."),
) -> None:
    """Show or clear the features that are kept on disk.

    A sentence that an encoder has seen is not encoded again: its features are read from here. Text that fit, add and
    evaluate read is kept, and so is text that predict reads with --keep-features. A word of handful-en takes 3 kB.
    Removing features costs only the time to encode again.

    The folder is in the cache folder of the platform, or in the one that HANDFUL_CACHE names. HANDFUL_CACHE_LIMIT is
    the most to keep (10 GB if not set); the features that were not used for the longest time go first.

    [bold]Examples[/bold]

    \b
    handful cache                               what is cached, and where
    handful cache --clear                       remove all of it
    HANDFUL_CACHE=/data/cache HANDFUL_CACHE_LIMIT=50GB handful fit ...
    """
    from handful.encoders.cache import FeatureCache

    if yes and not clear:
        raise typer.BadParameter("--yes goes with --clear")
    features = FeatureCache()
    if clear:
        _clear(features, yes=yes)
    else:
        _show(features)


def _clear(features: "FeatureCache", *, yes: bool) -> None:
    n_bytes = features.size()
    if n_bytes and not yes:
        if not sys.stdin.isatty():
            raise DataError("to clear without being asked, as in a script, add --yes")
        typer.confirm(f"Remove {_size(n_bytes)} of features from {features.path}?", abort=True, err=True)
    typer.echo(f"removed {_size(features.clear())} from {features.path}")


def _show(features: "FeatureCache") -> None:
    from .show import Console, table

    console = Console()
    if cached := features.contents():
        shown = table("encoder", "fingerprint", "sentences", "words", "size", "last use")
        for entry in cached:
            last_use = datetime.fromtimestamp(entry.last_use).strftime("%Y-%m-%d %H:%M")
            counts = (f"{entry.n_sentences:,}", f"{entry.n_words:,}", _size(entry.n_bytes), last_use)
            shown.add_row(entry.encoder, entry.fingerprint[:12], *counts)
        console.print(shown)
    else:
        console.print("nothing is cached")
    typer.echo(f"place  {features.path}")
    typer.echo(f"limit  {_size(features.limit)}, {_size(features.size())} used")


def _size(n_bytes: int) -> str:
    size, units = float(n_bytes), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.0f} {units[0]}" if units[0] == "bytes" or size >= 100 else f"{size:.1f} {units[0]}"
