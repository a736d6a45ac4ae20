"""`WhyNot`: why words are not a mention, how far they are from being one, and what would change it."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from handful._util.arrays import Float
from handful.errors import DataError
from handful.text import Document, Prediction, Span
from handful.text.guidelines import guideline_of

from .decoding import path_total, runs
from .evidence import NearestLabel, TypeNames
from .explaining import SHOWN, NearWord, near_words, table_lines
from .finding import CURVE
from .model import Examples, Model
from .tagging import MinScore, TaggedWords, is_sure

AROUND = "neighbours"
_FORBIDDEN = 1e9  # taken off the logit of a tag that a word may not have
_LEAST = 1e-9  # points that words lack which are not found though their tags would be better
_SHOWN_TYPES = 3


@dataclass(frozen=True)
class WhyNot:
    """Why words are not a mention of a type; ``print`` shows it as a table."""

    # the mention that was asked for, of the type asked for or the nearest, as `Tagger.predict` would give it
    mention: Prediction
    tags: list[str]  # the tags that its words have now, each a type or "O"
    # by type, the points that are lacking; 0 where the mention is found. The type of the mention comes first, the
    # others follow by their points
    points: dict[str, float]
    # by type and kind, how much it speaks for the type and against the tags that the words have now, summed over the
    # words; "neighbours" are the words around, and how tags follow each other. The sum is -points.
    evidence: dict[str, dict[str, float]]
    nearest: list[NearWord]  # the labelled word nearest to one of the words, and that of the mention's type
    remedies: list[str]  # what would change it
    known: list[str]  # which of its words are known words of a type, and what the description of its type excludes

    def __str__(self) -> str:
        """Show what speaks for types and against them, the labelled words that are near, and what to do."""
        word, name = self.mention["word"], self.mention["entity_group"]
        claim = f"{word} is found as {name}, {self.mention['score']:.3f}"
        if self.points[name]:
            now, wanted = ", ".join(dict.fromkeys(self.tags)), name
            if now == name:
                now, wanted = f"part of a longer mention of {name}", "one by itself"
            claim = f"{word} is {now}; to be {wanted} it lacks {self.points[name]:.1f} points"
        rows = [["", *(SHOWN.get(kind, kind) for kind in self.evidence[name]), "sum"]]
        for other in list(self.points)[:_SHOWN_TYPES]:
            points = (*self.evidence[other].values(), -self.points[other])
            rows.append([other, *(f"{round(n, 1) + 0.0:+.1f}" for n in points)])
        tries = [f"  try: {remedy}" for remedy in self.remedies]
        return "\n".join(
            [claim, *table_lines(rows), *(f"  {line}" for line in self.known), *map(str, self.nearest), *tries]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self)


def why_not(
    document: Document,
    words: Document,
    asked: str | None,
    found: Iterable[TaggedWords],
    model: Model,
    examples: Examples,
    min_score: MinScore,
) -> list[WhyNot]:
    """Say why these words are no mention, of a type that may be asked for, wherever they are in tagged sentences.

    The sentences are tagged with the usual setting of how much to find; that of the model is a remedy where it helps.
    """
    if asked not in (None, *model.tags[1:]):
        raise DataError(f"type is {asked!r}, but the types are {', '.join(model.tags[1:])}")
    set_to, model = model.find, replace(model, find=1.0)
    wanted = [word.casefold() for sentence in words.sentences for word in sentence.words]
    answers = []
    for one in found:
        there = [word.casefold() for word in one.sentence.words]
        said = [] if model.known is None or not set(wanted) <= set(there) else model.known.said_of(one.sentence)
        for i in (i for i in range(len(there)) if there[i : i + len(wanted)] == wanted):
            rows = slice(i, i + len(wanted))
            points, evidence = _distances(one, rows, model)
            points = dict(sorted(points.items(), key=lambda item: (item[0] != asked, item[1])))
            name = next(iter(points))
            tag = model.tags.index(name)
            span = Span(rows.start, rows.stop, name, float(one.scores[rows, tag].mean()))
            (mention,) = document.with_sentences([one.sentence.with_labels((span,))]).predictions()
            near = near_words(model, one.features[rows], examples, len(examples.tags), name)
            of_type = [each for each in near if each.tag == name]
            tags = [model.tags[tag] for tag in one.tags[rows]]
            nearest = list(dict.fromkeys([*near[:1], *of_type[:1]]))
            known = [line for words, line in said if words.start < span.end and words.stop > span.start]
            known += _excluded(model, one.features[rows], tag)
            answer = WhyNot(mention, tags, points, evidence, nearest, [], known)
            if points[name] != _LEAST:
                answer.remedies.extend(_settings(one, rows, tag, model, set_to, is_found=not points[name]))
            if points[name]:
                gain = f"{name} has no label yet"
                labels = model.piece(NearestLabel)
                if labels is not None and of_type:
                    more = labels.weight * float((1 - labels.likeness(one.features[rows])[:, tag]).sum())
                    gain = f"as the nearest label it brings {more:.1f} points" if more > 1 else "one is not enough"
                answer.remedies.extend(_remedies(answer, near, gain))
            elif not is_sure(span, min_score):
                answer.remedies.append(f"ask for a lower score: {span.score:.2f} is below the least that you asked for")
            answers.append(answer)
    return answers


def _excluded(model: Model, features: Float, tag: int) -> list[str]:
    """Say which part of a type's description excludes words, and how much it takes off."""
    names = model.piece(TypeNames)
    if names is None or names.excluded_owners is None:
        return []
    whole = replace(names, excluded_vectors=None, excluded_biases=None, excluded_owners=None)
    taken = names.weight * float((whole.logits(features) - names.logits(features))[:, tag].sum())
    own = names.excluded_owners == tag - 1
    if not own.any() or taken < 1:
        return []
    fits = (features @ np.asarray(names.excluded_vectors).T + np.asarray(names.excluded_biases))[:, own].max(axis=0)
    part = guideline_of(model.types[tag - 1].description).excludes[int(fits.argmax())]
    return [f"excluded by {part.said!r} in the description of {model.types[tag - 1].name}: {-taken:.1f} points"]


