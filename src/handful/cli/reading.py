"""How labels are read: the same options for every command that reads them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handful._util.options import option

from .options import say_report

if TYPE_CHECKING:
    from handful.text import Corpus


READING = "How labels are read"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options of commands that read labels; `handful.text.ReadOptions` says more."""

    text_field: str | None = option(
        None, metavar="FIELD", help="The column of a table, or the field of JSON records, that holds the text."
    )
    label_field: str | None = option(None, metavar="FIELD", help="The column or field that holds the labels.")
    annotator: str | None = option(
        None,
        metavar="NAME",
        help="Of several annotations of a text: the name of an annotator; or first, majority, or agree, which leaves "
        "open what they do not agree on. If not set, they must agree.",
    )
    keep: Sequence[str] = option((), metavar="TYPE,...", help="The only types to read; mentions of others become O.")
    drop: Sequence[str] = option((), metavar="TYPE,...", help="Types to leave out; their mentions become O.")
    rename: Mapping[str, str] = option(
        {},
        metavar="OLD=NEW,...",
        example="--rename PERSON=PER",
        help="New names of types, before --keep and --drop; types that get the same name are merged.",
    )
    names: Sequence[str] = option(
        (),
        metavar="TAG,...",
        help="What tags that are numbers mean: their names in order, as in O,B-PER,I-PER, or a file with one per line.",
    )
    widen: bool = option(False, help="Widen spans that end within a word to whole words.")
    skip_malformed: bool = option(False, help="Leave out what is malformed, and count it.")

    def options(self, encoding: str) -> dict[str, Any]:
        """Return the options of `handful.text.read` for a file with labels."""
        return self.text_options(encoding) | {
            "label_field": self.label_field,
            "annotator": self.annotator,
            "keep": self.keep or None,
            "drop": self.drop,
            "rename": self.rename,
            "tag_names": self._names(encoding),
            "misaligned": "widen" if self.widen else "error",
        }

    def text_options(self, encoding: str) -> dict[str, Any]:
        """Return those for a file of text without labels."""
        return {
            "encoding": encoding,
            "text_field": self.text_field,
            "malformed": "skip" if self.skip_malformed else "error",
        }

    def _names(self, encoding: str) -> Sequence[str] | None:
        from handful.text import read_tag_names

        if len(self.names) == 1 and os.path.exists(self.names[0]):
            return read_tag_names(self.names[0], encoding=encoding)
        return self.names or None


def read_corpus(path: str, format: str | None, options: dict[str, Any], *, quiet: bool) -> "Corpus":
    """Read a file, or standard input, and say what was handled."""
    from handful.errors import DataError
    from handful.text import read

    corpus = read(path, format, **options)
    if not corpus:
        raise DataError(f"{corpus.report.name}: there is no sentence in it")
    say_report(corpus.report, corpus.report.name, quiet=quiet)
    return corpus
