"""Encoders that other distributions bring, such as handful-xx: entry points of the group ``handful.encoders``.

A distribution names its encoder and a package of its own whose folder is an exported encoder::

    [project.entry-points."handful.encoders"]
    handful-xx = "handful_xx"

The package is found and not imported, so nothing of it runs.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path

from handful.errors import Advice, EncoderError

from .card import Card

GROUP = "handful.encoders"

#: The encoders inside the package: their names, and the folders with their files.
EMBEDDED = {"handful-en": Path(__file__).parent / "en"}

_NAME = re.compile(r"[\w.-]+")
_OURS = re.compile(r"handful-[a-z]+")  # names that a distribution of ours could have


@dataclass(frozen=True)
class InstalledEncoder:
    """An encoder that `handful.encoders.load` finds by name."""

    name: str
    folder: Path
    languages: tuple[str, ...]  # the codes of those that it knows; empty if it does not say
    dim: int
    n_bytes: int
    licence: str
    distribution: str  # what brings it, with its version


def names() -> list[str]:
    """Return the names of all installed encoders, the embedded ones first."""
    return list(dict.fromkeys([*EMBEDDED, *sorted(point.name for point, _ in _points())]))


def folder_of(name: str) -> Path | None:
    """Return the folder of an embedded or installed encoder; None if no encoder has this name."""
    if name in EMBEDDED:
        return EMBEDDED[name]
    if (found := _point(name)) is None:
        return None
    point, one = found
    spec = None
    with suppress(ValueError):  # __main__ has none
        spec = find_spec(point.value) if point.value.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise EncoderError(
            f"{_said(one)} says that the encoder {name!r} is in the package {point.value!r}, which is not there; "
            "install it again"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def check_installed(name: str) -> None:
    """Refuse the name of an encoder that could be installed, and is not."""
    if _OURS.fullmatch(name) and folder_of(name) is None:
        advice = f"pip install {name}"
        raise EncoderError(
            f"the encoder {name!r} is not installed; installed are {', '.join(names())}", Advice(advice, advice)
        )


def about(name: str) -> InstalledEncoder:
    """Return what is known of an installed encoder."""
    folder = folder_of(name)
    if folder is None or not (folder / "encoder.json").is_file():
        raise EncoderError(f"broken encoder {name!r}: {folder} holds no encoder.json; install it again")
    card = Card.read(folder / "encoder.json")
    n_bytes = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    found = None if name in EMBEDDED else _point(name)
    brought = "handful" if found is None else _said(found[1])
    return InstalledEncoder(name, folder, tuple(card.languages), card.dim, n_bytes, card.licence, brought)


def _points() -> list[tuple[EntryPoint, Distribution]]:
    found = []
    for one in distributions():
        try:
            found += [(point, one) for point in one.entry_points.select(group=GROUP)]
        except (TypeError, ValueError):  # a line without a "=", bytes that are no text
            raise EncoderError(f"entry_points.txt of {_said(one)} is damaged; install this again") from None
    return found


def _said(one: Distribution) -> str:
    """Return the name and the version of a distribution; the folder that it is in if they cannot be read."""
    with suppress(ValueError):
        if "Name" in one.metadata and "Version" in one.metadata:
            return f"{one.metadata['Name']} {one.metadata['Version']}"
    return f"a damaged distribution in {one.locate_file('')}"


def _point(name: str) -> tuple[EntryPoint, Distribution] | None:
    if not _NAME.fullmatch(name):  # a path: to look for entry points takes some milliseconds
        return None
    found = {point.value: (point, one) for point, one in _points() if point.name == name}
    if len(found) > 1:
        brought = ", ".join(sorted(_said(one) for _, one in found.values()))
        raise EncoderError(f"two distributions bring an encoder {name!r}: {brought}; remove one with pip uninstall")
    return next(iter(found.values()), None)
