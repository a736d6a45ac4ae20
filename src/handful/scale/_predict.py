"""Predictions by workers: one shard of predictions for each piece of text."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from handful._util.files import PathLike, replacing
from handful._util.progress import Progress
from handful.tagger import Tagger
from handful.tagger.model import Model
from handful.tagger.predictor import check_min_score
from handful.tagger.tagging import MinScore, tag_documents
from handful.text import Document, write

from ._folders import ShardFolder, fill
from ._pieces import PieceReader, TextPiece, find_pieces
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
    files: Sequence[str],
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
    files : as for `encode_texts`
    out : the folder; shards in order are the texts in order, in JSON Lines as `handful predict` writes them
    min_score : mentions with a lower score are left out
    format, options : as for `handful.text.stream`
    progress : as for `handful.encoders.Encoder.encode`
    """
    encoder, model = tagger.encoder_, tagger.model_
    check_min_score(min_score, model.types)
    folder = ShardFolder(out, "predictions")
    folder.check()
    chosen = {"unlabelled": True} | dict(options or {})
    pieces = find_pieces(files, format, chosen, folder.path / "texts")
    plan = {
        "model": _fingerprint(model, encoder.fingerprint),
        "min_score": min_score if isinstance(min_score, float | int) else dict(min_score),
        "options": chosen,
    }
    opening = Opening.of(tagger, client)
    fill(client, folder, plan, pieces, _predict_piece, (opening, model, min_score), progress, "tagging")
    index = folder.index()
    return Totals(**{name: sum(index[name]) for name in _COUNTS}, report=index["report"])


def _fingerprint(model: Model, encoder: str) -> str:
    """Return what changes when predictions do."""
    types = [one.to_dict() if one.words else one.name for one in model.types]
    digest = blake2b(json.dumps([encoder, model.settings(), types]).encode(), digest_size=16)
    for piece in model.evidence:
        for name, array in sorted(piece.save().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# The rest is run by workers.


def _predict_piece(
    numbered: tuple[int, TextPiece],
    out: str,
    options: Mapping[str, Any],
    opening: Opening,
    model: Model,
    min_score: MinScore,
) -> dict[str, Any]:
    """Write the predictions of a piece, unless they are there; return how many there are."""
    number, piece = numbered
    folder = ShardFolder(out, "predictions")
    target, about = folder.shard(number, ".jsonl"), folder.shard(number, ".json")
    if not target.exists():  # it comes last
        reader = PieceReader(piece, options)
        counts = dict.fromkeys(_COUNTS, 0)
        tagged = _counted(tag_documents(opening.encoder(), model, reader, min_score), counts)
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
