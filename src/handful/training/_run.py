"""`pretrain`: source-domain training from corpora to a folder."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handful._util.files import PathLike, check_empty
from handful.errors import Advice, DataError, FileError, MissingExtraError

from ._corpora import SourceCorpus, read_corpora
from ._recipe import Recipe
from ._state import OnState, showing

__all__ = ["CARD", "pretrain"]

#: The name of the card in the output folder.
CARD = "handful.json"


def pretrain(
    corpora: Sequence[PathLike],
    *,
    encoder: PathLike,
    out: PathLike,
    dev: Sequence[PathLike] = (),
    recipe: Recipe | None = None,
    licence: str = "",
    origin: str = "",
    command: str = "",
    device: str | None = None,
    restart: bool = False,
    checkpoint_every: float = 300.0,
    progress: bool | OnState | None = None,
) -> dict[str, Any]:
    """Train an encoder to tell the mentions of labelled corpora apart.

    The encoder is trained together with one prototype for each tag of each corpus, by the likelihood of IO tags under
    ``w_j = -1/2 ||x - c_j||^2``. The prototypes are then thrown away.

    When it is interrupted, it leaves a checkpoint beside `out` (its name and ``.checkpoint``), and the same call
    continues from there. On the CPU the weights are then the same as without the interruption.

    Parameters
    ----------
    corpora
        Each is a file, a folder with ``train.txt`` (and ``dev.txt``), or ``NAME=`` and one of these. Each has its own
        tag set. Repeating a name adds files to that corpus.
    encoder
        The encoder to start from: a folder in the Hugging Face layout, or a name on its hub.
    out
        The folder to write, in the Hugging Face layout with a card (``handful.json``). It must be new or empty, and
        appears when it is complete.
    dev
        Files to measure on after each epoch: ``NAME=PATH``, or just a path where there is one corpus.
    recipe
        How to train; ``Recipe()`` if None.
    licence, origin, command
        Notes for the card: the terms of use of the result, where the corpora and the base came from, and the command
        that was typed.
    device
        "cpu" or "cuda"; None for a GPU where there is one.
    restart
        Whether to start from the beginning even if there is a checkpoint.
    checkpoint_every
        Seconds between checkpoints.
    progress
        True: a bar on a terminal and lines elsewhere, on standard error. False: nothing. None: a bar on a terminal,
        nothing elsewhere. A function: it is called with each `TrainingState`.

    Returns
    -------
    dict
        The card.
    """
    recipe = Recipe() if recipe is None else recipe
    target = Path(out)
    _check_target(target)
    sources = read_corpora(corpora, dev, hide=recipe.hide, hold_out=recipe.hold_out)
    _check_recipe(recipe, sources)
    _check_libraries()
    from ._card import make_card, write_encoder
    from ._prepare import prepare

    prepared = prepare(sources, os.fspath(encoder), recipe, device)
    checkpoint = target.with_name(f"{target.name}.checkpoint")
    if restart:
        checkpoint.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with showing(progress) as report:
        prepared.training.run(checkpoint, prepared.identity(), every=checkpoint_every, report=report)
    card = make_card(prepared, licence=licence, origin=origin, command=command)
    write_encoder(target, prepared.model, prepared.tokenizer, card, name=CARD)
    checkpoint.unlink(missing_ok=True)
    return card


def _check_target(target: Path) -> None:
    if not target.name:
        raise FileError(f"{target}: give the name of a new folder")
    if target.exists():
        check_empty(target)
    parent = next(folder for folder in target.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise FileError(f"{target}: nothing can be written into {parent}")


def _check_recipe(recipe: Recipe, sources: Sequence[SourceCorpus]) -> None:
    """Check what the recipe says about the corpora."""
    names = [corpus.name for corpus in sources]
    for setting, given in (("weights", recipe.weights), ("o_weights", recipe.o_weights)):
        if strange := sorted(set(given) - set(names)):
            raise DataError(f"{setting} names no corpus: {', '.join(strange)}; corpora are {', '.join(names)}")
    if recipe.keep == "best" and not any(corpus.dev for corpus in sources):
        raise DataError(
            "the best epoch can be kept only if there are sentences to measure on",
            Advice("give dev=, or hold_out= in the recipe", "give --dev or --hold-out"),
        )


def _check_libraries() -> None:
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"training needs torch and transformers ({error}): pip install 'handful[transformers]'"
        ) from None
