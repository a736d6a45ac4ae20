"""Encoders that other distributions bring: what their entry points, their metadata and their cards say."""

import importlib
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fuzz.engine import SEEDS, Case, Run, Target, read_case
from fuzz.mutate import change_bytes, change_json, change_lines
from handful.encoders import load
from handful.encoders.languages import choose, installed
from handful.encoders.shipped import EMBEDDED, about, check_installed, names
from handful.errors import EncoderError
from handful.text import to_sentences

__all__ = ["INSTALLED"]

GERMAN = "Der Zug ist heute nicht nach Berlin gefahren, weil der Fahrer gestern nicht nach Hause gekommen ist. " * 3


@contextmanager
def open_sites(folder: Path) -> Iterator[Run]:
    """List, describe, choose and load what a folder of installed distributions brings."""
    about_it, package = folder / "other-1.dist-info", folder / "mine_xx"
    for one in (about_it, package):
        one.mkdir()
    for name, data in read_case(SEEDS / "encoder" / "named").items():
        (package / name).write_bytes(data)

    def run(case: Case) -> object:
        for name, data in case.items():
            ((package if name == "encoder.json" else about_it) / name).write_bytes(data)
        importlib.invalidate_caches()
        found = [name for name in names() if name not in EMBEDDED]
        assert set(EMBEDDED) <= set(names())
        for name in found:
            with suppress(EncoderError):
                check_installed(name)
        kinds = [(about(name).languages, load(name).dim) for name in found]
        known = [name for name in found if "de" in about(name).languages]
        assert choose(to_sentences(GERMAN)) == (known or ["handful-en"])[0]
        return kinds, len(installed())

    before = sys.path[:]
    sys.path.insert(0, str(folder))
    try:
        for seed in (SEEDS / "installed").iterdir():
            run(read_case(seed))  # imports what there is to import; from here on, there is nothing else to be found
        sys.path[:] = [str(folder), *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))]
        yield run
    finally:
        sys.path[:] = before


INSTALLED = [
    Target(
        "installed",
        "encoders of other distributions",
        open_sites,
        {
            "entry_points.txt": (change_lines, change_bytes),
            "METADATA": (change_lines, change_bytes),
            "encoder.json": (change_json, change_json, change_bytes),
        },
    )
]
