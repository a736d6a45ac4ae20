"""``handful suggest``: which sentences to label next."""

from dataclasses import replace

from handful._util.files import check_file
from handful.errors import number_of
from handful.text import Span, write
from handful.text.formats import TABLE

from . import options as opt
from ._common import load, progress_of, say, say_report
from .reading import Documents


def suggest(
    model: opt.Model,
    files: opt.Texts = None,
    n: int = opt.own(20, "-n", "N", "How many sentences.", min=1),
    to: opt.ToLabelled = "inline",
    out: opt.OutFile = None,
    encoder: opt.ModelEncoder = None,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Choose the sentences that are worth labelling next, and write them with the mentions found in them now.

    Chosen are sentences in which the model doubts some words, and which are unlike those that are labelled or chosen
    already; the types take turns. Sentences that the model has labels for are passed over. The same text gives the
    same sentences every time, and files of any size pass through in little memory. Correct what was written, and give
    it to [bold]handful add[/bold].

    [bold]Examples[/bold]

    \b
    handful suggest model corpus.txt -n 20 --out next.txt
    handful add model next.txt --unlabelled corpus.txt
    handful suggest model corpus.txt --to prodigy > next.jsonl
    """
    if out is not None:
        check_file(out)
    documents = Documents(files, None, from_format, text_field=text_field, quiet=quiet)
    tagger = load(model, encoder, threads)
    found = tagger.suggest(documents, n, progress=progress_of(quiet))
    if "scores" not in TABLE[to].holds:  # they are not missed: a person corrects the mentions
        found = [replace(one, spans=tuple(Span(s.start, s.end, s.type) for s in one.spans or ())) for one in found]
    types = tagger.types_ if to == "inline" else None
    report = write(found, "-" if out is None else out, to, types=types)
    say_report(report, str(out or "standard output"), quiet=quiet)
    if len(found) < n:
        say(f"only {number_of(len(found), 'sentence')} {'is' if len(found) == 1 else 'are'} not labelled", quiet=quiet)
    if out is not None:
        say(f"wrote {out}; correct it, then: handful add {model} {out}", quiet=quiet)
