"""``handful add``: more labelled sentences for a tagger that is there already."""

from typing import TYPE_CHECKING

import typer

from handful.errors import DataError, number_of
from handful.text import Sentence

from . import options as opt
from ._common import load, progress_of, say
from .reading import read_training

if TYPE_CHECKING:
    from handful.tagger import Tagger


def add(
    model: opt.Model,
    files: list[str] | None = opt.argument(
        None, "[FILE]", "Files of labelled sentences, in any format; - is standard input; none with --types."
    ),
    unlabelled: opt.Unlabelled = None,
    types: opt.Types = None,
    out: opt.OutModel = None,
    as_is: bool = opt.own(False, "--as-is", None, "Take suggestions that nobody changed as they are."),
    encoder: opt.ModelEncoder = None,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Add labelled sentences to a model, and fit again.

    A model keeps its labelled sentences and all its settings, but not the unlabelled text of its fit: give that again
    with [bold]--unlabelled[/bold]. It is not encoded again, as long as its features are in the cache. New types are
    welcome; say with [bold]--types[/bold], or at the head of a file, what they mean. No file is needed for that. A
    sentence with the words of a labelled one gives it new labels. Suggestions that nobody changed are refused.
    The folder is replaced when all went well.

    [bold]Examples[/bold]

    \b
    handful suggest model corpus.txt -n 20 > next.txt
    handful add model next.txt --unlabelled corpus.txt
    handful add model more.conll --types "PEST, TOOL" --out another-model
    handful add model --types "PEST, TOOL"
    """
    from handful.tagger.saving import check_place

    if not files and not unlabelled and types is None:
        raise typer.BadParameter("give files of labelled sentences, --types or --unlabelled")
    target = model if out is None else out
    check_place(target)
    tagger = load(model, encoder, threads)
    before = tagger.summary_
    labelled, text, described = read_training(
        files or [], unlabelled or [], types, from_format, quiet=quiet, known=tagger.types_, text_field=text_field
    )
    if labelled and not as_is and _are_predictions(tagger, labelled):
        raise DataError(
            "the labels are those that the model finds by itself, so it would learn its own mistakes: correct them, or "
            "say --as-is if each one is right"
        )
    tagger.add(labelled, text or None, types=described, progress=progress_of(quiet))
    tagger.save(target)
    after = tagger.summary_
    if not quiet:
        n_added = after.n_support - before.n_support
        new = [one.name for one in after.types if one.name not in before.mentions]
        shown = f"; new: {', '.join(new)}" if new else ""
        say(f"added {number_of(n_added, 'labelled sentence')}{shown}\n{after.text(shell=True)}", err=False)
        say(f"\nwrote {target}; try: handful predict {target} FILE")


def _are_predictions(tagger: "Tagger", sentences: "list[Sentence]") -> bool:
    """Tell whether all sentences are new and have the mentions that a tagger finds, as those of `suggest` have."""
    known = {one.words for one in tagger.support_}
    if any(one.words in known or one.allowed for one in sentences) or not any(one.spans for one in sentences):
        return False
    found = tagger.predict_sentences([one.without_labels() for one in sentences], progress=False)
    return all(one.spans == other.spans for one, other in zip(sentences, found, strict=True))
