"""The garden notebook: a small corpus with four types of its own, for the demo and for trying things out.

``README.md`` beside the files says what is labelled and how. ::

    import handful
    from handful import examples

    handful.read(examples.SUPPORT)
    handful.read(examples.NOTES["de"].support)  # a smaller one in another language
"""

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

__all__ = ["HELDOUT", "NOTES", "SUPPORT", "TYPES", "UNLABELLED", "Notes"]

_FOLDER = Path(str(files(__name__)))


class Notes(NamedTuple):
    """The files of a small corpus."""

    types: Path  # what the types mean, a line each
    support: Path  # a few labelled sentences; inline markup
    unlabelled: Path  # sentences without labels, one on each line
    heldout: Path  # labelled sentences to score on; inline markup


#: The corpora by the codes of their languages.
NOTES = {
    language: Notes(*(_FOLDER / folder / f"{part}.txt" for part in Notes._fields))
    for language, folder in {"en": "", "de": "de", "es": "es", "zh": "zh"}.items()
}

#: The files of the English corpus: four types, five labelled mentions of each.
TYPES, SUPPORT, UNLABELLED, HELDOUT = NOTES["en"]
