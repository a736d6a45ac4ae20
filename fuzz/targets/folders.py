"""Files that handful itself wrote, and that were damaged since: models, encoders, cached features, databases."""

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

import numpy as np

from fuzz.engine import SEEDS, Case, Run, Target, read_case
from fuzz.mutate import (
    Mutator,
    change_bytes,
    change_json,
    change_json_lines,
    change_lines,
    change_onnx,
    change_safetensors,
    change_sqlite,
)
from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.encoders.cache import FeatureCache
from handful.serve._annotations import Annotations
from handful.tagger.saving import checksums
from handful.text import Span, read, stream
from handful.text.projects import State
from handful.workbench._mirror import Mirror
from handful.workbench._store import Project

from .text import check_document
from .toy import Toy

__all__ = ["FOLDERS", "write_case"]

TEXT = "Then Pia saw Leeds again , and nobody else ."
SENTENCES = [["Pia", "left"], ["Leeds"], ["a", "dog", "and", "Pam"], ["x" * 30, "密教", "."]]


def write_case(folder: Path, case: Case) -> None:
    """Write the files of an input into a folder, and nothing else."""
    for one in list(folder.iterdir()):
        if one.is_dir():
            shutil.rmtree(one)
        elif one.name not in case:
            one.unlink()
    for name, data in case.items():
        (folder / name).write_bytes(data)


@contextmanager
def open_models(folder: Path) -> Iterator[Run]:
    """Load a tagger, predict with it, and save and load it again."""
    encoder, place, again = Toy(), folder / "model", folder / "again"
    place.mkdir()

    def run(case: Case) -> object:
        write_case(place, case)
        _sign(place)
        tagger = Tagger.load(place, encoder=encoder, cache=False)
        found = tagger.predict(TEXT)
        for one in found:
            assert TEXT[one["start"] : one["end"]] == one["word"]
            assert 0 <= one["score"] <= 1
        tagger.explain(TEXT)
        assert str(tagger.summary_)
        tagger.save(again)
        back = Tagger.load(again, encoder=encoder, cache=False)
        assert back.predict(TEXT) == found
        return [(one["word"], one["entity_group"]) for one in found], len(tagger.types_)

    yield run


