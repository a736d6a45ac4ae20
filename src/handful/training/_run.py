"""`pretrain`: source-domain training from corpora to a folder."""

import json
import os
import platform
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from handful import __version__
from handful.errors import DataError, FileError, MissingExtraError

from ._corpora import PathLike, SourceCorpus, read_corpora
from ._progress import Progress, reporting
from ._recipe import Recipe

__all__ = ["CARD", "pretrain"]

#: The card's name in the output folder.
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
    device: str | None = None,
    restart: bool = False,
    checkpoint_every: float = 300.0,
    progress: bool | Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Train an encoder to tell the mentions of labelled corpora apart.

    The encoder is trained together with one prototype a tag and corpus, by the likelihood of IO tags under
    ``w_j = -1/2 ||x - c_j||^2``; the prototypes are then thrown away.

    Interrupted, it leaves a checkpoint beside `out` (its name and ``.checkpoint``), from which the same call
    goes on; on the CPU the weights then come out the same as without the interruption.

    Parameters
    ----------
    corpora
        Each a file, a folder with ``train.txt`` (and ``dev.txt``), or ``NAME=`` and one of these. Each has
        its own tag set. Repeating a name adds files to that corpus.
    encoder
        What to start from: a folder in the Hugging Face layout, or a name on its hub.
    out
        The folder to write, in the Hugging Face layout with a card (``handful.json``). It must not exist, or
        be empty, and appears when it is complete.
    dev
        Files to measure on after each epoch: ``NAME=PATH``, or a path alone where there is one corpus.
    recipe
        How to train; None, ``Recipe()``.
    licence, origin
        Notes for the card: under what terms the result may be used, where the corpora and the base came from.
    device
        "cpu" or "cuda"; None, a GPU where there is one.
    restart
        Start anew even if there is a checkpoint.
    checkpoint_every
        Seconds between checkpoints.
    progress
        True, a bar on a terminal and lines elsewhere, on standard error; False, nothing; None, a bar on a
        terminal, nothing elsewhere; a function, called with each `Progress`.

    Returns
    -------
    dict
        The card.
    """
    recipe = Recipe() if recipe is None else recipe
    target = Path(out)
    checkpoint = target.with_name(f"{target.name}.checkpoint")
    _check_target(target)
    read_in = read_corpora(corpora, dev, hide=recipe.hide, hold_out=recipe.hold_out)
    _check_names(recipe, read_in)
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(
            f"training needs torch and transformers ({error}): pip install 'handful[transformers]'"
        ) from None
    from handful.encoders._shapes import add_word_shapes, has_word_shapes
    from handful.encoders._transformers import shape_stride, window_of, word_tokenizer

    from ._batches import lay_out_corpus
    from ._model import Network, digest_weights, read_base
    from ._train import CLIP, WEIGHT_DECAY, Data, Training

    where = _device(device)
    model, tokenizer, n_base_layers = read_base(os.fspath(encoder), recipe.layers, recipe.dropout)
    base = {
        "encoder": os.fspath(encoder),
        "type": model.config.model_type,
        "layers": n_base_layers,
        "layers_kept": model.config.num_hidden_layers,
        "sha256": digest_weights(model),
    }
    if recipe.shapes and not has_word_shapes(model):
        add_word_shapes(model)
    splitter, window = word_tokenizer(tokenizer, shape_stride(model)), window_of(model, tokenizer)
    summaries = [corpus.summary() for corpus in read_in]
    what = {"recipe": recipe.as_dict(), "corpora": summaries, "base": base}
    data = [
        Data(
            corpus,
            lay_out_corpus(corpus, corpus.train, splitter, window),
            lay_out_corpus(corpus, corpus.dev, splitter, window) if corpus.dev else None,
        )
        for corpus in read_in
    ]
    network = Network(
        model,
        [len(corpus.types) + 1 for corpus in read_in],
        [recipe.o_weights.get(corpus.name, 1.0) for corpus in read_in],
        head=recipe.head,
        seed=recipe.seed,
    ).to(where)
    training = Training(network, data, recipe, where)
    if restart:
        checkpoint.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with reporting(progress) as report:
        training.run(checkpoint, what, every=checkpoint_every, report=report)
    kept = training.finish()
    card = {
        "card": 1,
        "made_by": "handful pretrain",
        "command": _command(corpora, encoder, out, dev, recipe, licence, origin),
        "licence": licence,
        "origin": origin,
        "base": base,
        "corpora": summaries,
        "recipe": {
            **recipe.as_dict(),
            "pooling": "first-last",
            "scheme": "IO",
            "optimizer": "AdamW",
            "weight_decay": WEIGHT_DECAY,
            "clip": CLIP,
            "precision": "bfloat16" if where.type == "cuda" else "float32",
        },
        "training": {"steps": training.n_steps, "kept_epoch": kept, "epochs": training.history},
        "versions": {
            "handful": __version__,
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "transformers": transformers.__version__,
        },
    }
    _write(target, model.to("cpu").eval(), tokenizer, card)
    checkpoint.unlink(missing_ok=True)
    return card


def _check_target(target: Path) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        what = "is a folder with files in it" if target.is_dir() else "is a file"
        raise FileError(f"{target} {what}; give a folder that does not exist yet")
    parent = next(folder for folder in target.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise FileError(f"{target}: nothing can be written into {parent}")


def _check_names(recipe: Recipe, corpora: Sequence[SourceCorpus]) -> None:
    names = [corpus.name for corpus in corpora]
    for option, given in (("weights", recipe.weights), ("o_weights", recipe.o_weights)):
        if strange := sorted(set(given) - set(names)):
            raise DataError(f"{option} names no corpus: {', '.join(strange)}; corpora are {', '.join(names)}")
    if recipe.keep == "best" and not any(corpus.dev for corpus in corpora):
        raise DataError("keep='best' needs sentences to measure on: give a dev file or hold some out")


def _device(name: str | None) -> Any:
    import torch

    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DataError(f"device is cpu or cuda, found {name!r}") from None
    if device.type not in ("cpu", "cuda"):
        raise DataError(f"device is cpu or cuda, found {name!r}")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DataError("there is no GPU that torch can use here; train on the cpu")
    return device


def _command(
    corpora: Sequence[PathLike],
    encoder: PathLike,
    out: PathLike,
    dev: Sequence[PathLike],
    recipe: Recipe,
    licence: str,
    origin: str,
) -> str:
    """Write the command line that does the same."""
    words = ["handful", "pretrain", *(os.fspath(path) for path in corpora), "--encoder", os.fspath(encoder)]
    words += ["--out", os.fspath(out)]
    for path in dev:
        words += ["--dev", os.fspath(path)]
    plain = Recipe().as_dict()
    for name, value in recipe.as_dict().items():
        option = "--" + name.replace("_", "-")
        if value == plain[name]:
            continue
        if name == "hide":
            words += [option, ",".join(value)]
        elif value is True:
            words += [option]
        elif isinstance(value, dict):
            for corpus, number in value.items():
                words += [option.removesuffix("s"), f"{corpus}={number:g}"]
        else:
            words += [option, str(value)]
    for option, note in (("--licence", licence), ("--origin", origin)):
        words += [option, note] if note else []
    return shlex.join(words)


def _write(target: Path, model: Any, tokenizer: Any, card: dict[str, Any]) -> None:
    """Write the folder under a temporary name, then give it its own."""
    from safetensors.torch import save_file

    from handful.encoders._shapes import SHAPES_FILE, has_word_shapes, remove_word_shapes
    from handful.encoders._transformers import _quiet as quiet

    shapes = remove_word_shapes(model) if has_word_shapes(model) else None
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            for passing in ("is_local", "local_files_only"):  # how the base was read is no part of the result
                tokenizer.init_kwargs.pop(passing, None)
            with quiet():
                model.save_pretrained(temporary)
                tokenizer.save_pretrained(temporary)
            if shapes is not None:
                save_file({"weight": shapes.contiguous()}, temporary / SHAPES_FILE)
            text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
            (temporary / CARD).write_text(text, encoding="utf-8")
            if target.exists():
                target.rmdir()
            temporary.rename(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error}") from None
