"""`Sentence`: words and what is known about their labels, as all other modules know them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, pairwise
from numbers import Integral

from handful._util.html import marked
from handful.errors import DataError, shorten

from ._labels import (
    OUTSIDE,
    UNKNOWN,
    Allowed,
    Span,
    by_place,
    check_type,
    overlap,
    overlap_error,
    sequence_of,
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """Words, and what is known about their labels and their source.

    Examples
    --------
    >>> Sentence(("Ekeus", "heads", "for", "Baghdad"), (Span(0, 1, "PER"), Span(3, 4, "LOC")))
    <Sentence of 4 words, labelled: [Ekeus](PER) heads for [Baghdad](LOC)>
    """

    words: tuple[str, ...]  # at least one, none empty. Any sequence is taken and stored as a tuple.
    # the mentions, in order of their first words, of those the longest first; they may share words. ``()`` means that
    # there are none, ``None`` that the sentence is unlabelled
    spans: tuple[Span, ...] | None = None
    # partial labels: for each word what it may be, or ``None`` if it is known (in a span, or O). ``None`` for all if
    # no word is open. A sentence in which all words are `UNKNOWN` is unlabelled.
    allowed: tuple[Allowed | None, ...] | None = None
    text: str | None = None  # the source text of this sentence, if it is known
    # where in `text` each word starts, in code points: ``text[start : start + len(word)] == word``. Give both `text`
    # and `starts`, or neither.
    starts: tuple[int, ...] | None = None
    # where `text` starts in the document that it was cut from. Not compared.
    offset: int = field(default=0, compare=False)
    # the types that somebody looked for: a word that is not marked is none of these, and may be of any other type.
    # None, the types of all sentences that it is given with. Not compared.
    judged: frozenset[str] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        words = self.words
        if type(words) is not tuple:
            words = sequence_of(words, "words", "strings")
            object.__setattr__(self, "words", words)
        if not words or "" in words or set(map(type, words)) != {str}:
            if not words:
                raise DataError("a sentence needs at least one word")
            if odd := [i for i, word in enumerate(words) if not isinstance(word, str) or not word]:
                raise DataError(f"word {odd[0]} of a sentence is {words[odd[0]]!r}; words are non-empty strings")
            object.__setattr__(self, "words", tuple(map(str, words)))  # those of numpy are of a class of their own
        if self.judged is not None:
            if type(self.judged) is not frozenset:
                object.__setattr__(self, "judged", sequence_of(self.judged, "judged", "strings"))
            for name in self.judged:
                check_type(name)
            object.__setattr__(self, "judged", frozenset(self.judged))
        if self.allowed is not None:
            self._settle_allowed()
        if self.spans is not None and (self.spans or type(self.spans) is not tuple):
            self._settle_spans()
        if self.text is not None or self.starts is not None:
            self._settle_text()

    @classmethod
    def trusted(
        cls,
        words: tuple[str, ...],
        spans: tuple[Span, ...] | None = None,
        text: str | None = None,
        starts: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> "Sentence":
        """Make a sentence of parts that are known to be right, without checks."""
        sentence = object.__new__(cls)
        for name, value in zip(cls.__slots__, (words, spans, None, text, starts, offset, None), strict=True):
            object.__setattr__(sentence, name, value)
        return sentence

    def _settle_spans(self) -> None:
        spans = sequence_of(self.spans, "spans", "Span")
        previous, end, overlaps = None, 0, False
        for span in spans:
            if not isinstance(span, Span):
                raise DataError(f"spans hold Span objects, not {span!r}")
            if not all(isinstance(place, Integral) for place in (span.start, span.end)):
                raise DataError(f"{span} is not from one word to another: its places are whole numbers")
            if not 0 <= span.start < span.end <= len(self.words):
                raise DataError(f"{span} does not fit a sentence of {len(self.words)} words")
            check_type(span.type)
            if previous is not None and span.start < previous.start:
                raise DataError(f"{previous} and {span} are not in order; spans go in order of their first words")
            if span.start < end:
                overlaps = True
            if self.allowed is not None and any(self.allowed[span.start : span.end]):
                raise DataError(f"{span} covers a word whose label is open; give such words None in allowed")
            previous, end = span, max(end, span.end)
        if overlaps:
            spans = tuple(sorted(spans, key=by_place))
            if twice := next((span for span, after in pairwise(spans) if span == after), None):
                raise DataError(f"{twice} is given twice")
        object.__setattr__(self, "spans", spans)

    def _settle_allowed(self) -> None:
        allowed = sequence_of(self.allowed, "allowed", "Allowed or None")
        if len(allowed) != len(self.words):
            raise DataError(f"allowed has {len(allowed)} entries for {len(self.words)} words")
        for word, entry in zip(self.words, allowed, strict=True):
            if entry is not None and not isinstance(entry, Allowed):
                raise DataError(f"allowed holds Allowed objects or None, not {entry!r}")
            if entry is not None and entry.is_single and entry != OUTSIDE:
                raise DataError(f"the word {word!r} can only be {entry}: say so with a Span")
        allowed = tuple(None if entry == OUTSIDE else entry for entry in allowed)
        is_unlabelled = not self.spans and all(entry == UNKNOWN for entry in allowed)
        object.__setattr__(self, "allowed", None if is_unlabelled or not any(allowed) else allowed)
        object.__setattr__(self, "spans", None if is_unlabelled else self.spans or ())

    def _settle_text(self) -> None:
        text, starts = self.text, self.starts
        if text is None or starts is None:
            raise DataError("text and starts go together: give both, or neither")
        if type(starts) is not tuple:
            starts = sequence_of(starts, "starts", "integers")
            object.__setattr__(self, "starts", starts)
        if len(starts) != len(self.words):
            raise DataError(f"starts has {len(starts)} entries for {len(self.words)} words")
        end = 0
        for word, start in zip(self.words, starts, strict=True):
            if start < end or not text.startswith(word, start):
                raise DataError(
                    f"the word {word!r} is not at position {start} of the text {shorten(text)!r}, "
                    "after the word before it"
                )
            end = start + len(word)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        n = len(self.words)
        state = "labelled" if self.is_labelled else "partly labelled" if self.is_partly_labelled else "unlabelled"
        pieces = list(self.words)
        for i, entry in enumerate(self.allowed or ()):
            pieces[i] = pieces[i] if entry is None else f"[{pieces[i]}]({entry})"
        if is_nested := overlap(self.spans or ()) is not None:
            for span in reversed(self.spans or ()):  # an inner mention is closed before the ones around it
                pieces[span.start] = f"[{pieces[span.start]}"
                pieces[span.end - 1] += f"]({span.type})"
        for span in reversed(() if is_nested else self.spans or ()):
            pieces[span.start : span.end] = [f"[{' '.join(self.words[span.start : span.end])}]({span.type})"]
        more = " …" if len(pieces) > 30 else ""
        return f"<Sentence of {n} word{'s' * (n > 1)}, {state}: {' '.join(pieces[:30])}{more}>"

    def _repr_html_(self) -> str:
        """Return the text with its mentions marked, for notebooks."""
        whole = self.with_text()
        found = ((*whole.characters(span), span.type, span.score) for span in whole.spans or ())
        return marked(whole.text or "", found)

    @property
    def is_labelled(self) -> bool:
        """Whether the label of every word is known."""
        return self.spans is not None and self.allowed is None

    @property
    def is_partly_labelled(self) -> bool:
        """Whether something, but not everything, is known of the labels."""
        return self.allowed is not None

    @property
    def is_unlabelled(self) -> bool:
        """Whether nothing is known of the labels."""
        return self.spans is None

    @property
    def offsets(self) -> tuple[tuple[int, int], ...] | None:
        """The (start, end) of each word in `text`, or None when the text is not known."""
        if self.starts is None:
            return None
        return tuple((s, s + len(word)) for s, word in zip(self.starts, self.words, strict=True))

    def constraints(self) -> list[Allowed]:
        """Return for each word which tags it may have.

        A labelled word has one tag left (`OUTSIDE`, or its type), an unlabelled word is `UNKNOWN`. The matrix of
        allowed tags is ``[a.among(tags) for a in sentence.constraints()]``. Mentions that share words are a
        `DataError`: see `flattened`.
        """
        if self.spans is None:
            return [UNKNOWN] * len(self.words)
        if found := overlap(self.spans):
            raise overlap_error(*found, self.words)
        rows = [OUTSIDE] * len(self.words) if self.allowed is None else [entry or OUTSIDE for entry in self.allowed]
        for span in self.spans:
            rows[span.start : span.end] = [Allowed(frozenset({span.type}))] * (span.end - span.start)
        return rows

    def characters(self, span: Span) -> tuple[int, int]:
        """Return where a span starts and ends in the text, in code points; the sentence must have a text."""
        if self.starts is None:
            raise DataError(f"the sentence has no text, so {span} has no place in it; take with_text() first")
        last = span.end - 1
        return self.starts[span.start], self.starts[last] + len(self.words[last])

    def span_text(self, span: Span) -> str:
        """Return the span's words as the text has them, or joined by spaces when the text is not known."""
        if self.text is None:
            return " ".join(self.words[span.start : span.end])
        start, end = self.characters(span)
        return self.text[start:end]

    def with_text(self) -> "Sentence":
        """Return the sentence with a text; one without gets its words joined by single spaces."""
        if self.text is not None:
            return self
        starts = accumulate((len(word) + 1 for word in self.words[:-1]), initial=0)
        return replace(self, text=" ".join(self.words), starts=tuple(starts))

    def with_labels(
        self, spans: tuple[Span, ...] | None, allowed: tuple[Allowed | None, ...] | None = None
    ) -> "Sentence":
        """Return the same words with other labels, of the same types."""
        judged = None if spans is None else self.judged
        return Sentence(self.words, spans, allowed, self.text, self.starts, self.offset, judged)

    def judged_for(self, types: Iterable[str]) -> "Sentence":
        """Return the same sentence, in which somebody has looked for these types."""
        return replace(self, judged=frozenset(types))

    def opened(self) -> "Sentence":
        """Return a sentence whose partial labels say what `judged` says: an unmarked word is none of these types."""
        if self.judged is None or self.spans is None:
            return self
        none_of = Allowed(self.judged, is_excluded=True)
        entries: list[Allowed | None] = [entry or none_of for entry in self.allowed or [None] * len(self.words)]
        for span in self.spans:
            entries[span.start : span.end] = [None] * (span.end - span.start)
        return replace(self.with_labels(self.spans, tuple(entries)), judged=None)

    def without_labels(self) -> "Sentence":
        """Return the sentence unlabelled."""
        return self.with_labels(None)


