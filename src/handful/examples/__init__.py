"""The garden notebook: a small corpus with four types of its own, for the demo and for trying things out.

``README.md`` beside the files says what is labelled and how. ::

    from handful import examples
    from handful.text import read

    read(examples.SUPPORT)
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["HELDOUT", "SUPPORT", "UNLABELLED"]

_FOLDER = Path(str(files(__name__)))

#: 18 labelled sentences, five mentions of each type; inline markup.
SUPPORT = _FOLDER / "support.txt"

#: Sentences without labels, one a line.
UNLABELLED = _FOLDER / "unlabelled.txt"

#: Labelled sentences to score on; inline markup.
HELDOUT = _FOLDER / "heldout.txt"
