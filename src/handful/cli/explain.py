"""``handful explain``: why mentions were found, or were not."""

import json
from functools import partial
from typing import Any

from . import options as opt
from ._common import least_score, load, say
from .reading import Documents


def explain(
    model: opt.Model,
    files: opt.Texts = None,
    text: opt.Given = None,
    nearest: int = opt.own(3, "--nearest", "N", "How many labelled words to show for each.", min=1),
    word: str | None = opt.own(None, "--word -w", "WORD[=TYPE]", "Say why a word, or words in a row, were not found."),
    min_score: opt.MinScore = "0",
    encoder: opt.ModelEncoder = None,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Say for each mention why it was found.

    A table shows, for each word, the points that its name, the labels, the nearest labelled word and the clusters give
    to its type, against the type that came second. Below it are the prototype nearest to the mention, and the labelled
    words nearest to it. With [bold]--json[/bold] there is one line for each sentence.

    With [bold]--word[/bold] it says why a word was not found, or was given another type: what speaks for the nearest
    types and against them, how many points are lacking, and which label or wording would change it. Sentences without
    the word are passed over.

    [bold]Examples[/bold]

    \b
    handful explain model --text "Ekeus heads for Baghdad"
    handful explain model --text "The oven stays cold." --word oven
    handful explain model notes.txt --word oven=DEVICE
    handful explain model notes.txt --nearest 5 | less
    head -20 notes.txt | handful explain model - --json
    """
    from .show import Console, Text, colours_of

    documents = Documents(files, text, from_format, text_field=text_field, quiet=quiet)
    least = least_score(min_score)
    tagger = load(model, encoder, threads)
    console, colours = Console(soft_wrap=True), colours_of(tagger.types_)
    explained: Any = partial(tagger.explain, min_score=least, n_nearest=nearest)
    if word is not None:
        word, _, name = word.partition("=")
        explained = partial(tagger.explain_word, word=word, type=name or None, min_score=least)
    n_found = 0
    for sentence in (sentence for document in documents for sentence in document.sentences):
        found = explained(sentence)
        n_found += len(found)
        if as_json and (found or word is None):
            shown = {"text": sentence.with_text().text, "explanations": [one.to_dict() for one in found]}
            say(json.dumps(shown, ensure_ascii=False), err=False)
        elif found:
            whole = Text(sentence.with_text().text or "")
            for one in found:
                whole.stylize(f"bold {colours[one.mention['entity_group']]}", one.mention["start"], one.mention["end"])
            console.print(whole, *(Text(str(one)) for one in found), "", sep="\n")
    if not n_found:
        say("no mention was found" if word is None else f"no text has the word {word!r}", quiet=quiet)
