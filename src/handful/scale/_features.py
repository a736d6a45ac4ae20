"""Text to features: workers encode pieces of text into shards that a later run uses again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.files import PathLike, replacing
from handful._util.progress import Progress
from handful.encoders import Encoder
from handful.encoders.opened import AnyEncoder
from handful.errors import DataError, EncoderError, FormatError
from handful.tagger import Tagger
from handful.tagger.tagging import MOST, batches

from ._folders import ShardFolder, checked, fill
from ._pieces import PieceReader, TextPiece, find_pieces
from ._shards import FarText, SomeRows, StoredShard, about_shard, are_usual, seal
from ._workers import Opening

if TYPE_CHECKING:
    from distributed import Client

_DTYPES = ("float32", "float16")


@dataclass(frozen=True)
class Features:
    """Encoded text in a folder."""

    path: Path  # the folder
    n_words: Sequence[int]  # of each shard
    n_sentences: Sequence[int]  # of each shard
    dim: int  # of the encoder
    dtype: str  # how its numbers are kept
    fingerprint: str  # of the encoder
    report: Sequence[str]  # what reading met with, one thing on each line

    def far_text(self) -> FarText:
        """Return the text as a fit takes it."""
        from handful._util.on_dask import stored_rows

        shards, starts = self.shards(), np.cumsum([0, *self.n_words])
        rows = stored_rows(partial(SomeRows.within, shards, starts), (int(starts[-1]), self.dim), self.dtype)
        return FarText(rows, shards, self.n_words)

    def shards(self) -> list[StoredShard]:
        """Return the shards, in the order of the text."""
        folder = ShardFolder(self.path, "features")
        paths = [str(folder.shard(number, ".npy")) for number in range(len(self.n_words))]
        return [StoredShard(path, (n, self.dim), self.dtype) for path, n in zip(paths, self.n_words, strict=True)]

    def check_encoder(self, encoder: Encoder) -> None:
        """Refuse an encoder that is not the one of the features."""
        if self.fingerprint != encoder.fingerprint:
            raise DataError(
                f"{self.path}: the features come from another encoder (fingerprint {self.fingerprint[:16]}, that of "
                f"the tagger is {encoder.fingerprint[:16]}); encode the text again"
            )


def encode_texts(
    client: "Client",
    files: Sequence[str],
    out: PathLike,
    *,
    encoder: AnyEncoder = "handful-en",
    threads: int | None = None,
    dtype: str = "float32",
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> Features:
    """Encode texts on workers, into a folder of shards; what is there already is not encoded again.

    Parameters
    ----------
    client : of the workers, which see the same files and the same folder
    files : paths and patterns of texts in any format, and Parquet datasets; local, or as fsspec takes them
    out : the folder
    encoder : as for `Tagger`
    threads : of the encoder of each worker; None, its share of the machine
    dtype : "float32", or "float16", which takes half of the room and rounds
    format, options : as for `handful.text.stream`
    progress : as for `handful.encoders.Encoder.encode`
    """
    if dtype not in _DTYPES:
        raise DataError(f"dtype is {dtype!r}, expected 'float32' or 'float16'")
    folder = ShardFolder(out, "features")
    folder.check()
    options = {"unlabelled": True} | dict(options or {})
    pieces = find_pieces(files, format, options, folder.path / "texts")
    tagger = Tagger(encoder=encoder, threads=threads)
    opened, opening = tagger.encoder_, Opening.of(tagger, client)
    plan = {"encoder": opened.fingerprint, "dim": opened.dim, "dtype": dtype, "options": options}
    fill(client, folder, plan, pieces, _encode_piece, (opening, dtype), progress, "encoding")
    return open_features(folder.path)


def open_features(path: PathLike) -> Features:
    """Return what is in a folder that `encode_texts` made; an error where it is not complete."""
    folder = ShardFolder(path, "features")
    index, plan = folder.index(), folder.plan()
    where = folder.path / "plan.json"
    pieces = checked(where, plan, "pieces", Sequence[Mapping[str, str | int | None]])
    dim = checked(where, plan, "dim", int, least=1)
    dtype, fingerprint = checked(where, plan, "dtype", str, choices=_DTYPES), checked(where, plan, "encoder", str)
    n_words, n_sentences = index["n_words"], index["n_sentences"]
    if not len(n_words) == len(n_sentences) == len(pieces):
        raise FormatError(
            f"{folder.path / 'index.json'}: has {len(n_words)} shards, and plan.json has {len(pieces)} pieces of text"
        )
    found = Features(folder.path.resolve(), n_words, n_sentences, dim, dtype, fingerprint, index["report"])
    for shard in found.shards():
        shard.check()
    if not any(n_words):
        raise DataError(f"{folder.path}: there is no word in the text")
    return found


# The rest is run by workers.


def _encode_piece(
    numbered: tuple[int, TextPiece], out: str, options: Mapping[str, Any], opening: Opening, dtype: str
) -> dict[str, Any]:
    """Write the shard of a piece, unless it is there; return what it holds."""
    number, piece = numbered
    folder = ShardFolder(out, "features")
    rows, words = folder.shard(number, ".npy"), folder.shard(number, ".json")
    if not rows.exists():  # it comes last
        reader = PieceReader(piece, options)
        sentences = [sentence for document in reader for sentence in document.sentences]
        n_words = sum(len(sentence.words) for sentence in sentences)
        encoder = opening.encoder()
        lost: list[NDArray[np.bool_]] = [np.empty(0, bool)]
        with replacing(rows) as temporary:
            with open(temporary, "wb") as file:
                head = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n_words, encoder.dim)}
                np.lib.format.write_array_header_1_0(file, head)
                for batch in batches(sentences, lambda sentence: len(sentence.words), MOST):
                    with np.errstate(over="ignore"):
                        found = encoder.encode(batch, progress=False).astype(np.float32, copy=False).astype(dtype)
                    if not are_usual(found):
                        raise EncoderError(f"the encoder gives features that are not finite, or too large for {dtype}")
                    file.write(found.tobytes())
                    lost.append(encoder.unreadable(batch))
            about = {
                "n_words": n_words,
                "n_sentences": len(sentences),
                "report": reader.lines,
                "sentences": [sentence.words for sentence in sentences],
                "unreadable": np.flatnonzero(np.concatenate(lost)).tolist(),
            }
            content = json.dumps(about, ensure_ascii=False).encode("utf-8", "surrogatepass")
            with replacing(words) as beside:
                beside.write_bytes(content)
            seal(temporary, content)
    known = about_shard(rows)
    return {name: known[name] for name in ("n_words", "n_sentences", "report")}
