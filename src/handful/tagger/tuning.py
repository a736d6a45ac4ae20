"""`Tagger.tune`: the encoder itself learns from labels, where that helps, and the tagger is fitted on the result."""

import copy
import shutil
import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from handful._util.files import PathLike, beside
from handful.encoders.opened import encoder_folder, is_object
from handful.errors import DataError, EncoderError, MissingExtraError
from handful.training import TuneRecipe

from .saving import check_place
from .training_text import sentences_of

__all__ = ["FEWEST", "Tunable", "Tuning"]

FEWEST = 40  # labelled sentences; with fewer, what is held out says too little (docs/decisions/0010)


@dataclass(frozen=True)
class Tuning:
    """What tuning measured, and what it did.

    Attributes
    ----------
    n_sentences : the labelled sentences
    before, after : the F1 on labelled sentences that were held out, of the encoder as it was and of the tuned one
    error : the standard error of their difference
    is_tuned : whether the tuned encoder was taken
    seconds : how long it took
    """

    n_sentences: int
    before: float
    after: float
    error: float
    is_tuned: bool
    seconds: float

    def __str__(self) -> str:
        on = f"on held-out labels, F1 was {100 * self.before:.1f} before and {100 * self.after:.1f} after tuning"
        if self.is_tuned:
            return f"{on}; the tuned encoder is taken"
        return f"{on}; that is not enough, so the encoder stays as it was: label more, and tune again"

    def to_dict(self) -> dict[str, Any]:
        """Return it in JSON's types."""
        return asdict(self)


class Tunable:
    """What can be tuned: a tagger."""

    tuning_: Tuning

    def tune(
        self,
        sentences: Any = None,
        unlabelled: Any = None,
        *,
        out: PathLike,
        recipe: TuneRecipe | None = None,
        device: str | None = None,
        restart: bool = False,
        progress: Any = None,
    ) -> Self:
        """Let the encoder itself learn from the labels, and write the tagger that results (extra ``transformers``).

        It pays from some 50 labels of each type on. Part of the labels is held out in turn, to see whether the tuned
        encoder is better; where it is not, the encoder stays as it was. The result is a tagger like any other, with its
        encoder inside the folder: it needs no torch, and is as fast as before. See docs/tune.md.

        When it is interrupted, it leaves a checkpoint beside `out` (its name and ``.checkpoint``), and the same call
        continues from there.

        Parameters
        ----------
        sentences : path or list, optional
            More labelled sentences, as for `add`.
        unlabelled : path or list, optional
            Text of the kind to be tagged, as for `fit`: the tuned tagger is fitted on it too. A tagger from disk lacks
            the text it was fitted with, if any: give that again.
        out : path
            The folder to write. One that holds a saved tagger is replaced; one with anything else is left alone.
        recipe : TuneRecipe, optional
            How to tune.
        device : str, optional
            "cpu" or "cuda"; None for a GPU where there is one.
        restart : bool
            Whether to start from the beginning even if there is a checkpoint.
        progress
            True: a bar on a terminal and lines elsewhere, on standard error. False: nothing. None: a bar on a terminal,
            nothing elsewhere.

        Returns
        -------
        Tagger
            The tagger that was written; this one stays as it is. Its ``tuning_`` says what was measured.
        """
        recipe = TuneRecipe() if recipe is None else recipe
        target = Path(out)
        check_place(target)
        _check_libraries()
        started = time.monotonic()
        untuned: Any = copy.copy(self)
        given = untuned._fitted()[1].sentences if sentences is None else sentences
        untuned.add(given, unlabelled, progress=progress if isinstance(progress, bool) else None)
        labelled = sentences_of(untuned._text.labels)
        if len(labelled) < FEWEST:
            raise DataError(
                f"there are {len(labelled)} labelled sentences, too few to tune an encoder: label at least {FEWEST}, "
                "better some 50 mentions of each type"
            )
        checkpoint = target.with_name(f"{target.name}.checkpoint")
        if restart:
            checkpoint.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = _folder(untuned)
        from handful.training.student import open_source

        from ._tune_run import Run

        scratch = beside(target.with_name(f"{target.name}.encoder"))  # what a killed process left of it is removed
        try:
            with open_source(folder) as source:
                run = Run(untuned, source, recipe, device, checkpoint)
                held_out = run.train(progress)
                if held_out.is_better:
                    scratch.mkdir()
                    run.write(scratch)
            tuned: Any = untuned
            if held_out.is_better:
                tuned = type(self)(**untuned.get_params(deep=False) | {"encoder": scratch, "types": untuned.types_})
                text = untuned._text.sentences[: untuned._text.n_text]
                tuned.fit(labelled, text or None, progress=progress if isinstance(progress, bool) else None)
            figures = (held_out.before, held_out.after, held_out.error, held_out.is_better)
            tuning = Tuning(len(labelled), *figures, time.monotonic() - started)
            tuned.save(target, include_encoder=True if held_out.is_better else "auto")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        checkpoint.unlink(missing_ok=True)
        loaded: Any = type(self).load(target, threads=untuned.threads, cache=untuned.cache)  # type: ignore[attr-defined]
        loaded.tuning_ = tuning
        return loaded  # type: ignore[no-any-return]


def _folder(tagger: Any) -> Path:
    """Return the folder of a tagger's encoder; an error says why it cannot be tuned."""
    if is_object(tagger.encoder):
        raise EncoderError("the encoder is an object, which cannot be tuned; give the name or the path of an encoder")
    if tagger.layers not in (-1, [-1], (-1,)):
        raise EncoderError(f"the tagger reads layers {tagger.layers}; only one that reads the last layer can be tuned")
    return encoder_folder(tagger._open().reference)


def _check_libraries() -> None:
    """Refuse to begin without what tuning needs, which takes seconds to import."""
    for name in ("torch", "onnx"):
        if find_spec(name) is None:
            raise MissingExtraError(f"tuning needs {name}: pip install 'handful[transformers]'")
