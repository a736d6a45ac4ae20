"""``handful types``: the types of a model, and other types for it."""

from typing import TYPE_CHECKING

import typer

from handful.text.guidelines import understood

from . import options as opt
from ._common import listed, load, say, types_given
from .reading import read_training

if TYPE_CHECKING:
    from handful.tagger import Tagger


def types(
    model: opt.Model,
    new: list[str] | None = opt.own(
        None,
        "--set",
        "TYPES",
        "The types from now on: a file with NAME: description on each line, or as for --types of handful fit; "
        "may be repeated. Others are dropped.",
    ),
    rename: str | None = opt.own(
        None, "--rename", "OLD=NEW,...", "New names, such as PERSN=PERSON; DRUG=BRAND+GENERIC splits a type."
    ),
    unlabelled: opt.Unlabelled = None,
    out: opt.OutModel = None,
    encoder: opt.ModelEncoder = None,
) -> None:
    """Show the types of a model, or change them and fit again.

    The table has the description of each type, its labelled mentions, and in how many labelled sentences somebody
    looked for it. In the others it is open: an unmarked word may be of this type. It also has the F1 of the labelled
    words by the name alone, by the description alone, and by both, as the encoder reads them without any label. Below
    are the words that contradict a type: labelled words that its text misses, and words that it claims.

    With [bold]--set[/bold], types that are left out are dropped, new ones are added, and descriptions are replaced.
    With [bold]--rename[/bold], types with the same new name become one. Labels follow: those of a type that is split
    become partial labels, such as BRAND|GENERIC. Give the unlabelled text of the fit again with
    [bold]--unlabelled[/bold].

    [bold]Examples[/bold]

    \b
    handful types model
    handful types model --set types.txt --unlabelled corpus.txt
    handful types model --rename PERSN=PERSON,CITY=PLACE,TOWN=PLACE
    handful types model --rename DRUG=BRAND+GENERIC --out another-model
    """
    from handful.tagger.saving import check_place

    target = model if out is None else out
    is_changed = new is not None or rename is not None
    if not is_changed and (unlabelled or out is not None):
        raise typer.BadParameter("--unlabelled and --out go with --set or --rename")
    if is_changed:
        check_place(target)
    tagger = load(model, encoder, None)
    if is_changed:
        pairs = []
        for one in listed(rename) or ():
            old, _, news = (part.strip() for part in one.partition("="))
            pairs.append((old, [name.strip() for name in news.split("+")]))
            if not old or not all(pairs[-1][1]):
                raise typer.BadParameter(f"{one!r} is neither OLD=NEW nor OLD=ONE+OTHER", param_hint="--rename")
        named = {old: names[0] for old, names in pairs if len(names) == 1}
        split = {old: names for old, names in pairs if len(names) > 1}
        text = read_training([], unlabelled or [], None, quiet=False)[1]
        tagger.retype(types_given(new) or None, rename=named, split=split, unlabelled=text or None)
        tagger.save(target)
    _show(tagger)
    if is_changed:
        for note in tagger.summary_.notes:
            say(f"note: {note}", err=False)
        say(f"\nwrote {target}; try: handful predict {target} FILE")


def _rows(tagger: "Tagger") -> list[tuple[str, str, int, int]]:
    """Return for each type its description, labelled mentions, and sentences in which somebody looked for it."""
    mentions, support = tagger.summary_.mentions, tagger.support_
    return [
        (one.name, one.description, mentions[one.name], sum(one.name in (s.judged or ()) for s in support))
        for one in tagger.types_
    ]


def _show(tagger: "Tagger") -> None:
    from .show import Console, Text, percent, table

    n_support, guidelines = len(tagger.support_), tagger.summary_.guidelines
    texts = ("name", "description", "both") if guidelines else ()
    shown = table("type", "mentions", "judged in", *(f"F1 {text}" for text in texts), last="description")
    for name, description, n_mentions, n_judged in _rows(tagger):
        f1 = guidelines[name].f1 if name in guidelines else {}
        fits = [percent(f1[text]) if text in f1 else "-" for text in texts]
        shown.add_row(Text(name), f"{n_mentions:,}", f"{n_judged:,} of {n_support:,}", *fits, Text(description))
    Console().print(shown)
    for name, description, *_ in _rows(tagger):
        for line in understood(description):
            say(f"{name} {line}", err=False)
    for name, one in guidelines.items():
        for verb, words in (("misses", one.misses), ("claims", one.claims)):
            if words:
                say(f"{name} {verb} {', '.join(words)}", err=False)