def _settings(one: TaggedWords, rows: slice, tag: int, model: Model, set_to: float, *, is_found: bool) -> Iterator[str]:
    """Yield the setting of how much to find that finds this mention, or the one that leaves it out."""
    logits = model.logits(one.features, [one.sentence])
    tried = dict.fromkeys([1.0, set_to] if is_found else [set_to, *(find for find in CURVE if find > 1)])
    for find in tried:
        path = replace(model, find=find).path(logits, [len(logits)])
        mentions = [(a, b) for _, a, b, _ in runs(path, [len(path)]) if path[a] == tag]
        is_there = (rows.start, rows.stop) in mentions
        if is_found:  # a run may be several mentions
            is_there = any(a <= rows.start and rows.stop <= b for a, b in mentions)
        if is_found and not is_there:
            yield f"find more: a mention with such points is left out with find={find:.2g}, as it is set now"
        if not is_found and is_there and find != 1:
            yield f"find more: with find={find:g}, it is found" + ", as it is set now" * (find == set_to)
            return


def _distances(one: TaggedWords, rows: slice, model: Model) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the points that words of a sentence lack by type, and the evidence: the best tags with this mention."""
    logits = model.logits(one.features, [one.sentence])
    parts = {kind: part[rows] for kind, part in model.contributions(one.features, one.sentence).items()}
    beside = [i for i in (rows.start - 1, rows.stop) if 0 <= i < len(logits)]
    mentions = [(span.start, span.end, span.type) for span in one.sentence.spans or ()]
    points, evidence = {}, {}
    for tag, name in enumerate(model.tags[1:], 1):
        allowed = logits.copy()
        allowed[rows, np.arange(logits.shape[1]) != tag] -= _FORBIDDEN
        allowed[beside, tag] -= _FORBIDDEN  # the mention ends here
        path = model.path(allowed, [len(logits)])
        now, then = (path_total(logits, tags, model.transitions, model.without_prior) for tags in (one.tags, path))
        points[name] = 0.0 if (rows.start, rows.stop, name) in mentions else max(now - then, _LEAST)
        leads = {kind: part[:, tag] - part[np.arange(len(part)), one.tags[rows]] for kind, part in parts.items()}
        evidence[name] = {kind: float(lead.sum()) for kind, lead in leads.items()}
        evidence[name][AROUND] = -points[name] - sum(evidence[name].values())
    return points, evidence


def _remedies(answer: WhyNot, near: list[NearWord], gain: str) -> Iterator[str]:
    """Yield what would make a mention, given the labelled words, nearest first, and what a label would bring."""
    word, name = answer.mention["word"], answer.mention["entity_group"]
    evidence, lacking = answer.evidence[name], answer.points[name]
    if lacking == _LEAST:
        yield f"spell it in other letters: the encoder cannot read {word}, so it is O"
        return
    own = {each.casefold() for each in word.split()}
    if wrong := next((each for each in near if each.word.casefold() in own and each.tag != name), None):
        yield f"correct this label, if it is a mistake: {wrong.word} is {wrong.tag} in: {wrong.sentence}"
    yield f"label one mention like it as {name}, such as this one: [{word}]({name}); {gain}"
    against = -evidence.get("names", 0.0)
    if against >= lacking / 2:
        yield f"reword what {name} means, so that {word} belongs to it: name and description lack {against:.1f} points"
    if evidence[AROUND] <= -lacking:
        yield f"label mentions among such words: {word} by itself would be {name}, the words around it speak against it"