def runs(entries: Iterable[Allowed | None]) -> Iterator[tuple[int, int, Allowed]]:
    """Yield the start and the end of each run of words with the same partial label, and the label."""
    start = 0
    for entry, run in groupby(entries):
        end = start + len(list(run))
        if entry is not None:
            yield start, end, entry
        start = end


def relabelled(sentence: Sentence, spans: Iterable[Span], entries: Sequence[Allowed | None]) -> Sentence:
    """Return a sentence with other labels. Each run of words with the same entry that leaves one type is a mention."""
    found, allowed = list(spans), list(entries)
    for start, end, entry in runs(entries):
        if entry.is_single and entry != OUTSIDE:
            (name,) = entry.names
            found.append(Span(start, end, name))
            allowed[start:end] = [None] * (end - start)
    return sentence.with_labels(tuple(sorted(dict.fromkeys(found), key=by_place)), tuple(allowed) or None)


def converted(
    sentence: Sentence,
    becomes: Callable[[str], frozenset[str]],
    sources: Callable[[str], frozenset[str]],
    *,
    may_be_new: bool = False,
) -> Sentence:
    """Return a labelled sentence with other tags: an old one becomes one of several, a partial label, or one, or O.

    A new tag is ruled out where all its sources are, and was looked for where all its sources were; itself may be one
    of them, and if `may_be_new`, it is not asked for there.
    """

    def of(entry: Allowed | None) -> Allowed | None:
        if entry is None:
            return None
        news = frozenset[str]().union(*map(becomes, entry.names))
        is_out = entry.is_excluded
        return Allowed(frozenset(new for new in news if not is_out or sources(new) <= entry.names), is_out)

    spans, entries = [], [of(entry) for entry in sentence.allowed or [None] * len(sentence.words)]
    for span in sentence.spans or ():
        news = becomes(span.type)
        if len(news) > 1:
            entries[span.start : span.end] = [Allowed(news)] * (span.end - span.start)
        elif news != OUTSIDE.names:
            spans.append(replace(span, type=next(iter(news))))
    changed, judged = relabelled(sentence, spans, entries), sentence.judged
    if judged is None:
        return changed
    names = frozenset[str]().union(*map(becomes, judged)) - OUTSIDE.names
    return changed.judged_for(new for new in names if sources(new) <= (judged | {new} if may_be_new else judged))
