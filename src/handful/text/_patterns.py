"""Regular expressions that people write for types: those whose time is bounded, whatever the text is."""

import re
import re._parser as parser  # type: ignore[import-not-found]  # a name that it may lose is refused, see `_paths`
import warnings
from functools import lru_cache
from typing import Any

from handful.errors import DataError, shorten

LONGEST = 64  # characters of a match
_LONGEST_PATTERN = 500
_FLAGS = re.compile(r"^\(\?[a-zA-Z]+\)")
_AS_IF = 32  # times that a repetition without a bound is counted: several of them share the characters
_MOST_PATHS = _AS_IF**3
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


@lru_cache(1000)
def compiled(entry: str) -> "re.Pattern[str] | None":
    """Return the pattern of an entry ``/pattern/``, made so that no word goes on after a match; None for a phrase.

    Strangers write the patterns of models, and other strangers write the text. So the ways to match are counted as if
    every character matched everything, and a pattern with too many of them is refused.
    """
    if len(entry) < 3 or not entry.startswith("/") or not entry.endswith("/"):
        return None
    pattern, shown = entry[1:-1], f"the pattern {shorten(entry)!r}"
    try:
        with warnings.catch_warnings(action="error", category=FutureWarning):  # what will mean something else
            tree = parser.parse(pattern[: _LONGEST_PATTERN + 1])
            flags = len("".join(_FLAGS.findall(pattern)[:1]))
            found = re.compile(rf"{pattern[:flags]}(?:{pattern[flags:]})(?!\w)")
        is_bounded = len(pattern) <= _LONGEST_PATTERN and tree.getwidth()[0] <= LONGEST and _paths(tree) <= _MOST_PATHS
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise DataError(f"{shown} is not a regular expression: {error}") from None
    if not is_bounded:
        raise DataError(
            f"{shown} could take too long: it looks around or back, repeats what is repeated, or is longer than "
            rf"{LONGEST} characters; bound repetitions, as in \d{{1,4}}, or write several patterns"
        )
    return found


def _paths(tree: Any) -> int:
    """Return in how many ways a pattern can read `LONGEST` characters, or a number that is too large."""
    total = 1
    for kind, value in tree:
        n = 1
        if kind.name in _REPEATS:
            least, most, inside = value
            once, most = _paths(inside), min(int(most), LONGEST)
            n = min(most - least + 1, _AS_IF) if once == 1 else sum(once**k for k in range(least, most + 1))
            if least > LONGEST:  # some of the times read nothing, and count as well
                n = _MOST_PATHS + 1
        elif kind.name == "BRANCH":
            n = sum(map(_paths, value[1]))
        elif kind.name in ("SUBPATTERN", "ATOMIC_GROUP"):
            n = _paths(value[-1] if kind.name == "SUBPATTERN" else value)
        elif kind.name not in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"):
            n = _MOST_PATHS + 1
        total = min(total * max(n, 1), _MOST_PATHS + 1)
    return total
