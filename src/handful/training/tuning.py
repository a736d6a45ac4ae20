"""`tune`: the encoder itself learns from labels, where that helps, and the tagger is fitted on the result."""

import copy
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handful._util.files import PathLike, beside
from handful._util.lazy import check_libraries
from handful.encoders.opened import encoder_folder, is_object
from handful.errors import DataError, EncoderError
from handful.tagger import Tagger
from handful.tagger.saving import check_place
from handful.tagger.training_text import sentences_of

from ._recipe import TuneRecipe
from .state import OnState

FEWEST = 40  # labelled sentences; with fewer, what is held out says too little (docs/decisions/0010)


@dataclass(frozen=True)
class Tuning:
    """The tagger that tuning wrote, and the figures behind it."""

    tagger: Tagger  # the tagger that was written
    n_sentences: int  # the labelled sentences
    before: float  # the F1 on labelled sentences that were held out, of the encoder as it was
    after: float  # the same of the tuned encoder
    error: float  # the standard error of their difference
    is_tuned: bool  # whether the tuned encoder was taken
    seconds: float  # how long it took

    def __str__(self) -> str:
        on = f"on held-out labels, F1 was {100 * self.before:.1f} before and {100 * self.after:.1f} after tuning"
        if self.is_tuned:
            return f"{on}; the tuned encoder is taken"
        return f"{on}; that is not enough, so the encoder stays as it was: label more, and tune again"


def tune(
    tagger: Tagger,
    sentences: Any = None,
    unlabelled: Any = None,
    *,
    out: PathLike,
    recipe: TuneRecipe | None = None,
    device: str | None = None,
    progress: bool | OnState | None = None,
) -> Tuning:
    """Let the encoder of a tagger learn from the labels, and write the tagger that results (extra ``transformers``).

    It pays from some 50 labels of each type on. Part of the labels is held out in turn, to see whether the tuned
    encoder is better; if it is not, the encoder stays as it was. The result is a tagger like any other, with its
    encoder inside the folder: it needs no torch, and is as fast as before. See docs/tune.md.

    Parameters
    ----------
    tagger : a fitted tagger. It stays as it is.
    sentences : more labelled sentences, as for `Tagger.add`
    unlabelled : text of the kind to be tagged, as for `Tagger.fit`: the tuned tagger is fitted on it too. A tagger from
        disk lacks the text it was fitted with, if any: give that again.
    out : the folder to write. One that holds a saved tagger is replaced; one with anything else is left alone.
    recipe : how to tune
    device, progress : as for `pretrain`; a function is called with the state after each step
    """
    recipe = TuneRecipe() if recipe is None else recipe
    target = Path(out)
    check_place(target)
    check_libraries("tuning", "torch", "onnx")
    started = time.monotonic()
    on_fit = progress if isinstance(progress, bool) else None
    untuned = copy.copy(tagger).add([] if sentences is None else sentences, unlabelled, progress=on_fit)
    text = untuned.text_
    assert text is not None  # `add` has just read it
    labelled = sentences_of(text.labels)
    if len(labelled) < FEWEST:
        raise DataError(
            f"there are {len(labelled)} labelled sentences, too few to tune an encoder: label at least {FEWEST}, "
            "better some 50 mentions of each type"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_object(untuned.encoder):
        raise EncoderError("the encoder is an object, which cannot be tuned; give the name or the path of an encoder")
    folder = encoder_folder(untuned.encoder_.reference)
    from ._tune_run import TuneRun
    from .student import open_source

    scratch = beside(target.with_name(f"{target.name}.encoder"))  # a killed process may have left it: it is removed
    try:
        with open_source(folder) as source:
            run = TuneRun(untuned, source, recipe, device)
            before, after, error, is_better = run.train(progress)
            if is_better:
                scratch.mkdir()
                run.write(scratch)
        tuned = untuned
        if is_better:
            tuned = Tagger(**untuned.get_params(deep=False) | {"encoder": scratch, "types": untuned.types_})
            tuned.fit(labelled, text.sentences[: text.n_text] or None, progress=on_fit)
        seconds = time.monotonic() - started
        tuned.save(target, include_encoder=True if is_better else "auto")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    loaded = Tagger.load(target, threads=untuned.threads, cache=untuned.cache)
    return Tuning(loaded, len(labelled), before, after, error, is_better, seconds)