def _sign(folder: Path) -> None:
    """Put checksums that fit into the config of a model, where it is one."""
    with suppress(OSError, ValueError, RecursionError):
        config = json.loads((folder / "config.json").read_bytes())
        if isinstance(config, dict):
            config["checksums"] = checksums(folder, config)
            (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


@contextmanager
def open_encoders(folder: Path) -> Iterator[Run]:
    """Load an encoder, and encode words and types."""
    place = folder / "encoder"
    place.mkdir()

    def run(case: Case) -> object:
        write_case(place, case)
        encoder = load(place, threads=1)
        rows = encoder.encode(SENTENCES)
        assert rows.shape == (sum(map(len, SENTENCES)), encoder.dim)
        assert np.isfinite(rows).all()
        moved, largest = np.abs(encoder.encode(SENTENCES[:1]) - rows[:2]).max(), np.abs(rows).max()
        assert moved == 0, f"another batch moves values by {moved:g}, of {largest:g} at most"
        assert len(encoder.unreadable(SENTENCES)) == len(rows)
        assert len(encoder.fingerprint) == 64
        if encoder.has_names:
            assert np.isfinite(encoder.encode_types(["person", "place"]).vectors).all()
        return encoder.dim, encoder.has_names, encoder.window, str(encoder.transitions)

    yield run


@contextmanager
def open_hugging_face(folder: Path) -> Iterator[Run]:
    """Do the same on the CPU, after what it takes has been imported."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # on a GPU, another batch moves the last digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("handful.encoders.hugging_face")
        with open_encoders(folder) as run:
            run(read_case(SEEDS / "encoder-hugging-face" / "bert"))
            yield run


@contextmanager
def open_caches(folder: Path) -> Iterator[Run]:
    """Encode with a cache whose file is damaged: what comes out must be what the encoder gives."""
    encoder, place = Toy(), folder / "cache"
    cache = FeatureCache(place)
    path = CachedEncoder(encoder, cache)._store.path
    place.mkdir(parents=True)
    right = encoder.encode(SENTENCES)

    def run(case: Case) -> object:
        write_case(place, {path.name: case["file"]})
        found = [(one.n_sentences, one.n_words) for one in cache.contents()]
        cached = CachedEncoder(encoder, cache)
        assert np.array_equal(cached.encode(SENTENCES), right)
        assert np.array_equal(cached.encode(SENTENCES[1:]), right[2:])
        assert cache.size() > 0
        return found, [one.n_sentences for one in cache.contents()]

    yield run


@contextmanager
def open_projects(folder: Path) -> Iterator[Run]:
    """Read a project as a file, and go on working with it."""
    path = folder / "p.db"

    def run(case: Case) -> object:
        write_case(folder, {"p.db": case["file"]})
        documents = list(stream(path))
        for document in documents:
            check_document(document)
        assert len(read(path)) == sum(len(one.sentences) for one in documents)
        with Project(path, "anna") as project:
            mirror = Mirror(project)
            counts = mirror.count_labels(), mirror.count_statuses(), project.count_undo(), len(mirror.labelled())
            mirror.entity_types()
            assert len(list(project.documents())) == len(documents)
            project.quality()
            for id, entry in list(mirror.entries.items())[:1]:
                project.text(entry.text_id)
                before = project.states().get(id)
                project.decide("label", {id: State("labelled", (Span(0, 1, "PER"),))}, {id: mirror.state(id)[0]})
                if project.undo().n_steps:
                    after = project.states().get(id)
                    assert (before and before[1]) == (after and after[1]) or before is None
            project.change_types("add", "NEW", ("", None))
            project.change_types("remove", "PER", preview=True)
        return len(documents), repr(counts)

    yield run


@contextmanager
def open_stores(folder: Path) -> Iterator[Run]:
    """Open a store of annotations from Label Studio, and read and add to it."""
    path = folder / "annotations.db"
    key = ("m", "1")

    def run(case: Case) -> object:
        write_case(folder, {path.name: case["file"]})
        store = Annotations(path)
        try:
            config = store.config(key)
            sentences = store.sentences(key)
            n = store.count(key)
            store.put(key, 9, "Pia left.", {"id": 9, "result": []})
            store.remove(key, "task", [9])
            assert store.count(key) <= n
        finally:
            store.close()
        return config and len(config.types), len(sentences), n

    yield run


_JSON: tuple[Mutator, ...] = (change_json, change_json, change_json, change_bytes)
_WEIGHTS: tuple[Mutator, ...] = (change_safetensors, change_safetensors, change_bytes)

FOLDERS = [
    Target(
        "model",
        "the folder of a tagger",
        open_models,
        {
            "config.json": _JSON,
            "model.safetensors": _WEIGHTS,
            "support.jsonl": (change_json_lines, change_lines, change_bytes),
        },
    ),
    Target(
        "encoder",
        "the folder of an exported encoder",
        open_encoders,
        {
            "encoder.json": _JSON,
            "tokenizer.json": _JSON,
            "model.onnx": (change_onnx, change_onnx, change_bytes),
            "names.safetensors": _WEIGHTS,
        },
    ),
    Target(
        "encoder-hugging-face",
        "the folder of a Hugging Face encoder",
        open_hugging_face,
        {
            "config.json": _JSON,
            "tokenizer.json": _JSON,
            "tokenizer_config.json": _JSON,
            "model.safetensors": _WEIGHTS,
        },
        needs=("torch", "transformers"),
    ),
    Target("cache", "a file of cached features", open_caches, {"file": (change_sqlite, change_bytes)}),
    Target("project", "a project of the workbench", open_projects, {"file": (change_sqlite,)}),
    Target("store", "a store of annotations", open_stores, {"file": (change_sqlite,)}),
]
