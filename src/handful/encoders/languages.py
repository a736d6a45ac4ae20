"""Which languages encoders know; which encoder reads a text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from handful.errors import Advice
from handful.text import Sentence
from handful.text.languages import NAMES, guess_language

from .encoder import Encoder
from .shipped import about, folder_of, names

AUTO, DEFAULT, MANY = "auto", "handful-en", "handful-xx"
RARE = ("km", "lo", "my")  # languages that MANY, the encoder for many languages, does not know
N_LOOKED_AT = 200  # sentences that decide which encoder reads a text


def installed() -> dict[str, tuple[str, ...]]:
    """Return the installed encoders that say which languages they know: the codes of these by the encoder's name."""
    return {name: languages for name in names() if (languages := about(name).languages)}


def languages_of(encoder: Encoder | str) -> tuple[str, ...]:
    """Return the codes of the languages that an encoder knows; empty where it does not say."""
    if not isinstance(encoder, str):
        return encoder.languages
    return about(encoder).languages if folder_of(encoder) is not None else ()


def choose(sentences: Sequence[Sentence], encoders: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the name of the encoder that reads a text: the first of those that know its language, or else `DEFAULT`.

    `encoders` are names with languages; None, those that are installed.
    """
    language = guess_language(sentences[:: max(1, len(sentences) // N_LOOKED_AT)])
    return reader_of(language, encoders) or DEFAULT


def reader_of(language: str | None, encoders: Mapping[str, Sequence[str]] | None = None) -> str | None:
    """Return the name of the first encoder that knows a language, of those of `choose`; None if none does."""
    encoders = installed() if encoders is None else encoders
    return next((name for name, known in encoders.items() if language in known), None)


def not_known(language: str, encoder: str) -> tuple[str, Advice]:
    """Return what to say of text in a language that an encoder does not know, and the remedy."""
    known = [NAMES.get(one, one) for one in languages_of(encoder)]
    says = f"{', '.join(known)} only" if 0 < len(known) < 4 else "other languages"
    message = f"the text looks like {NAMES[language]}, and {Path(encoder).name} knows {says}: expect little"
    reader = reader_of(language)
    if reader is None:
        of = f"an encoder that knows {NAMES[language]}"
        of += ", such as handful-xx (pip install handful-xx)" * (MANY not in names() and language not in RARE)
        return message, Advice(f"fit with {of}: encoder=", f"fit with {of}: --encoder")
    return message, Advice(
        f"fit with encoder={reader!r}, which knows it", f"fit with --encoder {reader}, which knows it"
    )
