"""The model card: a README.md that says what a saved tagger is, for people."""

import re
from typing import TYPE_CHECKING

from handful.encoders.opened import is_path

from ._learning import cluster_parameters
from .evidence import Prototypes
from .model import Softmax

if TYPE_CHECKING:
    from .saving import Saved

FEW_WORDS = 1_000  # of unlabelled text: with fewer, scores are too high; docs/decisions/0002 has figures


#: How the card says to open the tagger.
OPENING = 'from handful import Tagger\n\ntagger = Tagger.load("path/of/this/folder")'


def model_card(saved: "Saved") -> str:
    """Return the card, which is the same whenever and wherever a fit is saved; of a path it shows the last part."""
    summary, encoder, parameters = saved.summary, saved.encoder, saved.parameters
    if encoder["is_inside"]:
        where = "in this folder, under `encoder`"
    elif encoder["reference"] is None:
        where = "an object of Python, to be given to `Tagger.load(..., encoder=)`"
    elif is_path(encoder["reference"]):
        name = encoder["reference"].replace("\\", "/").rstrip("/").rpartition("/")[2]
        where = f"a folder named `{name}`, not in here; `config.json` has its path"
    else:
        where = f"`{encoder['reference']}`"
    verb = "estimated" if summary.is_estimated else "asked"
    asked = "none asked" if summary.o_ratio is None else f"{verb}: {summary.o_ratio:.4g}"
    if isinstance(saved.model.calibration, Softmax):
        scores = "Scores are those of the nearest prototypes, and not calibrated."
    else:
        scores = "A score is an estimate of the chance that the mention is right."
        if summary.n_unlabelled_words < FEW_WORDS and not summary.has_names:
            scores += " It is likely too high here, because little or no unlabelled text was given."
    prototypes = saved.model.piece(Prototypes)
    tags = [] if prototypes is None else prototypes.tags.tolist()
    clusters = cluster_parameters(parameters["clusters"])
    descriptions = {one.name: one.description for one in saved.model.types}
    rows = [
        f"| {cell(name)} | {cell(descriptions[name])} | {summary.mentions[name]} | "
        f"{summary.unlabelled_words[name]:,} | {cell('; '.join(summary.examples[name]))} |"
        for name in summary.mentions
    ]
    facts = [
        ("method", summary.method),
        ("names of types", "read" if summary.has_names else "not read"),
        ("labelled sentences", f"{summary.n_support:,} ({summary.n_support_words:,} words), in `support.jsonl`"),
        ("unlabelled words", f"{summary.n_unlabelled_words:,}"),
        ("share of O words", f"{asked}; met: {summary.o_share:.4f}"),
        ("prototypes", f"{len(tags)}, of which {tags.count(0)} for O"),
        (
            "assignment",
            f"{clusters.get('assignment', 'hard')}, {summary.rounds} rounds, objective {summary.objective:.4f}",
        ),
        ("encoder", where),
        ("its fingerprint", f"`{encoder['fingerprint']}`"),
    ]
    return "\n".join(
        [
            "# A tagger for " + ", ".join(cell(name) for name in summary.mentions),
            "",
            "Fitted with handful: an encoder that stays as it is, prototypes and a projection learned from a few "
            "labelled sentences and from unlabelled text.",
            "",
            "```python",
            OPENING,
            'tagger.predict("Some text.")',
            "```",
            "",
            "| type | what it means | labelled mentions | unlabelled words taken for it | such as |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "| fit | |",
            "|---|---|",
            *[f"| {name} | {value} |" for name, value in facts],
            "",
            "Mentions next to each other and of the same type are found as one. " * (saved.model.seams is None)
            + "Mentions within mentions are not found. " * (not saved.model.layers)
            + f"{scores} `support.jsonl` and the examples above hold text that the tagger was fitted on: think of who "
            "gets to see them.",
            "",
        ]
    )


def cell(text: str) -> str:
    """Return text so that it stays within a cell of a table, and is neither markup nor HTML."""
    return re.sub(r"([\\|`<\[])", r"\\\1", " ".join(text.split()))
