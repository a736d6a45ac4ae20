"""Folders of shards that were damaged since they were written: features of texts, and predictions."""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fuzz.engine import Case, Run, Target
from fuzz.mutate import Mutator, change_bytes, change_json, change_json_lines, change_lines, change_npy

from .folders import write_case
from .toy import SUPPORT, TYPES, Toy, fitted

__all__ = ["HERE", "SHARDS", "TEXT"]

HERE = b"@FOLDER@"  # stands for the folder of the texts, which is another one each time
TEXT = "text.jsonl"


def write_shards(texts: Path, place: Path, case: Case) -> None:
    """Write an input: the text that it was made from, and the folder of shards.

    Checksums are made to fit in three of four inputs; otherwise nothing but them would be tried.
    """
    case = dict(case)
    if zlib.crc32(repr(sorted(case.items())).encode()) % 4:
        _seal(case)
    write_case(texts, {TEXT: case.pop(TEXT, b"")})
    place.mkdir(exist_ok=True)
    write_case(place, {name: data.replace(HERE, os.fsencode(texts)) for name, data in case.items()})


def _seal(case: Case) -> None:
    """Put checksums that fit at the end of arrays, where there are some; see `handful.scale._shards`."""
    end = struct.Struct("<8sII")
    for name, rows in case.items():
        about = case.get(f"{name.removesuffix('.npy')}.json")
        if name.endswith(".npy") and about is not None and rows[-end.size :].startswith(b"handful\x02"):
            rows = rows[: -end.size]
            case[name] = rows + end.pack(b"handful\x02", zlib.crc32(rows), zlib.crc32(about))


@contextmanager
def open_features_folder(folder: Path) -> Iterator[Run]:
    """Open features, read them in every way, and now and then fit on them."""
    import dask

    from handful import Tagger
    from handful.scale import fit, open_features
    from handful.scale._features import _encode_piece
    from handful.scale._pieces import TextPiece
    from handful.scale._shards import SomeRows, check_rows
    from handful.scale._workers import Opening

    texts, place = folder / "texts", folder / "features"
    texts.mkdir()
    encoder = Toy()
    opening = Opening(encoder, 1, None)

    def run(case: Case) -> object:
        check_rows.cache_clear()  # files come and go within one tick of the clock
        write_shards(texts, place, case)
        features = open_features(place)
        far = features.far_text()
        n_words = sum(features.n_words)
        assert far.rows.shape == (n_words, features.dim)
        loaded = [shard.load() for shard in far.shards]
        rows = np.concatenate([np.asarray(one.features) for one in loaded])
        assert rows.shape == far.rows.shape
        assert sum(len(words) for one in loaded for words in one.words) == n_words
        starts = np.cumsum([0, *features.n_words])
        within = SomeRows.within(features.shards(), starts, slice(1, n_words)).load()
        assert np.array_equal(within[0 : n_words - 1], rows[1:], equal_nan=True)
        assert np.array_equal(within[np.array([0, n_words - 2])], rows[[1, -1]], equal_nan=True)
        piece = TextPiece(TEXT, str(texts / TEXT), "jsonl")
        for number in range(len(features.n_words)):
            _encode_piece((number, piece), str(place), {"unlabelled": True}, opening, features.dtype)
        if zlib.crc32(case["index.json"] + case["000000.npy"]) % 16 == 0:
            with dask.config.set(scheduler="synchronous"):
                fit(Tagger(TYPES, encoder=encoder, cache=False), SUPPORT, features)
        return n_words, len(features.report)

    yield run


@contextmanager
def open_predictions_folder(folder: Path) -> Iterator[Run]:
    """Go on with predictions that are there, count them, and read them as text."""
    from handful.scale._folders import ShardFolder
    from handful.scale._pieces import PieceReader, TextPiece, find_pieces
    from handful.scale._predict import _predict_piece
    from handful.scale._workers import Opening

    texts, place, spool = folder / "texts", folder / "found", folder / "spool"
    texts.mkdir()
    model = fitted().model_

    def run(case: Case) -> object:
        write_shards(texts, place, case)
        shards = ShardFolder(place, "predictions")
        plan = shards.plan()
        shards.check({name: value for name, value in plan.items() if name not in ("format", "kind")})
        index = shards.index()
        options, opening = {"unlabelled": True}, Opening(Toy(), 1, None)
        piece = TextPiece(TEXT, str(texts / TEXT), "jsonl")
        for number in range(2):
            again = _predict_piece((number, piece), str(place), options, opening, model, 0.0)
            assert again["documents"] >= 0
        pieces = find_pieces([str(place / "*.jsonl")], None, options, spool)
        documents = [document for one in pieces for document in PieceReader(one, options)]
        return sum(index["documents"]), sum(index["mentions"]), len(index["report"]), len(documents)

    yield run


_JSON: tuple[Mutator, ...] = (change_json, change_json, change_json, change_bytes)
_ROWS: tuple[Mutator, ...] = (change_npy, change_npy, change_bytes)
_LINES: tuple[Mutator, ...] = (change_json_lines, change_lines, change_bytes)

SHARDS = [
    Target(
        "features",
        "a folder of features",
        open_features_folder,
        {
            **dict.fromkeys(("plan.json", "index.json", "000000.json", "000001.json"), _JSON),
            **dict.fromkeys(("000000.npy", "000001.npy"), _ROWS),
            TEXT: _LINES,
        },
        needs=("dask", "fsspec"),
    ),
    Target(
        "predictions",
        "a folder of predictions",
        open_predictions_folder,
        {
            **dict.fromkeys(("plan.json", "index.json", "000000.json"), _JSON),
            "000000.jsonl": _LINES,
        },
        needs=("dask", "fsspec"),
    ),
]
