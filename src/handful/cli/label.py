"""``handful label``: the workbench, a page in the browser to label text."""

import getpass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from handful._util.files import expand
from handful.errors import DataError, FileError, HandfulError, number_of
from handful.text import Stream, stream
from handful.text.projects import is_project

from . import options as opt
from ._common import say, say_report, types_given
from .reading import check_texts

if TYPE_CHECKING:
    from handful.workbench import Project


def label(
    files: list[str] | None = opt.argument(None, "[FILE]", "Texts in any format, labelled or not; or a project (.db)."),
    types: opt.Types = None,
    project: Path | None = opt.own(
        None,
        "--project",
        "FILE",
        "The project to work on, made if there is none; otherwise named after the first text.",
    ),
    encoder: opt.Encoder = "handful-en",
    words: int = opt.own(50_000, "--words", "N", "How many words of text the tagger learns from.", min=1),
    people: str | None = opt.own(None, "--people", "ANNA,BEN", "Who works on it at once; each gets an address."),
    both: float | None = opt.own(
        None, "--both", "SHARE", "The share of sentences that two of them decide, each alone; 0.1 if not set."
    ),
    overlap: opt.Overlap = False,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = None,
    no_browser: bool = opt.own(False, "--no-browser", None, "Only print the address."),
    no_cache: opt.NoCache = False,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Label text in the browser, with a tagger that learns while you look.

    The page shows the text with what the tagger found. Each correction fits it again, and the next sentence is the one
    that teaches most. Everything is in one file, the project: [bold]corpus.db[/bold] beside [bold]corpus.txt[/bold].
    A decision is on the disk before the page shows it. Give the project to go on, and to [bold]handful fit[/bold] or
    [bold]handful convert[/bold] to use the labels.

    The server listens to this machine alone, and the address holds a token that each request must know.

    Several people can work at once: [bold]--people anna,ben[/bold] prints an address for each. No two get the same open
    sentence, but for a share that two decide, so that the page can say how far they agree.

    [bold]Examples[/bold]

    \b
    handful label corpus.txt --types types.txt
    handful label corpus.db
    handful label corpus.db --people anna,ben --host 0.0.0.0
    handful fit corpus.db --out model
    handful convert corpus.db labels.jsonl --to prodigy
    """
    from handful.encoders.languages import AUTO, choose
    from handful.workbench import LOOPBACK, People, Project, Session, serve

    if people is None and both is not None:
        raise DataError("--both says how much two people decide: name them with --people")
    share = 0.1 if both is None else both
    several = None if people is None else People([one.strip() for one in people.split(",")], share)
    path, texts = _chosen(expand(files or []), project)
    given = types_given(types)  # this and the next line before there is a project
    check_texts(texts, from_format, {"text_field": text_field})
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # nobody is logged in
        user = ""
    is_new = not path.exists()
    with Project(path, user) as opened:
        try:
            if overlap:
                opened.share_words()
            if given:
                opened.add([], lambda: given)
            for text in texts:
                with stream(text, from_format, text_field=text_field) as documents:
                    _bring_in(opened, documents, encoder, quiet=quiet)
        except HandfulError:
            if is_new:
                opened.delete()
            raise
        if encoder == AUTO:
            encoder = choose([one[-1] for one in islice(opened.sentences(), 5_000)])
        session = Session(opened, encoder, most_words=words, threads=threads, cache=not no_cache, people=several)
        if not session.mirror.entries:
            say("there is no text in the project yet; bring some in on the page", quiet=quiet)
        if several is not None and host in LOOPBACK:
            say("only this machine can reach these addresses; --host 0.0.0.0 lets others in", quiet=quiet)
        if host not in LOOPBACK:
            say(
                f"warning: with --host {host} other machines can reach the workbench. Whoever knows the address with "
                "its token can read and change all texts and labels, and the connection is not encrypted."
            )
        say(f"project: {opened.path}; Ctrl-C stops the server, nothing is lost", quiet=quiet)
        serve(session, host=host, port=port, open_browser=not no_browser, say=typer.echo)


def _chosen(files: list[str], project: Path | None) -> tuple[Path, list[str]]:
    """Return the project to work on, and the texts to put into it."""
    if project is not None:
        return project, files
    if not files:
        raise DataError("there is nothing to label: give a text, or a project with --project")
    if is_project(files[0]):
        return Path(files[0]), files[1:]
    if files[0] == "-":
        raise DataError("text from standard input needs a name for its project: give --project")
    if not Path(files[0]).is_file():
        raise FileError(f"{files[0]}: there is no such file; give a text or a project")
    return Path(files[0]).with_suffix(".db"), files


def _bring_in(project: "Project", documents: "Stream", encoder: str, *, quiet: bool) -> None:
    """Put texts and their types into a project; what is there already is not added again."""
    added = project.add(documents, lambda: documents.types)
    name = documents.report.name
    say_report(documents.report, name, quiet=quiet)
    lines = added.notes(encoder)
    if added.n_texts:
        lines.append(f"{number_of(added.n_sentences, 'sentence')} added, {added.n_labelled:,} of them labelled")
    for line in lines:
        say(f"{name}: {line}", quiet=quiet)
