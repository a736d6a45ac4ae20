"""Tag schemes: tags to spans and back. The only place that knows how tags are written.

=========  ==========================================================================================
IO         ``I-PER`` in a mention, ``O`` outside
types      IO without prefixes: ``PER`` and ``O`` (Few-NERD)
BIO        (IOB2) ``B-`` starts every mention, ``I-`` goes on
IOB1       ``I-``, and ``B-`` only where a mention directly follows one of the same type (CoNLL-2003)
BIOES      BIO, with ``E-`` on the last word and ``S-`` on a mention of one word
BILOU      the same with ``L-`` and ``U-``
=========  ==========================================================================================

IO and types cannot keep two mentions of a type apart that are side by side: they come back as one. `count_adjacent`
counts these places, and `handful.text.write` reports how many mentions such a scheme merged.

In every scheme a word whose label is open has its partial label instead of a tag: ``_``, ``LOC|ORG``, ``!O``
(see `Allowed`).

Tags are read as conlleval reads them, which does not need the name of a scheme. A mention starts at ``B-`` or ``S-``,
where the type changes, and at any other tag that does not follow an open mention. Tags that a scheme forbids, such as
``I-`` after ``O`` in BIO, are therefore read too, and counted in `TagReader.n_broken`.
"""

from collections.abc import Sequence
from itertools import pairwise

from handful.errors import Advice, DataError

from ._labels import Allowed, Span, check_type, overlap, overlap_error
from ._sentences import Sentence

PREFIXES = {"IO": "I", "types": "", "BIO": "BI", "IOB1": "BI", "BIOES": "BIES", "BILOU": "BILU"}
SCHEMES = tuple(PREFIXES)
_LETTERS = {"IO": "IIII", "BIO": "BIIB", "IOB1": "IIII", "BIOES": "BIES", "BILOU": "BILU"}  # first, inside, last, only
_ALL_PREFIXES = frozenset("BIESLU")
_AS_BIOES = {"L": "E", "U": "S"}
_PARTIAL = "?"


class TagReader:
    """Reads the tags of many sentences of one corpus, and finds out which scheme they follow.

    Where a scheme is named, a tag of another one is an error.
    """

    def __init__(self, scheme: str | None = None) -> None:
        if scheme is not None:
            check_scheme(scheme)
        self._named = scheme
        self._parsed: dict[str, tuple[str, str, Allowed | None]] = {}
        self._prefixed: str | None = None  # the first tag seen with a prefix, and without
        self._bare: str | None = None
        self._letters: set[str] = set()
        self._n_lone_i = 0  # I- where no mention of that type is open
        self._n_free_b = 0  # B- where I- would have started a mention just as well
        self._n_tight_b = 0  # B- directly after a mention of the same type
        self._n_bad_bioes = 0

    @property
    def scheme(self) -> str | None:
        """The scheme that was named, or that the tags so far follow; None if they were all O.

        IO and IOB1 are the same until two mentions of a type are side by side. Until then it is IO.
        """
        if self._named is not None:
            return self._named
        if self._letters & {"L", "U"}:
            return "BILOU"
        if self._letters & {"E", "S"}:
            return "BIOES"
        if self._n_free_b:
            return "BIO"
        if self._n_tight_b:
            return "IOB1"
        if self._letters:
            return "IO"
        return None if self._bare is None else "types"

    @property
    def n_broken(self) -> int:
        """How many tags so far the scheme does not allow in their place."""
        bioes = dict.fromkeys(("BIOES", "BILOU"), self._n_bad_bioes)
        return {"BIO": self._n_lone_i, "IOB1": self._n_free_b, **bioes}.get(self.scheme or "", 0)

    def read(self, tags: Sequence[str]) -> tuple[tuple[Span, ...], tuple[Allowed | None, ...] | None]:
        """Turn the tags of a sentence into its spans and partial labels, as `Sentence` takes them."""
        if tags.count("O") == len(tags):
            return (), None
        spans: list[Span] = []
        allowed: list[Allowed | None] | None = None
        parsed = self._parsed
        n_bad_bioes = 0
        before, label, start = "O", "", 0  # the prefix before; the type and the start of its mention
        for i, tag in enumerate(tags):
            if tag == "O":
                if before == "O":
                    continue
                prefix, tag_type, entry = "O", "", None
            else:
                prefix, tag_type, entry = parsed.get(tag) or self._parse(tag)
                if prefix == "I" and tag_type == label and before in "BI":
                    before = "I"
                    continue
            is_open = before in "BI"  # the mention goes on unless this tag says otherwise
            follows = tag_type == label and before in "BIES"
            is_start = prefix != "E" or not follows or not is_open
            if is_start and before in "BIES":
                spans.append(Span(start, i, label))
            if prefix == "B":
                if follows:
                    self._n_tight_b += 1
                else:
                    self._n_free_b += 1
                n_bad_bioes += is_open
            elif prefix == "I" or prefix == "E":
                if is_start and before != _PARTIAL:
                    self._n_lone_i += prefix == "I"
                    n_bad_bioes += 1
            else:
                n_bad_bioes += is_open
                if entry is not None:
                    allowed = allowed or [None] * len(tags)
                    allowed[i] = entry
            if is_start:
                start, label = i, tag_type
            before = prefix
        if before in "BIES":
            spans.append(Span(start, len(tags), label))
            n_bad_bioes += before in "BI"
        self._n_bad_bioes += n_bad_bioes
        return tuple(spans), tuple(allowed) if allowed else None

    def _parse(self, tag: str) -> tuple[str, str, Allowed | None]:
        scheme, prefix = self._named, tag[:1]
        if tag[:1] == "!" or "|" in tag or tag == "_":
            entry = Allowed.parse(tag)
            if scheme != "types" and any(map(_looks_prefixed, entry.names)):
                raise DataError(f"{tag!r} mixes prefixes and partial labels; write types alone: LOC|ORG")
            if entry.is_single:
                raise DataError(f"{tag!r} leaves one tag; write it as a tag")
            found: tuple[str, str, Allowed | None] = (_PARTIAL, "", entry)
        elif len(tag) > 2 and _looks_prefixed(tag) and scheme != "types":
            if scheme is not None and prefix not in PREFIXES[scheme]:
                raise DataError(f"{tag!r} is not a tag of the scheme {scheme}, which has {_tags_of(scheme)}")
            check_type(tag[2:])
            self._note_kind(self._prefixed or tag, self._bare)
            self._letters.add(prefix)
            found = (_AS_BIOES.get(prefix, prefix), tag[2:], None)
        else:
            if scheme not in (None, "types") or (scheme is None and _looks_prefixed(tag)):
                asked = f"the scheme {scheme}, which has {_tags_of(scheme)}" if scheme else "any scheme"
                raise DataError(f"{tag!r} is not a tag of {asked}")
            check_type(tag)
            self._note_kind(self._prefixed, self._bare or tag)
            found = ("I", tag, None)
        self._parsed[tag] = found
        return found

    def _note_kind(self, prefixed: str | None, bare: str | None) -> None:
        if prefixed and bare:
            shell = "handful.text.read(FILE, scheme='types') in Python (the command line has no option for it)"
            advice = Advice.of("if these are all whole types, say {}", ("scheme='types'", shell))
            raise DataError(f"the tags mix types with a prefix ({prefixed!r}) and without ({bare!r})", advice)
        self._prefixed, self._bare = prefixed, bare


