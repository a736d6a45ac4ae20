"""``handful convert``: a corpus from one format to another."""

import json
from typing import Annotated

import typer

from handful.text import FORMATS

from ._dataclass_options import with_options
from .options import Encoding, From, Json, Quiet, Scheme, number_of, one_of, say
from .reading import READING, Reading


@with_options(Reading(), title=READING)
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, or - for standard input.")],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The file to write, or - for standard output; .gz is compressed.")
    ],
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", callback=one_of(*FORMATS), help=f"What to write: {', '.join(FORMATS)}."),
    ],
    from_format: From = None,
    scheme: Scheme = "BIO",
    encoding: Encoding = "utf-8",
    *,
    reading: Reading,
    unmarked_unknown: Annotated[
        bool, typer.Option("--unmarked-unknown", help="Words that no mention covers are unlabelled, not O.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a corpus in another format, and say what had to be changed.

    Formats are recognised by their content; [bold]--from[/bold] names one. The file appears when it is complete.
    With [bold]--json[/bold] the counts go to standard output (to standard error if the corpus goes there).

    [bold]Examples[/bold]

    \b
    handful convert export.jsonl train.conll --to conll
    handful convert train.conll train.jsonl --to prodigy
    handful convert old.txt - --to conll --scheme BIOES --encoding latin-1 | less
    handful convert tasks.json train.spacy --to docbin --annotator majority
    handful convert a.conll b.txt --to inline --keep PER,LOC --rename GPE=LOC
    handful convert reviews.csv reviews.jsonl --to jsonl --text-field body
    """
    from handful._util.files import check_file
    from handful.text import stream, write

    if target != "-":
        check_file(target)
    unmarked = "unknown" if unmarked_unknown else "O"
    with stream(source, from_format, unmarked=unmarked, **reading.options(encoding)) as documents:
        written = write(documents, target, to, scheme=scheme)
    read = documents.report
    if as_json:
        record = {
            "in": {"file": read.name, "format": read.format, "scheme": read.scheme},
            "out": {"file": target, "format": to},
            "n_sentences": read.n_sentences,
            "n_words": read.n_words,
            "n_broken": read.n_broken,
            "n_widened": read.n_widened,
            "n_skipped": read.n_skipped,
            "n_merged": written.n_merged,
            "notes": {str(note): count for note, count in (read.notes + written.notes).items()},
        }
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False), err=target == "-")
        return
    for line in [read.summary, *read.handled(shell=True), *written.handled(shell=True)]:
        say(line, quiet=quiet)
    name = "standard output" if target == "-" else target
    say(f"wrote {name}: {to}, {number_of(written.n_sentences, 'sentence')}", quiet=quiet)
