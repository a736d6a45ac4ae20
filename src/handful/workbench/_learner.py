"""`Learner`: a tagger that is fitted again and again, on labels that change and text that grows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from handful.encoders.cache import RememberingEncoder
from handful.tagger import Tagger
from handful.tagger.finding import Find
from handful.tagger.tagging import TaggedWords, tag_sentences
from handful.text import EntityType, Sentence, Span

from ._near import NearWords, Recalling


@dataclass(frozen=True)
class Found:
    """The mentions that a fit finds in a sentence."""

    fit: int  # its number
    first: int  # the number of the first fit by the same labels
    spans: tuple[Span, ...]
    before: tuple[Span, ...] | None  # the mentions of the fit before that one, None where there was none
    words: TaggedWords | None  # None for text that the tagger does not learn from


class Learner:
    """Fits a tagger, and finds mentions with it. One thread uses it."""

    def __init__(self, encoder: RememberingEncoder) -> None:
        self.encoder = encoder
        self.number = self.first = 0  # of the last fit, and of the first one by the same labels
        self.since = 0  # the number of the first fit with these types
        self.tagger: Tagger | None = None  # of the last fit, None where there was nothing to learn from
        self.setting: Find = "usual"  # how much to find
        self.overlap = False  # whether mentions may share words
        self._basis: tuple[object, Sequence[Sentence]] = (None, ())
        self._near = NearWords()

    def fit(
        self,
        labels: Sequence[Sentence],
        text: Sequence[Sentence],
        types: tuple[EntityType, ...],
        *,
        keeps_clusters: bool = False,
        is_again: bool = False,
    ) -> bool:
        """Fit; where only labels have changed, the text is not looked at again, and its clusters may be kept.

        Return whether the fit is whole, with clusters that follow the labels. `is_again` says that no label is new.
        """
        is_same = self.tagger is not None and self._basis == (types, text) and self.tagger.overlap == self.overlap
        keeps_clusters = keeps_clusters and is_same and bool(text)
        if self.tagger is not None and is_same:
            self.tagger.relabel(labels, keeps_clusters=keeps_clusters)
        else:
            self.tagger = self.new(types).fit(labels or None, text or None, progress=False)
            self.since = self.since if self._basis[0] == types else self.number + 1
            self._basis = (types, text)
        self.number += 1
        self.first = self.first if is_again else self.number
        return not keeps_clusters

    def new(self, types: tuple[EntityType, ...]) -> Tagger:
        return Tagger(types, encoder=self.encoder, cache=False, find=self.setting, overlap=self.overlap)

    def find(
        self, sentences: Iterable[tuple[int, Sentence, Found | None]], *, remembers: bool = True
    ) -> dict[int, Found]:
        """Return the findings of the last fit by the ids of sentences, which come with the findings before.

        `remembers` says whether features are kept in memory; else the mentions alone are.
        """
        if self.tagger is None:
            return {}
        given = list(sentences)
        model = self.tagger.finding(self.setting)
        encoder, model = (self.encoder, Recalling.of(model, self._near)) if remembers else (self.encoder.encoder, model)
        tagged = tag_sentences(encoder, model, [sentence for _, sentence, _ in given])
        answer = {}
        for (id, sentence, old), words in zip(given, tagged, strict=True):
            before = None if old is None else old.spans if old.first < self.first else old.before
            kept = None
            # features of the batch would stay in memory, all of them, as long as one of its sentences is kept
            if remembers and (features := self.encoder.known(sentence)) is not None:
                kept = replace(words, features=features)
            answer[id] = Found(self.number, self.first, words.sentence.spans or (), before, kept)
        return answer
