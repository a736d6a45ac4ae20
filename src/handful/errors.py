"""Every exception and warning that handful raises.

::

    HandfulError
    ├── DataError (ValueError)          arrays, labels or parameters that cannot be used
    │   └── RatioError                  a share of O words that the labels make impossible
    ├── FormatError (ValueError)        a file's content is not what its format asks for
    ├── FileError (OSError)             a file or folder cannot be read or written
    ├── EncoderError (ValueError)       an encoder that is unknown, broken or used wrongly
    ├── ModelError (ValueError)         a saved model that cannot be used
    └── MissingExtraError (ImportError) an optional dependency is not installed

    HandfulWarning (UserWarning)        something was handled that the user should know of

Each also derives from the built-in exception named beside it, so ``except ValueError`` works. A message says what
was wrong, where, what was found and what to do.
"""

__all__ = [
    "DataError",
    "EncoderError",
    "FileError",
    "FormatError",
    "HandfulError",
    "HandfulWarning",
    "MissingExtraError",
    "ModelError",
    "RatioError",
]


class HandfulError(Exception):
    """The root of all errors that handful raises on purpose."""


class DataError(HandfulError, ValueError):
    """Arrays, labels or parameters that cannot be used."""


class RatioError(DataError):
    """A share of O words that the labels make impossible."""


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


class HandfulWarning(UserWarning):
    """Something was handled that the user should know of."""
