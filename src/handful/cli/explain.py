"""``handful explain``: why mentions were found."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ._texts import Documents
from .options import (
    Encoding,
    From,
    Given,
    Json,
    MinScore,
    Model,
    ModelEncoder,
    Quiet,
    TextField,
    Texts,
    Threads,
    least_score,
    load,
    say,
)

if TYPE_CHECKING:
    from handful.tagger import Explanation
    from handful.text import Sentence


def explain(
    model: Model,
    files: Texts = None,
    text: Given = None,
    nearest: Annotated[
        int, typer.Option("--nearest", metavar="N", min=1, help="How many labelled words to show for each.")
    ] = 3,
    min_score: MinScore = "0",
    encoder: ModelEncoder = None,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    text_field: TextField = None,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Say for each mention why it was found.

    Shown are what its name, the labels, the nearest labelled word and the clusters each say for its type and against
    the one that came second; the prototype nearest to it; and the labelled words nearest to it, with their distance,
    tag and sentence. With [bold]--json[/bold] there is one line for each sentence.

    [bold]Examples[/bold]

    \b
    handful explain model --text "Ekeus heads for Baghdad"
    handful explain model notes.txt --nearest 5 | less
    head -20 notes.txt | handful explain model - --json
    """
    documents = Documents(files, text, from_format, encoding, text_field, quiet=quiet)
    least = least_score(min_score)
    tagger = load(model, encoder, threads)
    if not as_json:
        from rich.console import Console

        from .show import colours_of

        console = Console(highlight=False)
        colours = colours_of(tagger.types_)
    n_found = 0
    for sentence in (sentence for document in documents for sentence in document.sentences):
        found = tagger.explain(sentence, min_score=least, n_nearest=nearest)
        n_found += len(found)
        if as_json:
            shown = {"text": sentence.with_text().text, "explanations": [one.to_dict() for one in found]}
            typer.echo(json.dumps(shown, ensure_ascii=False))
            continue
        for explanation in found:
            for line in _lines(sentence, explanation, colours):
                console.print(line, soft_wrap=True)
    if not n_found:
        say("no mention was found", quiet=quiet)


def _lines(sentence: "Sentence", explanation: "Explanation", colours: dict[str, str]) -> list[object]:
    from rich.text import Text

    mention, prototype = explanation.mention, explanation.prototype
    colour = colours[mention["entity_group"]]
    shown = Text(sentence.with_text().text or "", "dim")
    shown.stylize(f"not dim bold {colour}", mention["start"], mention["end"])
    lines: list[object] = [
        Text.assemble(
            (mention["word"], f"bold {colour}"), " is ", (mention["entity_group"], colour), f", {mention['score']:.3f}"
        ),
        Text("  in    ") + shown,
        Text(
            f"  why   {_evidence(explanation)}; second comes {explanation.runner_up}, {explanation.runner_up_score:.3f}"
        ),
    ]
    if prototype is not None:
        lines.append(Text(f"  like  prototype {prototype.number} of {prototype.tag}, at {prototype.distance:.2f}"))
    for near in explanation.nearest:
        before, after = around(near.sentence.split(" "), near.position)
        style = colours.get(near.tag, "")
        lines.append(
            Text.assemble(
                f"  {near.distance:5.2f} ",
                (f"{near.word} ", f"bold {style}".strip()),
                (near.tag, style),
                (f"  {before} " if before else "  ", "dim"),
                (near.word, style),
                (f" {after}", "dim"),
            )
        )
    return [*lines, ""]


def _evidence(explanation: "Explanation") -> str:
    """Return what each piece of evidence says for the type, and against the one that came second."""
    from handful.tagger.explaining import SHOWN

    return ", ".join(f"{SHOWN[kind]} {points:+.1f}" for kind, points in explanation.evidence.items())


def around(words: list[str], position: int, n: int = 8) -> tuple[str, str]:
    """Return up to n whole words before and after a word; … marks what was left out."""
    start, end = max(0, position - n), position + 1 + n
    before = ["…"] * (start > 0) + words[start:position]
    after = words[position + 1 : end] + ["…"] * (end < len(words))
    return " ".join(before), " ".join(after)
