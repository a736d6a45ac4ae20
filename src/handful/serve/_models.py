"""The models of a server: their names, and encoders that they share."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handful.encoders import Encoder
from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.saving import read_folder

#: The name of a model: it is part of an address.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def load_models(
    paths: Sequence[str | Path], *, encoder: str | None = None, threads: int | None = None
) -> dict[str, Tagger]:
    """Load models to serve, by their names, in the order of the paths; models of one encoder share it.

    Parameters
    ----------
    paths : the folders of models. A model is called as its folder is; ``name=folder`` gives it another name.
    encoder : the encoder of all models, where it is no longer where it was
    threads : how many threads an encoder uses; None, as many as this process may
    """
    found: dict[str, Tagger] = {}
    opened: dict[tuple[Any, ...], Encoder] = {}
    for path in paths:
        name, folder = _named(str(path))
        if name in found:
            raise DataError(f"two models are called {name!r}; give one of them a name, as in other={folder}")
        saved = read_folder(folder).encoder
        key = (saved["fingerprint"], saved["dim"])
        tagger = Tagger.load(folder, encoder=opened.get(key, encoder), threads=threads, cache=False)
        opened[key] = tagger.encoder_
        found[name] = tagger
    return found


def _named(given: str) -> tuple[str, Path]:
    name, sign, rest = given.partition("=")
    if sign and NAME.fullmatch(name) and rest:
        return name, Path(rest)
    folder = Path(given)
    name = folder.resolve().name
    if not NAME.fullmatch(name):
        raise DataError(
            f"{folder}: {name!r} cannot be the name of a model in an address; give it another one, as in "
            f"name={given} (letters, digits, full stops, _ and -)"
        )
    return name, folder
