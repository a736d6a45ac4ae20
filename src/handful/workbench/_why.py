"""Why the tagger found a mention, or why it did not find words, in the types of JSON."""

from typing import Any

from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.explaining import SHOWN, NearWord
from handful.text import Document, Sentence

N_NEAREST = 2  # labelled words that are shown


def reasons(tagger: Tagger, sentence: Sentence, start: int, end: int, name: str | None) -> dict[str, Any]:
    """Say why words of a sentence are found as a mention, of this type if one is named, or why they are not."""
    if not 0 <= start < end <= len(sentence.words):
        raise DataError(f"there are no words {start!r:.20} to {end!r:.20} in this sentence")
    document = Document.of(sentence.without_labels())
    first, last = (document.sentences[0].offsets or ())[start][0], (document.sentences[0].offsets or ())[end - 1][1]
    for one in tagger.explain(document, n_nearest=N_NEAREST):
        mention = one.mention
        if (mention["start"], mention["end"]) == (first, last) and name in (None, mention["entity_group"]):
            claim = (
                f"Found as {mention['entity_group']}, {mention['score']:.0%}; second comes {_said(one.runner_up)}, "
                f"{one.runner_up_score:.0%}."
            )
            return _record(claim, one.evidence, one.nearest, one.known, [])
    words = " ".join(sentence.words[start:end])
    for not_found in tagger.explain_word(document, words, name):
        if not_found.mention["start"] == first:
            wanted = not_found.mention["entity_group"]
            lacking, now = not_found.points[wanted], " and ".join(map(_said, dict.fromkeys(not_found.tags)))
            claim = f"Now {now}. To be {wanted}, it lacks {lacking:.1f} points." if lacking else f"Now {now}."
            evidence = not_found.evidence[wanted]
            return _record(claim, evidence, not_found.nearest, not_found.known, not_found.remedies)
    raise DataError(f"the tagger reads {words!r:.100} as other words, and cannot say why")


def _said(tag: str) -> str:
    return "no mention" if tag == "O" else tag


def _record(
    claim: str, evidence: dict[str, float], nearest: list[NearWord], notes: list[str], remedies: list[str]
) -> dict[str, Any]:
    return {
        "claim": claim,
        "evidence": {SHOWN.get(kind, kind): round(points, 2) for kind, points in evidence.items()},
        "nearest": [{"word": one.word, "tag": _said(one.tag), "sentence": one.sentence} for one in nearest],
        "notes": notes,
        "remedies": remedies,
    }
