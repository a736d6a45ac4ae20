"""``handful convert``: a corpus from one format to another."""

import json
from typing import Annotated

import typer

from handful.text import FORMATS

from .options import Encoding, From, Json, Quiet, Scheme, number_of, one_of, say


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
    widen: Annotated[bool, typer.Option("--widen", help="Widen spans that end within a word to whole words.")] = False,
    skip: Annotated[bool, typer.Option("--skip-malformed", help="Leave out what is malformed, and count it.")] = False,
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
    """
    from handful._util.files import check_file
    from handful.text import stream, write

    if target != "-":
        check_file(target)
    with stream(
        source,
        from_format,
        encoding=encoding,
        misaligned="widen" if widen else "error",
        malformed="skip" if skip else "error",
        unmarked="unknown" if unmarked_unknown else "O",
    ) as documents:
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
