"""Commands that can run on the workers of Dask: their options, and the workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import say

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Address", "SkipMalformed", "Workers", "cluster"]

PANEL = "On several workers"

Address = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        show_default=False,
        rich_help_panel=PANEL,
        help="Run on the workers of this cluster of Dask, such as tcp://10.0.0.1:8786.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        show_default=False,
        rich_help_panel=PANEL,
        help="Run on so many processes of this machine, by Dask.",
    ),
]
SkipMalformed = Annotated[bool, typer.Option("--skip-malformed", help="Leave out what is malformed, and count it.")]


@contextmanager
def cluster(address: str | None, n: int | None, *, quiet: bool) -> "Iterator[Client | None]":
    """Yield a client of the workers that are asked for, if any, and say where to watch them."""
    if address is None and n is None:
        yield None
        return
    if address is not None and n is not None:
        raise typer.BadParameter("give --dask or --workers, not both")
    from handful.scale import workers

    with workers(address, n) as client:
        say(f"workers: {_count(client)}; dashboard: {client.dashboard_link}", quiet=quiet)
        yield client


def _count(client: Any) -> int:
    return len(client.scheduler_info(n_workers=-1)["workers"])
