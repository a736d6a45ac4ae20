"""``handful tune``: the encoder itself learns from the labels of a tagger."""

from typing import Any

from handful._util.options import read_settings
from handful.errors import number_of
from handful.text import types_of
from handful.text.types import completed

from . import options as opt
from ._common import load, progress_of, say
from .reading import read_training


def tune(
    model: opt.Model,
    *,
    files: list[str] | None = opt.argument(
        None, "FILE", "Files of more labelled sentences, in any format; - is standard input."
    ),
    unlabelled: opt.Unlabelled = None,
    types: opt.Types = None,
    out: opt.OutFolder,
    recipe: opt.RecipeFile = None,
    encoder: opt.ModelEncoder = None,
    text_field: opt.TextField = None,
    device: opt.Device = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Let the encoder of a model learn from its labels, in minutes on a laptop, where that helps.

    It pays from some 50 labels of each type on. Part of the labels is held out in turn, to see whether the tuned
    encoder finds more than the one before; if not, that is said, and the encoder stays as it was. The result is a model
    like any other, with its encoder inside: as fast as before, and it needs no torch. Give the unlabelled text of the
    fit again with [bold]--unlabelled[/bold].

    A recipe is a file with lines such as [bold]epochs = 10[/bold] and [bold]seed = 1[/bold]; the settings are those of
    handful.training.TuneRecipe.

    [bold]Examples[/bold]

    \b
    handful tune model --out tuned
    handful tune model more.conll --unlabelled corpus.txt --out tuned
    handful tune model --recipe recipe.toml --out tuned
    """
    from handful.tagger.saving import check_place
    from handful.training import TuneRecipe
    from handful.training import tune as tune_encoder

    check_place(out)
    settings = read_settings(TuneRecipe(), recipe)
    tagger = load(model, encoder, threads)
    given = read_training(files or [], unlabelled or [], types, quiet=quiet, known=tagger.types_, text_field=text_field)
    labelled, text, described = given
    tagger.types = completed(described, types_of(tagger.types))
    how: dict[str, Any] = {"recipe": settings, "device": device, "progress": progress_of(quiet)}
    tuning = tune_encoder(tagger, labelled or None, text or None, out=out, **how)
    if not quiet:
        sentences = number_of(tuning.n_sentences, "sentence")
        say(f"{tuning} ({sentences}, {tuning.seconds / 60:.1f} minutes)", err=False)
        say(f"\nwrote {out}; try: handful predict {out} FILE")
