"""Every exception and warning that handful raises.

::

    HandfulError
    ├── DataError (ValueError)          arrays, labels or parameters that cannot be used
    │   ├── RatioError                  a share of O words that the labels make impossible
    │   └── StaleError                  a decision on labels that have changed in the meantime
    ├── FormatError (ValueError)        a file's content is not what its format asks for
    ├── FileError (OSError)             a file or folder cannot be read or written
    ├── EncoderError (ValueError)       an encoder that is unknown, broken or used wrongly
    ├── ModelError (ValueError)         a saved model that cannot be used
    └── MissingExtraError (ImportError) an optional dependency is not installed

    HandfulWarning (UserWarning)        something was handled that the user should know of

Each also derives from the built-in exception named beside it, so ``except ValueError`` works. A message says what
was wrong, where, and what was found. The remedy is in the message where it is the same for everyone; where it is a
parameter in Python and an option on the command line, it is an `Advice` beside the message.
"""

from dataclasses import dataclass
from typing import Self

__all__ = [
    "Advice",
    "DataError",
    "EncoderError",
    "FileError",
    "FormatError",
    "HandfulError",
    "HandfulWarning",
    "MissingExtraError",
    "ModelError",
    "RatioError",
    "StaleError",
]


@dataclass(frozen=True, slots=True)
class Advice:
    """A remedy, as it is written in Python and on the command line.

    >>> advice = Advice("say encoding='latin-1'", "say --encoding latin-1")
    >>> str(advice)
    "say encoding='latin-1'"
    """

    python: str
    shell: str

    @classmethod
    def of(cls, template: str, *pairs: tuple[str, str]) -> "Advice":
        """Fill in each place of a template, which a pair gives as it is written in Python and on the command line."""
        return cls(template.format(*(one for one, _ in pairs)), template.format(*(one for _, one in pairs)))

    def __str__(self) -> str:
        return self.python


class _Advised(Exception):  # noqa: N818  (warnings derive from it, too)
    """A message, and an advice that reads differently in Python and on the command line."""

    def __init__(self, message: object = "", advice: Advice | None = None) -> None:
        self.message = str(message)
        self.advice = advice
        super().__init__(self.message if advice is None else f"{self.message}; {advice.python}")

    @property
    def for_shell(self) -> str:
        """The whole message, with the advice as it is written on the command line."""
        return self.message if self.advice is None else f"{self.message}; {self.advice.shell}"

    def at(self, where: object) -> Self:
        """Return the same error with the place where it happened in front of its message."""
        return type(self)(f"{where}: {self.message}", self.advice)


class HandfulError(_Advised):
    """The root of all errors that handful raises on purpose."""


class DataError(HandfulError, ValueError):
    """Arrays, labels or parameters that cannot be used."""


class RatioError(DataError):
    """A share of O words that the labels make impossible."""


class StaleError(DataError):
    """A decision on labels that have changed in the meantime."""


class FormatError(HandfulError, ValueError):
    """A file's content is not what its format asks for."""


class FileError(HandfulError, OSError):
    """A file or folder cannot be read or written."""


class EncoderError(HandfulError, ValueError):
    """An encoder that is unknown, broken or used wrongly."""


class ModelError(HandfulError, ValueError):
    """A saved model that cannot be used."""


class MissingExtraError(HandfulError, ImportError):
    """An optional dependency is not installed."""


class HandfulWarning(_Advised, UserWarning):
    """Something was handled that the user should know of."""


def number_of(n: int, noun: str) -> str:
    """Return a number and a noun, in the plural if need be."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def shorten(value: object, limit: int = 80) -> str:
    """Cut a long text for a message."""
    text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message that says something, or its class if there is none."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