def from_tags(words: Sequence[str], tags: Sequence[str], scheme: str | None = None) -> Sentence:
    """Make a sentence from its words and their tags.

    Parameters
    ----------
    words, tags : of the same length. Tags may be partial labels.
    scheme : one of `SCHEMES`; ``None`` reads all

    Examples
    --------
    >>> from_tags(["Ekeus", "heads", "for", "Baghdad"], ["B-PER", "O", "O", "LOC|ORG"])
    <Sentence of 4 words, partly labelled: [Ekeus](PER) heads for [Baghdad](LOC|ORG)>
    """
    if len(words) != len(tags):
        raise DataError(f"{len(words)} words but {len(tags)} tags")
    spans, allowed = TagReader(scheme).read(list(tags))
    return Sentence(tuple(words), spans, allowed)


def to_tags(sentence: Sentence, scheme: str = "BIO") -> list[str]:
    """Return the labels of a sentence as one tag per word.

    Words whose label is open get their partial label, those of an unlabelled sentence ``_``. IO and types merge
    mentions of a type that are side by side (see `count_adjacent`). Mentions that share words are a `DataError`.
    """
    check_scheme(scheme)
    if sentence.spans is None:
        return ["_"] * len(sentence.words)
    if sentence.allowed is None:
        tags = ["O"] * len(sentence.words)
    else:
        tags = ["O" if entry is None else _partial_tag(entry) for entry in sentence.allowed]
    if found := overlap(sentence.spans):
        raise overlap_error(*found, sentence.words)
    previous = None
    for span in sentence.spans:
        n, label = span.end - span.start, span.type
        if scheme == "types":
            if _looks_prefixed(label):
                raise DataError(f"the type {label!r} without a prefix would read as a tag with one; use BIO")
            tags[span.start : span.end] = [label] * n
        else:
            first, inside, last, only = tuple(_LETTERS[scheme])
            if scheme == "IOB1" and _is_adjacent(previous, span):
                first = only = "B"
            letters = only if n == 1 else first + inside * (n - 2) + last
            tags[span.start : span.end] = [f"{letter}-{label}" for letter in letters]
        previous = span
    return tags


def count_adjacent(spans: Sequence[Span] | None) -> int:
    """Count the mentions directly after one of the same type: those that IO tags would merge into it."""
    return sum(_is_adjacent(previous, span) for previous, span in pairwise(spans or ()))


def _is_adjacent(previous: Span | None, span: Span) -> bool:
    return previous is not None and previous.end == span.start and previous.type == span.type


def check_scheme(scheme: str) -> None:
    """Refuse a scheme that does not exist."""
    if scheme not in PREFIXES:
        raise DataError(f"there is no scheme {scheme!r}; choose one of {', '.join(SCHEMES)}")


def _looks_prefixed(tag: str) -> bool:
    return tag[1:2] == "-" and tag[0] in _ALL_PREFIXES


def _partial_tag(entry: Allowed) -> str:
    if any(map(_looks_prefixed, entry.names)):
        raise DataError(f"the partial label {str(entry)!r} cannot be a tag: it would read as one with prefixes")
    return str(entry)


def _tags_of(scheme: str | None) -> str:
    return ", ".join([*(f"{letter}-TYPE" for letter in PREFIXES[scheme or "types"]), "O"])
