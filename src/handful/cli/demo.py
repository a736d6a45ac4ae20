"""``handful demo``: the main job, offline, on the corpus inside the package."""

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful._util.files import check_file, replacing_folder, write_text
from handful.errors import EncoderError
from handful.examples import NOTES, Notes
from handful.text import Sentence, read, read_types, write
from handful.text.languages import NAMES

from ._common import say
from .options import one_of, own

if TYPE_CHECKING:
    from handful.evaluate import Scores
    from handful.tagger import Tagger

N_SHOWN = 8

_Step = tuple[str, "Tagger", "Scores", float]


def demo(
    out: Path = own(Path("handful-demo.html"), "--out", "FILE", "The page to write."),
    files: Path | None = own(None, "--files", "FOLDER", "Only write the corpus there, to try the other commands on."),
    language: str = own(
        "en", "--language", "CODE", f"The language of the notes: {', '.join(NOTES)}.", callback=one_of(*NOTES)
    ),
) -> None:
    """Fit on a small corpus of garden notes, score, and show what was found.

    The corpus is inside the package: what PEST, PLANT, TOOL and TREATMENT mean in a line each, 18 labelled sentences
    with 5 mentions of each, 434 unlabelled ones, and others to score on. It is fitted four times: with what the types
    mean, with the unlabelled text as well, with the labels as well, and with all three. Nothing is downloaded.

    Smaller notes in German, Spanish and Chinese are for an encoder that knows the language (pip install handful-xx).

    [bold]Examples[/bold]

    \b
    handful demo
    handful demo --out garden.html
    handful demo --files garden
    handful demo --language de
    """
    notes = NOTES[language]
    if files is not None:
        _write_corpus(notes, files)
        return
    check_file(out)
    gold = read(notes.heldout)
    steps = _steps(notes, language, gold)
    predicted = list(zip(gold, steps[-1][1].predict_sentences(gold), strict=True))
    write_text(out, _page(notes, steps, predicted))
    _show(steps, predicted, out)


def _write_corpus(notes: Notes, path: Path) -> None:
    """Write the corpus under the names that the README uses."""
    auto = "" if notes == NOTES["en"] else " --encoder auto"
    with replacing_folder(path) as folder:
        for name, source in (
            ("types.txt", notes.types),
            ("few.txt", notes.support),
            ("corpus.txt", notes.unlabelled),
            ("test.txt", notes.heldout),
        ):
            shutil.copyfile(source, folder / name)
        write((sentence.without_labels() for sentence in read(notes.heldout)), folder / "notes.txt", "text")
    say(
        "wrote types.txt (what they mean), few.txt (labelled), corpus.txt (unlabelled), notes.txt (to tag) and "
        f"test.txt (to score on) to {path}\ntry: handful predict --types {path}/types.txt {path}/notes.txt{auto}"
    )


def _steps(notes: Notes, language: str, gold: "Sequence[Sentence]") -> list[_Step]:
    """Fit four times, each with more to go on; all share one encoder, so that no sentence is encoded twice."""
    from handful.encoders import CachedEncoder, load
    from handful.encoders.languages import reader_of
    from handful.evaluate import score
    from handful.tagger import Tagger

    reader = reader_of(language)
    if reader is None:
        raise EncoderError(f"no encoder that is installed knows {NAMES[language]}; pip install handful-xx")
    encoder, types = CachedEncoder(load(reader)), read_types(notes.types)
    steps: list[_Step] = []
    choices: tuple[tuple[str, Path | None, Path | None], ...] = (
        ("what types mean, alone", None, None),
        ("and unlabelled text", None, notes.unlabelled),
        ("and a few labels of each type", notes.support, None),
        ("and both", notes.support, notes.unlabelled),
    )
    for name, support, unlabelled in choices:
        say(f"… {name}" if steps else f"fitting with {name}", quiet=not sys.stderr.isatty())
        started = time.perf_counter()
        tagger = Tagger(types, encoder=encoder, cache=False).fit(support, unlabelled)
        scores = score(gold, tagger.predict_sentences(gold))
        steps.append((name, tagger, scores, time.perf_counter() - started))
    return steps


def _comments(steps: list[_Step]) -> list[str]:
    """Say which steps did not help, and why that may be."""
    names, with_text, with_labels, with_both = (scores.micro.f1 for _, _, scores, _ in steps)
    comments = []
    if with_text <= names or with_both <= with_labels:
        comments.append(
            "Unlabelled text does not help each time here: it is short. Much more may help, above all without names."
        )
    if with_labels <= names:
        comments.append("Labels did not help here: what the types mean was enough.")
    return comments


def _show(steps: list[_Step], predicted: list[Any], out: Path) -> None:
    from .show import Console, Text, coloured, colours_of, percent, score_table, table

    console = Console()
    _, tagger, scores, _ = steps[-1]
    colours = colours_of(tagger.types_)
    console.print(f"[bold]Garden notes[/bold]: {tagger.summary_.text().splitlines()[0]}", markup=True)
    console.print("Scored on sentences held out: exact mentions of the right type.\n")
    shown = table("fitted with", "precision", "recall", "F1", "seconds")
    for name, _, step, seconds in steps:
        shown.add_row(name, *map(percent, (step.micro.precision, step.micro.recall, step.micro.f1)), f"{seconds:.1f}")
    console.print(shown)
    for comment in _comments(steps):
        console.print(Text(comment, "italic"))
    console.print("\n[bold]By type[/bold], with all of it", markup=True)
    console.print(score_table(scores))
    console.print("\n[bold]Found in sentences that it has not seen[/bold]", markup=True)
    for gold, found in [(gold, found) for gold, found in predicted if found.spans][:N_SHOWN]:
        sign = Text("✓ ", "green") if found.spans == gold.spans else Text("✗ ", "red")
        console.print(sign + coloured(found, colours), soft_wrap=True)
    console.print(
        Text.assemble(f"\nAll {len(predicted)} sentences, with what was wrong and missed: ", (str(out), "bold"))
    )


def _page(notes: Notes, steps: list[_Step], predicted: list[Any]) -> Iterator[str]:
    from handful.web import CLOSING, marked, opening

    from .show import percent

    tagger = steps[-1][1]
    types = tagger.types_
    about = f"Learned from {tagger.summary_.text().splitlines()[0]}. All of it was done on this machine."
    yield opening("Garden notes, tagged from a handful of labels", types, about)
    heads = "".join(f"<th>{head}</th>" for head in ("fitted with", "precision", "recall", "F1", ""))
    yield f"<h2>What each thing is worth</h2>\n<table><tr>{heads}</tr>\n"
    for name, _, scores, _ in steps:
        micro = scores.micro
        figures = "".join(f"<td>{percent(figure)}</td>" for figure in (micro.precision, micro.recall, micro.f1))
        bar = f'<span class="bar" style="width:{12 * micro.f1:.2f}rem"></span>'
        yield f"<tr><td>{escape(name)}</td>{figures}<td>{bar}</td></tr>\n"
    yield "</table>\n" + "".join(f'<p class="note">{escape(comment)}</p>\n' for comment in _comments(steps))
    yield "<h2>What it learned from</h2>\n"
    yield from (marked(sentence, types) for sentence in read(notes.support))
    yield "<h2>What it found in sentences that it has not seen</h2>\n"
    yield '<p class="note">Dashed: wrong, in its type or its ends. Dotted: missed.</p>\n'
    yield from (marked(found, types, gold=gold) for gold, found in predicted)
    yield CLOSING
