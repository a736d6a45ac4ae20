"""`ReadOptions`: how a file is read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from handful._util.files import AnyFile
from handful._util.options import check_options, option
from handful.errors import DataError, FormatError

from ._labels import check_type
from ._schemes import SCHEMES
from ._source import check_encoding, read_small
from .formats import FORMATS, READ_ONLY
from .layers import LAYERS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a file is read; `read` and `stream` take these as keyword arguments."""

    # one of `FORMATS` or `READ_ONLY`; ``None`` recognises it by the content
    format: str | None = option(None, choices=(*READ_ONLY, *FORMATS))
    # the tag scheme, where there are tags (see `SCHEMES`); ``None`` reads any
    scheme: str | None = option(None, choices=SCHEMES)
    # the label of words that no mention covers (or that are tagged O): ``O`` or ``unknown``
    unmarked: str = option("O", choices=("O", "unknown"))
    # what to do with spans of characters that start or end within a word: ``error`` or ``widen``
    misaligned: str = option("error", choices=("error", "widen"))
    # what to do with lines or records that the format does not allow: ``error`` or ``skip``. Skipped ones are counted;
    # in CoNLL the whole sentence of the line is left out. A broken JSON array is always an error.
    malformed: str = option("error", choices=("error", "skip"))
    tag_names: Sequence[str] | None = option(None)  # the names of the tags, for Hugging Face tags that are numbers
    # the column of a table, or the field of JSON records, that holds the text. In a Label Studio task it is a field
    # of its data. If None, it is the one that the format prescribes, mostly ``text``.
    text_field: str | None = option(None)
    # the column or field that holds the labels. If None, it is the one that the format prescribes.
    label_field: str | None = option(None)
    # what to do with several annotations of the same text: "first", "majority", "agree", or the name of an annotator
    # (docs/formats.md says more). If None, it is an error if they do not agree. In a Label Studio task, a name may be
    # the ``model_version`` of its predictions.
    annotator: str | None = option(None)
    # the only types to read. Mentions of others become O. None for all types.
    keep: Sequence[str] | None = option(None)
    drop: Sequence[str] = option(())  # types whose mentions become O
    # new names of types. Types that get the same name become one. This comes first: `keep` and `drop` are about the
    # new names.
    rename: Mapping[str, str] = option({})
    # the types that somebody looked for in all labelled sentences, marked or not; unmarked words may be of any other
    # type. None: the types at the head of the file, or those of its field ``judged``; else those that it marks.
    judged: Sequence[str] | None = option(None)
    # of mentions that share words, those to read: ``outermost``, the longest, or ``innermost``; None for all of them
    layer: str | None = option(None, choices=LAYERS)
    # the encoding of the text. Text that begins with the byte-order mark of UTF-16 or UTF-32 is recognised.
    encoding: str = option("utf-8")
    # whether the lines of plain text are cut to a width, with blank lines between blocks; None finds out
    wrapped: bool | None = option(None)
    # the row groups of a Parquet file to read, as the first one and one past the last; None for all
    row_groups: tuple[int, int] | None = option(None, least=0)
    # whether this is text to tag, or to learn from without labels. Then a few ``[words](TYPE)`` in a file whose
    # format is not named are plain text (unless half of its lines have them), other keys of JSON records may be
    # called as labels are, and JSON records may have no word.
    unlabelled: bool = option(False)

    def __post_init__(self) -> None:
        for name in ("keep", "drop", "judged", "tag_names"):
            value = getattr(self, name)
            if isinstance(value, str) and name != "tag_names":
                value = [one.strip() for one in value.split(",") if one.strip()]
            object.__setattr__(self, name, tuple(value) if isinstance(value, list) else value)
        check_options(self)
        for name in ("text_field", "label_field", "annotator"):
            if getattr(self, name) == "":
                raise DataError(f"{name} is '', expected a name")
        check_encoding(self.encoding)
        if self.row_groups is not None and (len(self.row_groups) != 2 or self.row_groups[0] > self.row_groups[1]):
            raise DataError(f"row_groups is {self.row_groups!r}, expected two numbers, such as (0, 2), or None")
        for one in self.rename.values():
            check_type(one)
        both = sorted(set(self.keep or ()) & set(self.drop))
        if both:
            raise DataError(f"the type {both[0]!r} cannot be both kept and dropped")

    @classmethod
    def of(cls, format: str | None, options: dict[str, Any]) -> "ReadOptions":
        """Make options from the arguments of `read`; an unknown name is a `DataError`."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in options if name not in known]
        if unknown:
            raise DataError(f"there is no reading option {unknown[0]!r}; the options are {', '.join(known)}")
        return cls(format=format, **options)


def read_tag_names(file: AnyFile, *, encoding: str = "utf-8") -> tuple[str, ...]:
    """Read the names of tags: one on each line, a JSON list, or a JSON object with ``id2label`` or ``names``."""
    file_name, text = read_small(file, encoding)
    names: Any = [line.strip() for line in text.split("\n") if line.strip()]
    if text.lstrip()[:1] in ("[", "{"):
        try:
            names = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{file_name}: this is not JSON: {error}") from None
        if isinstance(names, dict):
            names = names.get("id2label", names.get("names"))
        if isinstance(names, dict):  # from the numbers to the names
            names = [names.get(str(i)) for i in range(len(names))]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{file_name}: there are no names of tags in it; write one on each line, O first")
    return tuple(names)
