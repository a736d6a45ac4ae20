"""Predictions by workers: one shard of predictions for each piece of text."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.files import PathLike, replacing
from handful._util.progress import Progress
from handful.encoders import Encoder
from handful.errors import FileError
from handful.tagger import Tagger
from handful.tagger.model import Model
from handful.tagger.predictor import check_min_score
from handful.tagger.tagging import MinScore, tag_documents
from handful.text import Document, write

from ._features import Features
from ._folders import ShardFolder, fill
from ._pieces import PieceReader, TextPiece, find_pieces
from ._shards import StoredShard, TextShard
from ._workers import Opening

if TYPE_CHECKING:
    from distributed import Client

_COUNTS = ("documents", "words", "mentions")


@dataclass(frozen=True)
class Totals:
    """The counts of a folder of predictions."""

    documents: int
    words: int
    mentions: int
    report: list[str]  # what reading met with, one thing on each line


def predict_texts(
    client: "Client",
    tagger: Tagger,
    files: Sequence[str] | Features,
    out: PathLike,
    *,
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
    out : the folder; shards in order are the texts in order, in JSON Lines as `handful predict` writes them
    min_score : mentions with a lower score are left out
    format, options : as for `handful.text.stream`
    progress : as for `handful.encoders.Encoder.encode`
    """
    encoder, model = tagger.encoder_, tagger.model_
    check_min_score(min_score, model.types)
    folder = ShardFolder(out, "predictions")
    folder.check()
    stored: Sequence[StoredShard | None]
    if isinstance(files, Features):
        files.check_encoder(encoder)
        pieces, chosen, n_words, stored = files.pieces, dict(files.options), files.n_words, files.shards()
    else:
        chosen = {"unlabelled": True} | dict(options or {})
        pieces = find_pieces(files, format, chosen, folder.path / "texts")
        n_words, stored = None, [None] * len(pieces)
    plan = {
        "model": _fingerprint(model, encoder.fingerprint),
        "min_score": min_score if isinstance(min_score, float | int) else dict(min_score),
        "options": chosen,
    }
    opening = Opening.of(tagger, client)
    items = list(zip(range(len(pieces)), pieces, stored, strict=True))
    fill(client, folder, plan, items, _predict_piece, (opening, model, min_score), n_words, progress, "tagging")
    return _totals(folder)


def _fingerprint(model: Model, encoder: str) -> str:
    """Return what changes when predictions do."""
    types = [one.to_dict() if one.words else one.name for one in model.types]
    digest = blake2b(json.dumps([encoder, model.settings(), types]).encode(), digest_size=16)
    for piece in model.evidence:
        for name, array in sorted(piece.save().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _totals(folder: ShardFolder) -> Totals:
    index = folder.index()
    return Totals(**{name: sum(index[name]) for name in _COUNTS}, report=index["report"])


# The rest is run by workers.


def _predict_piece(
    item: tuple[int, TextPiece, StoredShard | None],
    out: str,
    options: Mapping[str, Any],
    opening: Opening,
    model: Model,
    min_score: MinScore,
) -> dict[str, Any]:
    """Write the predictions of a piece, unless they are there; return how many there are."""
    number, piece, stored = item
    folder = ShardFolder(out, "predictions")
    target, about = folder.shard(number, ".jsonl"), folder.shard(number, ".json")
    if not target.exists():  # it comes last
        reader = PieceReader(piece, options)
        encoder = opening.encoder() if stored is None else _ShardEncoder(stored.load(), piece)
        counts = dict.fromkeys(_COUNTS, 0)
        tagged = _counted(tag_documents(encoder, model, reader, min_score), counts)
        with replacing(target) as temporary:
            write(tagged, temporary, "jsonl", is_predicted=True)
            with replacing(about) as beside:
                beside.write_text(json.dumps(counts | {"report": reader.lines}, ensure_ascii=False), encoding="utf-8")
    return folder.about(about)


def _counted(documents: Iterable[Document], counts: dict[str, int]) -> Iterator[Document]:
    for document in documents:
        counts["documents"] += 1
        counts["words"] += document.n_words
        counts["mentions"] += sum(len(sentence.spans or ()) for sentence in document.sentences)
        yield document


class _ShardEncoder(Encoder):
    """An encoder that looks the features of sentences up in a shard."""

    def __init__(self, shard: TextShard, piece: TextPiece) -> None:
        self._shard = shard
        self._piece = piece
        ends = np.cumsum(list(map(len, shard.words)))
        self._rows = {words: np.arange(end - len(words), end) for words, end in zip(shard.words, ends, strict=True)}
        self.dim = int(shard.features.shape[1])
        self.fingerprint = ""

    def encode(self, sentences: Sequence[Any], *, progress: Any = None) -> Float:
        return np.asarray(self._shard.features[self._find(sentences)], np.float32)

    def unreadable(self, sentences: Sequence[Any]) -> NDArray[np.bool_]:
        return self._shard.unreadable[self._find(sentences)]

    def _find(self, sentences: Sequence[Any]) -> NDArray[np.int64]:
        try:
            rows = [self._rows[tuple(sentence.words)] for sentence in sentences]
        except KeyError:
            what = f"{self._piece}: is not the text that was encoded; encode it again into another folder"
            raise FileError(what) from None
        return np.concatenate([np.empty(0, np.int64), *rows])
