"""Figures about a corpus."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ._document import Document, sentences_of
from ._schemes import count_adjacent
from ._sentences import Sentence, Span

__all__ = ["Statistics", "describe"]


@dataclass
class Statistics:
    """Figures about a corpus.

    Parameters
    ----------
    n_sentences, n_words : int
        All of them.
    n_labelled, n_partly_labelled, n_unlabelled : int
        Sentences of each kind.
    n_known : int
        Words whose label is known.
    n_outside : int
        Words whose label is known to be O.
    mentions : dict of str to int
        Mentions by type, sorted by name.
    longest : Span or None
        The longest mention (the first of several), and `longest_text`, its words.
    n_adjacent : int
        Mentions directly after one of the same type, which IO tags cannot keep apart.
    """

    n_sentences: int = 0
    n_words: int = 0
    n_labelled: int = 0
    n_partly_labelled: int = 0
    n_unlabelled: int = 0
    n_known: int = 0
    n_outside: int = 0
    mentions: dict[str, int] = field(default_factory=dict)
    longest: Span | None = None
    longest_text: str = ""
    n_adjacent: int = 0

    @property
    def n_mentions(self) -> int:
        """All mentions."""
        return sum(self.mentions.values())

    @property
    def o_share(self) -> float | None:
        """The share of O among words whose label is known; None if there is no such word."""
        return self.n_outside / self.n_known if self.n_known else None


def describe(items: Iterable[Sentence | Document]) -> Statistics:
    """Count what a corpus holds; documents and streams count by their sentences."""
    result = Statistics()
    mentions: Counter[str] = Counter()
    for sentence in (one for item in items for one in sentences_of(item)):
        n = len(sentence.words)
        result.n_sentences += 1
        result.n_words += n
        if sentence.spans is None:
            result.n_unlabelled += 1
            continue
        if sentence.allowed is None:
            result.n_labelled += 1
            n_known = n
        else:
            result.n_partly_labelled += 1
            n_known = sentence.allowed.count(None)
        result.n_known += n_known
        result.n_outside += n_known - sum(span.end - span.start for span in sentence.spans)
        result.n_adjacent += count_adjacent(sentence.spans)
        mentions.update(span.type for span in sentence.spans)
        for span in sentence.spans:
            if result.longest is None or span.end - span.start > result.longest.end - result.longest.start:
                result.longest, result.longest_text = span, sentence.span_text(span)
    result.mentions = dict(sorted(mentions.items()))
    return result
