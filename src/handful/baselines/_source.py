"""`Source`: labelled corpora that methods learn from before they see a support, and what was learned there."""

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from handful._util.lazy import check_libraries
from handful.encoders.opened import AnyEncoder
from handful.errors import DataError, EncoderError
from handful.text import Sentence, Transitions

if TYPE_CHECKING:
    from ._network import TrainedContainer


class Source:
    """Labelled source corpora; what is learned from them is learned once, when it is first asked for.

    Parameters
    ----------
    corpora : list of lists of Sentence
        Each with its own types; every word is labelled.
    encoder : str, path or object
        As for `handful.Tagger`; CONTaiNER trains the one in a Hugging Face folder.
    progress : bool or None
        Whether to show how training goes: True, always; False, never; None, on a terminal.
    """

    def __init__(
        self,
        corpora: Sequence[Sequence[Sentence]],
        encoder: AnyEncoder = "handful-en",
        *,
        progress: bool | None = None,
    ) -> None:
        self.corpora = _checked(corpora)
        self.encoder = encoder
        self.progress = progress

    @cached_property
    def transitions(self) -> Transitions:
        """How tags follow each other, over all corpora."""
        return Transitions.count(sentence for corpus in self.corpora for sentence in corpus)

    @cached_property
    def network(self) -> "TrainedContainer":
        """The encoder and its Gaussian heads, trained together on all corpora (extra ``transformers``)."""
        if not isinstance(self.encoder, str | os.PathLike):
            raise EncoderError(
                f"CONTaiNER trains the encoder itself, and cannot train {type(self.encoder).__name__}; give the path "
                "of a Hugging Face folder"
            )
        check_libraries("CONTaiNER", "torch", "transformers")
        from ._network import train_network

        return train_network(os.fspath(self.encoder), self.corpora, self.progress)


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
