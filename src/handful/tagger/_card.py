"""The model card: a README.md that says what a saved tagger is, for people."""

from typing import TYPE_CHECKING

from handful.encoders._opened import is_path

if TYPE_CHECKING:
    from ._saving import Saved

__all__ = ["model_card"]

FEW_WORDS = 1_000  # of unlabelled text: with fewer, scores are too high; docs/decisions/0002 has figures


def model_card(saved: "Saved") -> str:
    """Write the card, the same for the same fit whenever and wherever it is saved; a path shows by its last part."""
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
    verb = "estimated" if summary.ratio_is_estimated else "asked"
    asked = "none asked" if summary.ratio_asked is None else f"{verb}: {summary.ratio_asked:.4g}"
    scores = (
        "Scores are those of the nearest prototypes, and not calibrated."
        if summary.method == "paper"
        else "A score is an estimate of the chance that the mention is right."
    )
    if summary.method != "paper" and summary.n_unlabelled_words < FEW_WORDS:
        scores += " It is likely too high here, for little or no unlabelled text was given."
    prototype_tags = saved.model.prototype_tags
    rows = [
        f"| {_cell(name)} | {summary.mentions[name]} | {summary.unlabelled_words[name]:,} | "
        f"{_cell('; '.join(summary.examples[name]))} |"
        for name in summary.types
    ]
    facts = [
        ("method", summary.method),
        ("labelled sentences", f"{summary.n_support:,} ({summary.n_support_words:,} words), in `support.jsonl`"),
        ("unlabelled words", f"{summary.n_unlabelled_words:,}"),
        ("share of O words", f"{asked}; met: {summary.ratio_met:.4f}"),
        ("prototypes", f"{len(prototype_tags)}, of which {(prototype_tags == 0).sum()} for O"),
        ("assignment", f"{parameters['assignment']}, {summary.rounds} rounds, objective {summary.objective:.4f}"),
        ("encoder", where),
        ("its fingerprint", f"`{encoder['fingerprint']}`"),
        ("its layers", f"{parameters['layers']}"),
    ]
    return "\n".join(
        [
            "# A tagger for " + ", ".join(_cell(name) for name in summary.types),
            "",
            "Fitted with handful: an encoder that stays as it is, prototypes and a projection learned from a few "
            "labelled sentences and from unlabelled text.",
            "",
            "```python",
            "from handful import Tagger",
            "",
            'tagger = Tagger.load("path/of/this/folder")',
            'tagger.predict("Some text.")',
            "```",
            "",
            "| type | labelled mentions | unlabelled words taken for it | such as |",
            "|---|---|---|---|",
            *rows,
            "",
            "| fit | |",
            "|---|---|",
            *[f"| {name} | {value} |" for name, value in facts],
            "",
            "Mentions next to each other and of the same type are found as one, and mentions within mentions not at "
            f"all. {scores} `support.jsonl` and the examples above hold text that the tagger was fitted on: mind who "
            "gets to see them.",
            "",
        ]
    )


def _cell(text: str) -> str:
    """Write text so that it stays within a cell of a table."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")
