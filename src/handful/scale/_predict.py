"""Predictions by workers: one shard of predictions for each piece of text, and a column for a data frame."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.files import PathLike, replacing
from handful._util.progress import Progress, reporting
from handful.encoders import Encoder
from handful.errors import DataError, FileError
from handful.tagger import Tagger
from handful.tagger.model import Model
from handful.tagger.predictor import check_min_score
from handful.tagger.tagging import MinScore, tag_documents
from handful.text import Document, write

from ._features import Features, read_all
from ._fit import TextShard
from ._pieces import Piece, find_pieces, read_piece
from ._shards import StoredShard
from ._workers import Opening, adding, call_all, encoder_threads
from .folders import ShardFolder, checked, is_count, is_counts, is_lines, is_list, read_json

if TYPE_CHECKING:
    from distributed import Client

_ENDINGS = {"jsonl": ".jsonl", "parquet": ".parquet"}
_COUNTS = ("documents", "words", "mentions")


@dataclass(frozen=True)
class Totals:
    """What is in a folder of predictions.

    Attributes
    ----------
    documents, words, mentions : how many there are
    report : what reading met with, one thing on each line
    """

    documents: int
    words: int
    mentions: int
    report: list[str]


def predict_texts(
    client: "Client",
    tagger: Tagger,
    files: Sequence[str] | Features,
    out: PathLike,
    *,
    to: str = "jsonl",
    min_score: MinScore = 0.0,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> Totals:
    """Find mentions in texts on workers, and write a folder of shards; what is there already is not done again.

    Parameters
    ----------
    client : of the workers, which see the same files and the same folder
    tagger : a fitted one
    files : as for `encode`; or what it returned: then nothing is encoded again
    out : the folder; shards in order are the texts in order
    to : "jsonl", as `handful predict` writes it, or "parquet"
    min_score : mentions with a lower score are left out
    format, options : as for `handful.text.stream`
    progress : as for `handful.encoders.Encoder.encode`

    Returns
    -------
    Totals
    """
    if to not in _ENDINGS:
        raise DataError(f"to is {to!r}, expected one of {', '.join(_ENDINGS)}")
    encoder, model = tagger.encoder_, tagger.model_
    check_min_score(min_score, model.types)
    folder = ShardFolder(out, "predictions")
    folder.check()
    if isinstance(files, Features):
        if files.fingerprint != encoder.fingerprint:
            raise DataError(f"{files.path}: its features come from another encoder than that of the tagger")
        pieces, chosen = files.pieces, dict(files.options)
    else:
        chosen = {"unlabelled": True} | dict(options or {})
        pieces = find_pieces(files, format, chosen, folder.path / "texts")
    plan = {
        "model": _fingerprint(model, encoder.fingerprint),
        "to": to,
        "min_score": min_score if isinstance(min_score, float | int) else dict(min_score),
        "options": chosen,
        "pieces": [piece.to_dict() for piece in pieces],
    }
    folder.check(plan)
    if (folder.path / "index.json").exists():
        return _totals(folder)
    stored: list[StoredShard | None] = [None] * len(pieces)
    if isinstance(files, Features):
        n_words = list(files.n_words)
        stored = list(files.shards())
    else:
        n_words = read_all(client, pieces, chosen, progress)
    folder.start(plan)
    opening = Opening.of_tagger(tagger, encoder_threads(client, tagger.threads))
    with reporting(progress, sum(n_words), "tagging", patience=0) as report:
        items = list(zip(range(len(pieces)), pieces, stored, strict=True))
        shared = (str(folder.path), chosen, opening, model, min_score, to)
        found = call_all(client, _predict_piece, items, *shared, done=adding(report, n_words))
    folder.finish({name: [one[name] for one in found] for name in (*_COUNTS, "report")})
    return _totals(folder)


def predict_frame(tagger: Tagger, frame: Any, column: str = "text", *, min_score: MinScore = 0.0) -> Any:
    """Return a `dask.dataframe` with one more column, ``entities``: the mentions in each text, as JSON.

    Parameters
    ----------
    tagger : a fitted one
    frame : a `dask.dataframe`
    column : the one that holds the texts
    min_score : mentions with a lower score are left out
    """
    import pandas as pd

    model = tagger.model_
    check_min_score(min_score, model.types)
    if column not in frame.columns:
        raise DataError(f"there is no column {column!r} for the text; the columns are {', '.join(frame.columns)}")
    opening = Opening.of_tagger(tagger, tagger.threads)
    meta = frame._meta.assign(entities=pd.Series([], dtype="string"))
    return frame.map_partitions(_predict_partition, column, opening, model, min_score, meta=meta)


def _fingerprint(model: Model, encoder: str) -> str:
    """Return what changes when predictions do."""
    digest = blake2b(json.dumps([encoder, model.settings(), list(map(str, model.types))]).encode(), digest_size=16)
    for piece in model.evidence:
        for name, array in sorted(piece.save().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _totals(folder: ShardFolder) -> Totals:
    index, where = folder.index(), folder.path / "index.json"
    documents, words, mentions = (sum(checked(where, index, name, is_counts, "counts")) for name in _COUNTS)
    report = checked(where, index, "report", lambda value: is_list(value) and all(map(is_lines, value)), "lines")
    return Totals(documents, words, mentions, [line for lines in report for line in lines])


# What follows is run by workers.


def _predict_piece(
    item: tuple[int, Piece, StoredShard | None],
    out: str,
    options: Mapping[str, Any],
    opening: Opening,
    model: Model,
    min_score: MinScore,
    to: str,
) -> dict[str, Any]:
    """Write the predictions of a piece, unless they are there; return how many there are."""
    number, piece, stored = item
    folder = ShardFolder(out, "predictions")
    target, about = folder.shard(number, _ENDINGS[to]), folder.shard(number, ".json")
    if not target.exists():  # it comes last
        reader = read_piece(piece, options)
        encoder = opening.encoder() if stored is None else _ShardEncoder(stored.load(), piece)
        counts = dict.fromkeys(_COUNTS, 0)
        tagged = _counted(tag_documents(encoder, model, reader, min_score), counts)
        with replacing(target) as temporary:
            if to == "jsonl":
                write(tagged, temporary, "jsonl", is_predicted=True)
            else:
                _write_parquet(tagged, temporary)
            lines = [f"{reader.report.name}: {line}" for line in reader.report.handled(shell=True)]
            with replacing(about) as beside:
                beside.write_text(json.dumps(counts | {"report": lines}, ensure_ascii=False), encoding="utf-8")
    return _counts_of(about)


def _counts_of(path: Path) -> dict[str, Any]:
    """Read what is beside a shard of predictions."""
    found = read_json(path)
    found = found if isinstance(found, dict) else {}
    counts = {name: checked(path, found, name, is_count, "a number from 0") for name in _COUNTS}
    return counts | {"report": checked(path, found, "report", is_lines, "a list of lines")}


def _counted(documents: Iterable[Document], counts: dict[str, int]) -> Iterator[Document]:
    for document in documents:
        counts["documents"] += 1
        counts["words"] += document.n_words
        counts["mentions"] += sum(len(sentence.spans or ()) for sentence in document.sentences)
        yield document


class _ShardEncoder(Encoder):
    """An encoder that looks the features of sentences up in a shard."""

    def __init__(self, shard: TextShard, piece: Piece) -> None:
        self._shard = shard
        self._piece = piece
        ends = np.cumsum(list(map(len, shard.words)))
        self._rows = {words: np.arange(end - len(words), end) for words, end in zip(shard.words, ends, strict=True)}
        self.dim = int(shard.features.shape[1])
        self.fingerprint = ""

    def encode(self, sentences: Sequence[Any], *, progress: Any = None) -> Float:
        """Return the features of sentences, (number of words, dim)."""
        return np.asarray(self._shard.features[self._find(sentences)], np.float32)

    def unreadable(self, sentences: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for each word whether it cannot be read, (number of words,)."""
        return self._shard.unreadable[self._find(sentences)]

    def _find(self, sentences: Sequence[Any]) -> NDArray[np.int64]:
        try:
            rows = [self._rows[tuple(sentence.words)] for sentence in sentences]
        except KeyError:
            what = f"{self._piece}: is not the text that was encoded; encode it again into another folder"
            raise FileError(what) from None
        return np.concatenate([np.empty(0, np.int64), *rows])


