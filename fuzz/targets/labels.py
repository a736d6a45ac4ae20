"""Labels that say what was looked for, and mentions that share words: in files, and in fits."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzz.engine import Case, Run, Target
from fuzz.mutate import change_json
from handful import Tagger
from handful.errors import DataError
from handful.text import FORMATS, OUTSIDE, UNKNOWN, Sentence, Span, flattened, read
from handful.text._document import Prediction
from handful.text.formats import TABLE
from handful.text.layers import LAYERS, levels, overlap
from handful.text.types import types_in

from .text import as_run, parsed, written
from .toy import TEXTS, Toy

__all__ = ["LABELS"]

MOST = 8  # sentences of an input
TEXT = "Then Paul of Leeds saw Lima and Pia Lund again ."


def sentences_of(given: Any) -> list[Sentence]:
    """Return sentences as an input writes them: words, spans, open words, and the types that were looked for."""
    found = []
    for one in given[:MOST] if isinstance(given, list) else ():
        if not isinstance(one, dict):
            continue
        words, spans, is_open, entries = one.get("words"), one.get("spans"), one.get("open"), None
        if isinstance(spans, list):
            spans = [Span(*span) if isinstance(span, list) and len(span) == 3 else span for span in spans]
        if isinstance(is_open, list) and isinstance(words, list):
            entries = tuple(UNKNOWN if i in is_open else None for i in range(len(words)))
        parts: dict[str, Any] = {"words": words, "spans": spans, "allowed": entries, "judged": one.get("judged")}
        found.append(Sentence(**parts))
    return found


def run_layers(case: Case) -> object:
    """Take sentences apart in layers, and write and read them in every format that can hold what they say."""
    sentences = sentences_of(parsed(case["file"]).get("sentences"))
    for one in sentences:
        check_layers(one)
    held = [format for format in FORMATS if "partial labels" in TABLE[format].holds and came_back(sentences, format)]
    shared = [overlap(one.spans or ()) is not None for one in sentences]
    return held, shared, [one.judged is not None and len(one.judged) for one in sentences]


def check_layers(one: Sentence) -> None:
    """Check each layer of a sentence: no words are shared, and what is left out shares words with what is kept."""
    spans = one.spans or ()
    assert repr(one)
    assert not spans or min(levels(spans)) == 0
    for layer in LAYERS:
        flat = flattened(one, layer)
        kept = flat.spans or ()
        assert overlap(kept) is None
        assert flattened(flat, layer) == flat
        assert flat.judged == one.judged
        assert set(kept) <= set(spans)
        for span in {*spans} - {*kept}:
            assert any(span.start < other.end and other.start < span.end for other in kept), span


def came_back(sentences: list[Sentence], format: str) -> bool:
    """Whether a format can hold sentences; if so, they must come back and say the same."""
    try:
        data = written(sentences, format)
    except DataError:
        return False
    back = read(io.BytesIO(data), format, wrapped=False)
    if [one.words for one in back] != [one.words for one in sentences]:
        return False  # it holds the text, whose words are others
    marked = types_in(sentences)
    expected = [meaning(one, marked) for one in sentences]
    assert [meaning(one, marked) for one in back] == expected, (format, data[:2000])
    return True


def meaning(sentence: Sentence, types: Sequence[str]) -> object:
    """Return the mentions of a sentence, and for each other word which of some types it may have; None for nothing."""
    opened = (sentence if sentence.judged is not None else sentence.judged_for(types)).opened()
    if opened.is_unlabelled:  # or judged for no type, and nothing is marked
        return None
    rows = [(entry or OUTSIDE).among(types) for entry in opened.allowed or [None] * len(sentence)]
    for span in sentence.spans or ():
        rows[span.start : span.end] = [()] * (span.end - span.start)
    return {(span.start, span.end, span.type) for span in sentence.spans or ()}, rows


@contextmanager
def open_fits(folder: Path) -> Iterator[Run]:
    """Fit a tagger on labels, add others, save and load it, and compare with a fit on all."""
    encoder, place = Toy(), folder / "model"

    def made(given: dict[str, Any]) -> Tagger:
        options = {name: given[name] for name in ("find", "overlap", "names", "method") if name in given}
        return Tagger(given.get("types"), encoder=encoder, cache=False, **options)

    def run(case: Case) -> object:
        given = parsed(case["file"])
        first, more = (sentences_of(given.get(name)) for name in ("labels", "more"))
        text = TEXTS if given.get("text") else None
        tagger = made(given).fit(first or None, text)
        found = tagger.predict(TEXT)
        check_mentions(found, shares=tagger.overlap)
        assert str(tagger.summary_)
        tagger.explain(TEXT)
        tagger.save(place)
        back = Tagger.load(place, encoder=encoder, cache=False)
        assert back.predict(TEXT) == found
        types = [one.name for one in tagger.types_]
        assert [meaning(one, types) for one in back.support_] == [meaning(one, types) for one in tagger.support_]
        kinds: list[object] = [sorted((one["word"], one["entity_group"]) for one in found)]
        if more:
            added = back.add(more, text) if text else back.add(more)
            check_mentions(added.predict(TEXT), shares=tagger.overlap)
            every = [*first, *more]
            is_said = not any(one.judged is None or one.is_unlabelled for one in every)
            if is_said and len({one.words for one in every}) == len(every):  # the same words get new labels
                whole = made(given).fit(every, text)
                assert whole.predict(TEXT) == added.predict(TEXT), "adding is not fitting with all"
            kinds.append(len(added.types_))
        if first:
            kinds.append(round(tagger.evaluate(first).f1, 1))
        return kinds

    yield run


def check_mentions(found: Sequence[Prediction], *, shares: bool) -> None:
    """Check that mentions are where they say they are, and share words only where they may."""
    end = 0
    for one in found:
        assert TEXT[one["start"] : one["end"]] == one["word"]
        assert 0 <= one["score"] <= 1
        assert shares or one["start"] >= end
        end = one["end"]
    assert len({(one["start"], one["end"], one["entity_group"]) for one in found}) == len(found)


_CHANGES = {"file": (change_json,)}

LABELS = [
    Target("layers", "judged types and mentions that share words, in every format", as_run(run_layers), _CHANGES),
    Target("fits", "labels of judged types and mentions that share words, in fits", open_fits, _CHANGES),
]
