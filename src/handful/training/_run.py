"""`pretrain`: source-domain training from corpora to a folder."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handful._util.files import PathLike, check_folder
from handful._util.lazy import check_libraries
from handful.encoders.opened import check_encoder
from handful.errors import DataError, FileError

from ._recipe import Recipe, group_of
from .corpora import SourceCorpus, read_corpora
from .state import OnState, showing


def pretrain(
    corpora: Sequence[PathLike],
    *,
    encoder: PathLike,
    out: PathLike,
    dev: Sequence[PathLike] = (),
    types: PathLike | None = None,
    recipe: Recipe | None = None,
    licence: str = "",
    origin: str = "",
    command: str = "",
    device: str | None = None,
    progress: bool | OnState | None = None,
) -> dict[str, Any]:
    """Train an encoder to tell the mentions of labelled corpora apart; return the card of the result.

    The encoder also learns to read the names and descriptions of types: a type's vector is made of its text by the
    encoder itself, so that the result finds types that no corpus had. The formulas are in `handful.training._heads`.

    On the CPU, the same call gives the same weights each time.

    Parameters
    ----------
    corpora : each is a file, a folder, or ``NAME=`` and one of these, and has its own tag set. A folder has
        ``train.txt`` (and ``dev.txt``), or it has nothing but small corpora whose heads describe their types (``# TYPE:
        what it means``); these are then the corpora ``NAME/file``. Repeating a name adds files to that corpus.
    encoder : the encoder to start from: a folder in the Hugging Face layout, or a name on its hub
    out : the folder to write, in the Hugging Face layout with a card (``handful.json``) and the head that reads types
        (``names.safetensors``). It must be new or empty, and appears when it is complete.
    dev : files to measure on after each epoch: ``NAME=PATH``, or just a path where there is one corpus; also corpora
        and folders of corpora that are not trained on
    types : a file that describes the types of corpora: ``[corpus]``, then ``TYPE: what it means`` on each line
    recipe : how to train; ``Recipe()`` if None
    licence, origin, command : notes for the card: the terms of use of the result, where the corpora and the base came
        from, and the command that was typed
    device : "cpu" or "cuda"; None for a GPU where there is one
    progress : True: a bar on a terminal and lines elsewhere, on standard error. False: nothing. None: a bar on a
        terminal, nothing elsewhere. A function: it is called with each `TrainingState`.
    """
    recipe = Recipe() if recipe is None else recipe
    target = Path(out)
    if not target.name:
        raise FileError(f"{target}: give the name of a new folder")
    check_folder(target)
    check_libraries("training", "torch", "transformers")
    check_encoder(encoder)
    sources = read_corpora(corpora, dev, rename=recipe.rename, hold_out=recipe.hold_out, types=types)
    _check_recipe(recipe, sources)
    from ._card import make_card, write_encoder
    from .prepare import prepare

    prepared = prepare(sources, os.fspath(encoder), recipe, device)
    with showing(progress) as report:
        prepared.training.run(report)
    card = make_card(prepared, licence=licence, origin=origin, command=command)
    write_encoder(target, prepared, card)
    return card


def _check_recipe(recipe: Recipe, sources: Sequence[SourceCorpus]) -> None:
    """Check what the recipe says about the corpora."""
    trained = [corpus.name for corpus in sources if corpus.train]
    known = dict.fromkeys([*map(group_of, trained), *trained])
    for setting, given in (("weights", recipe.weights), ("o_weights", recipe.o_weights)):
        if strange := sorted(set(given) - set(known)):
            raise DataError(
                f"{setting} names no corpus: {', '.join(strange)}; corpora are {', '.join(list(known)[:30])}"
            )