def _write_parquet(documents: Iterable[Document], path: Path) -> None:
    """Write documents with a column of their mentions; fields that they have besides their text are JSON."""
    import pyarrow as pa
    from pyarrow import parquet

    mention = {"entity_group": pa.string(), "score": pa.float64(), "word": pa.string()}
    mention |= {"start": pa.int64(), "end": pa.int64()}
    schema = pa.schema(
        {"text": pa.string(), "entities": pa.list_(pa.struct(list(mention.items()))), "fields": pa.string()}
    )
    with parquet.ParquetWriter(path, schema) as writer:
        for some in _in_tens(documents, 1000):
            rows = [
                {"text": one.text, "entities": one.predictions(), "fields": _fields(one)}  # in the order of the text
                for one in some
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema))


def _fields(document: Document) -> str | None:
    fields = dict(document.meta) | ({} if document.id is None else {"id": document.id})
    return json.dumps(fields, ensure_ascii=False, default=str) if fields else None


def _in_tens(documents: Iterable[Document], n: int) -> Iterator[list[Document]]:
    some: list[Document] = []
    for document in documents:
        some.append(document)
        if len(some) == n:
            yield some
            some = []
    if some:
        yield some


def _predict_partition(frame: Any, column: str, opening: Opening, model: Model, min_score: MinScore) -> Any:
    import pandas as pd

    texts = [text if isinstance(text, str) else "" for text in frame[column]]
    tagged = tag_documents(opening.encoder(), model, map(Document.of, texts), min_score)
    found = [json.dumps(document.predictions(), ensure_ascii=False) for document in tagged]
    return frame.assign(entities=pd.Series(found, index=frame.index, dtype="string"))
