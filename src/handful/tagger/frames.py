"""Data sets of Hugging Face and data frames of pandas: texts and labelled records, one after the other, never a list.

A column of them is an iterable of texts like any other. Here is what is done with a whole one.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handful.errors import DataError

TEXT_COLUMNS = ("text", "tokens")
MISSING = -1  # ClassLabel of datasets: no label


def is_frame(source: object) -> bool:
    """Whether this is a data set or a data frame. Who has not imported their libraries has none."""
    return _is(source, "datasets", "Dataset", "IterableDataset") or _is(source, "pandas", "DataFrame")


def refuse_splits(source: object, name: str) -> None:
    """Refuse a data set with its splits, of which one is to be chosen."""
    if _is(source, "datasets", "DatasetDict", "IterableDatasetDict") and isinstance(source, Mapping):
        splits = ", ".join(map(repr, source))
        raise DataError(f"{name} is a data set with the splits {splits}; choose one, as in dataset['train']")


def texts_of(frame: Any, name: str) -> Iterable[Any]:
    """Return the column with the texts, or else with the lists of words, as an iterable."""
    columns = _columns(frame)
    found = [column for column in TEXT_COLUMNS if column in columns]
    if not found:
        shown = ", ".join(map(repr, columns)) or "none"
        raise DataError(
            f"{name} has no column 'text' or 'tokens', its columns are {shown}; give the column with the text, as in "
            f"data[{(columns or ['body'])[0]!r}]"
        )
    column: Iterable[Any] = frame[found[0]]
    return column


def record_lines(rows: Iterable[Mapping[str, Any]], name: str, first: int = 0) -> Iterator[str]:
    """Yield a line of JSON for each record; an error names it by its place among the items, from `first` on."""
    for number, row in enumerate(rows, first):
        try:
            yield json.dumps(dict(row), default=_plain) + "\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{name}, item {number}: not a JSON record: {error}") from None


def _is(source: object, library: str, *names: str) -> bool:
    module = sys.modules.get(library)
    kinds = (getattr(module, name, None) for name in names)  # a module of this name may be somebody else's
    return isinstance(source, tuple(kind for kind in kinds if isinstance(kind, type)))


def _columns(frame: Any) -> list[str]:
    if _is(frame, "pandas", "DataFrame"):
        return list(frame.columns)
    known: list[str] | None = frame.column_names  # None where a stream does not know them
    return list(next(iter(frame), {})) if known is None else list(known)


def rows_of(frame: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows as records; numbers that the features of a data set name (``ClassLabel``) become the names."""
    if _is(frame, "pandas", "DataFrame"):
        columns = list(frame.columns)
        for row in frame.itertuples(index=False, name=None):
            yield {column: _or_text(value) for column, value in zip(columns, row, strict=True)}
        return
    features = frame.features or {}
    for row in frame:
        yield {column: _or_text(_named(features.get(column), value)) for column, value in row.items()}


def _named(feature: Any, value: Any) -> Any:
    """Return a value with names in the place of the numbers that a feature of datasets has names for."""
    if value is None:
        return None
    if isinstance(names := getattr(feature, "names", None), list):
        return "_" if value == MISSING else names[value] if isinstance(value, int) else value
    if isinstance(feature, dict) and isinstance(value, Mapping):
        return {key: _named(feature.get(key), item) for key, item in value.items()}
    inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
    value = value.tolist() if inner is not None and hasattr(value, "tolist") else value
    return [_named(inner, item) for item in value] if inner is not None and isinstance(value, list) else value


def _or_text(value: Any) -> Any:
    """Return what is no label, such as a date, as text."""
    is_plain = value is None or isinstance(value, str | int | float | list | dict) or hasattr(value, "tolist")
    return value if is_plain else str(value)


def _plain(value: Any) -> Any:
    """Turn numbers and arrays of numpy into Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"found {value!r:.60}, expected text, numbers, lists and dicts")
