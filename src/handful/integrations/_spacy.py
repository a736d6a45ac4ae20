"""A component for spaCy: ``nlp.add_pipe("handful", config={"model": "garden"})``.

The tagger reads the text with its own words, as `Tagger.predict` does, so it finds the same mentions. A mention then
becomes a span of spaCy's tokens. Where its borders are inside a token, the tokens decide, and the mention is counted.
"""

import copy
import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import minibatch

from handful.errors import DataError, HandfulWarning, shorten
from handful.tagger import Tagger
from handful.tagger.predictor import check_min_score
from handful.text import Document, types_of

from ._hub import from_hub

ALIGNMENTS = {
    "expand": "they were widened to whole tokens",
    "contract": "they were narrowed to whole tokens, or left out where none is whole",
    "strict": "they were left out",
}

#: Taggers of the process that this one was forked from. To let go of their encoders is to wait for threads that are not
#: here, for ever.
_INHERITED: list[Tagger] = []


class SpacyTagger(Pipe):
    """A component of spaCy that finds entities with a `Tagger`.

    spaCy makes it: ``nlp.add_pipe("handful", config={...})``, where the config has the parameters below, from `model`
    on. The tagger is opened, or fitted to the types, when it is first needed. ``nlp.to_disk`` keeps all of it,
    with its encoder unless that is one of the package, and without pickle; ``nlp.to_bytes`` keeps the config alone.

    Parameters
    ----------
    nlp : the pipeline. The component works alike in every one.
    name : the name of the component in its pipeline
    model : a saved tagger: the path of its folder, or the name of a repository; see `handful.integrations.from_hub`
    types : in the place of a model: the types to find and what they mean, as for `Tagger`. No label is needed.
    spans_key : put spans into ``doc.spans[spans_key]``, with their scores in its ``attrs["scores"]``; if None, into
        ``doc.ents``. The score of a span is also in ``span._.score``.
    keep : whether to keep the entities, or the spans under the key, of components before this one. A mention that
        shares a token with such an entity is then left out. Otherwise they are replaced.
    alignment : what becomes of a mention that starts or ends inside a token: all its tokens, those that are wholly
        inside it, or none
    min_score : as for `Tagger.predict`
    threads : as for `Tagger`

    Attributes
    ----------
    tagger : it is opened when it is first asked for
    n_unaligned : how many mentions started or ended inside a token, so far. The first is also said in a warning.
    n_left_out : how many were left out: mentions that share a token with an entity that is kept or with a surer
        mention, and those that do not align
    """

    def __init__(
        self,
        nlp: Language | None = None,
        name: str = "handful",
        *,
        model: str | None = None,
        types: Any = None,
        spans_key: str | None = None,
        keep: bool = False,
        alignment: str = "expand",
        min_score: float | dict[str, float] = 0.0,
        threads: int | None = None,
    ) -> None:
        if (model is None) == (types is None):
            raise DataError(
                f"the component {name!r} needs a model, which is a folder or the name of a repository, or the types to "
                f"find, and not both: found model={model!r} and types={types!r}; say "
                'nlp.add_pipe("handful", config={"model": ...}) or config={"types": {"PEST": "insects and slugs"}}'
            )
        if alignment not in ALIGNMENTS:
            raise DataError(f"alignment is {alignment!r}, expected one of {', '.join(ALIGNMENTS)}")
        types_of(types)
        check_min_score(min_score)
        if not Span.has_extension("score"):
            Span.set_extension("score", default=None)
        _, method, getter, setter = Span.get_extension("score")
        if method is not None or (getter is not None and setter is None):
            raise DataError("the extension attribute 'score' of spans is taken: another package set it as a function")
        self.name = name
        self.model, self.types, self.threads = model, types, threads
        self.spans_key, self.keep, self.alignment, self.min_score = spans_key, keep, alignment, min_score
        self.n_unaligned = self.n_left_out = 0
        self._tagger: Tagger | None = None
        self._process = os.getpid()

    @property
    def tagger(self) -> Tagger:
        """The tagger, opened or fitted where that has not happened yet."""
        if self._tagger is None:
            if self.model is not None:
                self._tagger = from_hub(self.model, threads=self.threads)
            else:
                self._tagger = Tagger(self.types, threads=self.threads).fit()
            check_min_score(self.min_score, self._tagger.types_)
        elif self._process != os.getpid():  # a fork, of nlp.pipe(n_process=), does not have the encoder's threads
            _INHERITED.append(self._tagger)
            self._tagger = copy.deepcopy(self._tagger)
        self._process = os.getpid()
        return self._tagger

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the types; none of a model that is not open yet."""
        known = types_of(self.types) if self._tagger is None else self._tagger.types_
        return tuple(one.name for one in known)

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities, or the spans, of a Doc."""
        (found,) = self._find([doc])
        self._annotate(doc, found)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Yield Docs with their entities or spans, batch by batch."""
        for docs in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            try:
                found = list(self._find(docs))
            except Exception:
                yield from super().pipe(docs)  # one by one: spaCy's error handler gets the one at fault
                continue
            for doc, document in zip(docs, found, strict=True):
                self._annotate(doc, document)
                yield doc

    def _find(self, docs: list[Doc]) -> Iterator[Document]:
        return self.tagger.tag((Document.of(doc.text) for doc in docs), min_score=self.min_score)

    def _annotate(self, doc: Doc, found: Document) -> None:
        spans, scores = [], []
        for start, end, mention in found.mentions():
            span = doc.char_span(start, end, label=mention.type)
            if span is None:
                span = self._aligned(doc, start, end, mention.type)
            if span is not None:
                spans.append(span)
                scores.append(mention.score or 0.0)
        kept = list(doc.ents if self.spans_key is None else doc.spans.get(self.spans_key, ())) if self.keep else []
        taken = {token for span in kept for token in range(span.start, span.end)}
        chosen = []
        overlaps = self._tagger is not None and self._tagger.overlap
        for i in sorted(range(len(spans)), key=lambda i: (overlaps and -len(spans[i]), -scores[i], i)):
            if taken.isdisjoint(tokens := range(spans[i].start, spans[i].end)):
                # spans of a key may share tokens; entities may not, and the longest stay
                taken.update(() if overlaps and self.spans_key is not None else tokens)
                chosen.append(i)
            else:
                self.n_left_out += 1
        chosen.sort()
        for i in chosen:
            spans[i]._.score = scores[i]
        made = sorted([*kept, *(spans[i] for i in chosen)])
        if self.spans_key is None:
            doc.set_ents(made, default="outside")
        else:
            attrs = {"scores": np.array([np.nan if span._.score is None else span._.score for span in made], float)}
            doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, spans=made, attrs=attrs)

    def _aligned(self, doc: Doc, start: int, end: int, label: str) -> Span | None:
        """Return the tokens of a mention that starts or ends inside one, or None, and count it."""
        self.n_unaligned += 1
        if self.n_unaligned == 1:
            warnings.warn(
                f"the component {self.name!r} found mentions that start or end inside a token of spaCy, such as "
                f"{shorten(doc.text[start:end], 40)!r}: {ALIGNMENTS[self.alignment]} (alignment={self.alignment!r}); "
                "n_unaligned of the component counts them",
                HandfulWarning,
                stacklevel=2,
            )
        found: Span | None = None
        if self.alignment != "strict":
            found = doc.char_span(start, end, label=label, alignment_mode=self.alignment)
        self.n_left_out += found is None
        return found

    def score(self, examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
        """Return precision, recall and F1 as spaCy's own components do: ``ents_f``, or ``spans_KEY_f``."""
        if self.spans_key is None:
            return dict(get_ner_prf(examples, **settings))
        key = self.spans_key
        return dict(
            Scorer.score_spans(
                examples,
                f"spans_{key}",
                getter=lambda doc, attr: doc.spans.get(key, ()),
                has_annotation=lambda doc: key in doc.spans,
                allow_overlap=True,
            )
        )

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the tagger to a folder."""
        self.tagger.save(path, include_encoder="auto")

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> "SpacyTagger":
        """Read the tagger that `to_disk` wrote; the one that the config names is then not opened."""
        self._tagger, self._process = Tagger.load(path, threads=self.threads), os.getpid()
        return self


#: The entry point by which spaCy finds the component under the name "handful".
make = Language.factory(
    "handful",
    assigns=["doc.ents", "doc.spans"],
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
    func=SpacyTagger,
)
