"""The garden notebook: a small corpus with four types of its own, for the demo and for trying things out.

``README.md`` beside the files says what is labelled and how. ::

    import handful
    from handful import examples

    handful.read(examples.SUPPORT)
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["HELDOUT", "SUPPORT", "TYPES", "UNLABELLED"]

_FOLDER = Path(str(files(__name__)))

#: 18 labelled sentences, five mentions of each type; inline markup.
SUPPORT = _FOLDER / "support.txt"

#: The four types, each with what it means in a line.
TYPES = _FOLDER / "types.txt"

#: Sentences without labels, one on each line.
UNLABELLED = _FOLDER / "unlabelled.txt"

#: Labelled sentences to score on; inline markup.
HELDOUT = _FOLDER / "heldout.txt"
