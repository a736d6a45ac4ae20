"""`Source`: labelled corpora that methods learn from before they see a support, and what was learned there."""

from collections.abc import Sequence
from functools import cached_property

from handful.decode import Transitions
from handful.errors import DataError
from handful.tagger.encoder import AnyEncoder
from handful.text import Sentence

__all__ = ["Source"]


class Source:
    """Labelled source corpora; what is learned from them is learned once, when it is first asked for.

    Parameters
    ----------
    corpora : list of lists of Sentence
        Each with its own types; every word is labelled.
    encoder : str, path or object
        As for `handful.Tagger`.
    """

    def __init__(self, corpora: Sequence[Sequence[Sentence]], encoder: AnyEncoder = "handful-en") -> None:
        self.corpora = _checked(corpora)
        self.encoder = encoder

    @cached_property
    def transitions(self) -> Transitions:
        """How tags follow each other, over all corpora."""
        return Transitions.count(sentence for corpus in self.corpora for sentence in corpus)


def _checked(corpora: Sequence[Sequence[Sentence]]) -> list[list[Sentence]]:
    if isinstance(corpora, str) or not isinstance(corpora, Sequence) or not corpora:
        raise DataError(f"a source is a list of at least one corpus, each a list of Sentence; found {corpora!r:.80}")
    for number, corpus in enumerate(corpora):
        if isinstance(corpus, str | Sentence) or not isinstance(corpus, Sequence) or not corpus:
            raise DataError(f"corpus {number} of the source is a list of Sentence, at least one; found {corpus!r:.80}")
        for i, sentence in enumerate(corpus):
            if not isinstance(sentence, Sentence) or not sentence.is_labelled:
                raise DataError(
                    f"corpus {number} of the source, sentence {i}: expected a Sentence with the label of every word, "
                    f"found {sentence!r:.80}"
                )
        if not any(sentence.spans for sentence in corpus):
            raise DataError(f"corpus {number} of the source has no mention, only O: there is nothing to learn")
    return [list(corpus) for corpus in corpora]
