"""`ReadOptions`: how a file is read."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from handful.errors import DataError

from ._files import check_encoding
from ._formats import FORMATS, READ_ONLY
from ._schemes import check_scheme

__all__ = ["ReadOptions", "check_choice", "check_names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a file is read; `read` and `stream` take these as keyword arguments.

    Parameters
    ----------
    format : str or None
        One of `FORMATS` or `READ_ONLY`; ``None`` recognises it by the content.
    scheme : str or None
        The tag scheme, where there are tags (see `SCHEMES`); ``None`` reads any.
    unmarked : "O" or "unknown"
        The label of words that no mention covers (or that are tagged O).
    misaligned : "error" or "widen"
        What to do with spans of characters that start or end within a word.
    malformed : "error" or "skip"
        What to do with lines or records that the format does not allow. Skipped ones are counted; in CoNLL the whole
        sentence of the line is left out. A broken JSON array is always an error.
    unnamed : "keep" or "skip"
        What to do with parts of a file in which nothing is marked, as in parts of OntoNotes that nobody annotated. A
        part begins at ``-DOCSTART-`` (conll) or ``#begin document`` (conll-2012); elsewhere the file is one part.
        Skipped parts are counted.
    names : sequence of str or None
        The names of the tags, for Hugging Face tags that are numbers.
    encoding : str
        The encoding of the text.
    unlabelled : bool
        Whether this is text to tag, or to learn from without labels. Then a few ``[words](TYPE)`` in a file whose
        format is not named are plain text (unless half of its lines have them), other keys of JSON records may be
        called as labels are, and JSON records may have no word.

    Raises
    ------
    DataError
        A value that does not exist; the message lists those that do.
    """

    format: str | None = None
    scheme: str | None = None
    unmarked: Literal["O", "unknown"] = "O"
    misaligned: Literal["error", "widen"] = "error"
    malformed: Literal["error", "skip"] = "error"
    unnamed: Literal["keep", "skip"] = "keep"
    names: Sequence[str] | None = None
    encoding: str = "utf-8"
    unlabelled: bool = False

    def __post_init__(self) -> None:
        check_choice("format", self.format, (None, *READ_ONLY, *FORMATS))
        check_choice("unmarked", self.unmarked, ("O", "unknown"))
        check_choice("misaligned", self.misaligned, ("error", "widen"))
        check_choice("malformed", self.malformed, ("error", "skip"))
        check_choice("unnamed", self.unnamed, ("keep", "skip"))
        check_names(self.names)
        if self.names is not None:
            object.__setattr__(self, "names", tuple(self.names))
        check_encoding(self.encoding)
        if self.scheme is not None:
            check_scheme(self.scheme)
        if not isinstance(self.unlabelled, bool):
            raise DataError(f"unlabelled is {self.unlabelled!r}, expected True or False")

    @classmethod
    def of(cls, format: str | None, options: dict[str, Any]) -> "ReadOptions":
        """Make options from the arguments of `read`; an unknown name is a `DataError`."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in options if name not in known]
        if unknown:
            raise DataError(f"there is no reading option {unknown[0]!r}; the options are {', '.join(known)}")
        return cls(format=format, **options)


def check_choice(name: str, value: object, choices: Sequence[str | None]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str | None) or value not in choices:
        raise DataError(f"{name} is {value!r}, expected one of {', '.join(str(choice) for choice in choices)}")


def check_names(names: object) -> None:
    """Refuse names of tags that are not a sequence of strings."""
    if names is None:
        return
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
        raise DataError(f"names is {names!r}, expected a sequence of tags such as ['O', 'B-PER', 'I-PER']")
