"""``handful convert``: a corpus from one format to another."""

import os
from typing import Any

import typer

from handful._util.files import check_file
from handful.errors import number_of
from handful.text import FORMATS, SCHEMES, read_tag_names, stream, write
from handful.text.layers import LAYERS

from . import options as opt
from ._common import listed, say

_LABELS = "How labels are read"


def _reading(default: Any, name: str, metavar: str | None, help: str, **more: Any) -> Any:
    return opt.own(default, name, metavar, help, rich_help_panel=_LABELS, **more)


def convert(
    source: str = opt.argument(..., "IN", "A file, or - for standard input."),
    target: str = opt.argument(..., "OUT", "The file to write, or - for standard output; .gz is compressed."),
    to: str = opt.own(
        ..., "--to", "FORMAT", f"The format to write: {', '.join(FORMATS)}.", callback=opt.one_of(*FORMATS)
    ),
    scheme: str = opt.own(
        "BIO", "--scheme", "SCHEME", f"The tags to write: {', '.join(SCHEMES)}.", callback=opt.one_of(*SCHEMES)
    ),
    from_format: opt.From = None,
    encoding: str = opt.own("utf-8", "--encoding", "NAME", "The encoding of the file to read; UTF-8 is written."),
    text_field: opt.TextField = None,
    skip_malformed: opt.SkipMalformed = False,
    label_field: str | None = _reading(None, "--label-field", "FIELD", "The column or field that holds the labels."),
    annotator: str | None = _reading(
        None,
        "--annotator",
        "NAME",
        "If several people annotated a text: the name of one of them; or first, majority, or agree, which leaves "
        "open the words on which they do not agree. If not set, they must agree.",
    ),
    keep: str | None = _reading(None, "--keep", "TYPE,...", "The only types to read; mentions of others become O."),
    drop: str | None = _reading(None, "--drop", "TYPE,...", "Types to leave out; their mentions become O."),
    rename: str | None = _reading(
        None,
        "--rename",
        "OLD=NEW,...",
        "New names of types, before --keep and --drop; types that get the same name are merged.",
    ),
    layer: str | None = _reading(
        None,
        "--layer",
        "LAYER",
        f"Of mentions that share words, those to read: {' or '.join(LAYERS)}. One type alone: --keep.",
        callback=opt.one_of(*LAYERS),
    ),
    tag_names: str | None = _reading(
        None,
        "--tag-names",
        "TAG,...",
        "The names of tags that are numbers, in order, as in O,B-PER,I-PER; or a file with one name on each line.",
    ),
    judged: str | None = _reading(
        None, "--judged", "TYPE,...", "The types that somebody looked for; unmarked words may be of others."
    ),
    widen: bool = _reading(False, "--widen", None, "Widen spans that end within a word to whole words."),
    unmarked_unknown: bool = _reading(
        False, "--unmarked-unknown", None, "Words that no mention covers are unlabelled, not O."
    ),
    quiet: opt.Quiet = False,
) -> None:
    """Bring a corpus into shape: write it in another format, with other types, and say what had to be changed.

    Formats are recognised by their content; [bold]--from[/bold] names one. The file appears when it is complete.

    [bold]Examples[/bold]

    \b
    handful convert export.jsonl train.conll --to conll
    handful convert train.conll train.jsonl --to prodigy
    handful convert old.txt - --to conll --scheme BIOES --encoding latin-1 | less
    handful convert tasks.json train.spacy --to docbin --annotator majority
    handful convert a.conll b.txt --to inline --keep PER,LOC --rename GPE=LOC
    handful convert reviews.csv reviews.jsonl --to jsonl --text-field body
    """
    if target != "-":
        check_file(target)
    options = {
        "encoding": encoding,
        "text_field": text_field,
        "malformed": "skip" if skip_malformed else "error",
        "label_field": label_field,
        "annotator": annotator,
        "keep": listed(keep),
        "drop": listed(drop) or (),
        "rename": _renamed(rename),
        "layer": layer,
        "judged": listed(judged),
        "tag_names": read_tag_names(tag_names) if tag_names and os.path.exists(tag_names) else listed(tag_names),
        "misaligned": "widen" if widen else "error",
        "unmarked": "unknown" if unmarked_unknown else "O",
    }
    with stream(source, from_format, **options) as documents:
        written = write(documents, target, to, scheme=scheme)
    read = documents.report
    for line in [read.summary, *read.handled(shell=True), *written.handled(shell=True)]:
        say(line, quiet=quiet)
    say(
        f"wrote {'standard output' if target == '-' else target}: {to}, {number_of(written.n_sentences, 'sentence')}",
        quiet=quiet,
    )


def _renamed(given: str | None) -> dict[str, str]:
    """Return the new names of types by the old ones."""
    pairs = [entry.rpartition("=") for entry in listed(given) or ()]
    if not all(old and new for old, _, new in pairs):
        raise typer.BadParameter(f"{given!r} is not OLD=NEW,..., as in PERSON=PER", param_hint="--rename")
    return {old: new for old, _, new in pairs}
