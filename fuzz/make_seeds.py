"""``python -m fuzz.make_seeds``: write anew the saved inputs that are not text, after a change of their formats."""

import json
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from handful import EntityType, Tagger
from handful.encoders import CachedEncoder
from handful.encoders.cache import FeatureCache
from handful.encoders.card import Card
from handful.encoders.names import NameHead
from handful.scale._features import _encode_piece
from handful.scale._folders import ShardFolder
from handful.scale._pieces import find_pieces
from handful.scale._predict import _predict_piece
from handful.scale._workers import Opening
from handful.serve._annotations import Annotations
from handful.text import Document, Span, Transitions, types_of
from handful.text.projects import State
from handful.workbench._store import Project

from .engine import SEEDS
from .targets.folders import SENTENCES
from .targets.shards import HERE, TEXT
from .targets.toy import SUPPORT, TEXTS, TYPES, Toy, fitted

CONFIG = (
    '<View><Labels name="label" toName="text"><Label value="PER"/><Label value="LOC" hint="L places"/></Labels>'
    '<Text name="text" value="$text"/></View>'
)


def main() -> None:
    """Write them all."""
    with tempfile.TemporaryDirectory() as folder:
        make_models()
        make_encoder(_empty(SEEDS / "encoder" / "named"))
        make_hugging_face(_empty(SEEDS / "encoder-hugging-face" / "bert"))
        make_cache(Path(folder))
        make_project(Path(folder) / "p.db")
        make_store(Path(folder) / "s.db")
        make_shards(Path(folder) / "shards")


def make_models() -> None:
    """Write a tagger without labels, one with labels and text, and one with known words."""
    words = EntityType("LOC", "L places", ("Leeds", "New York", "/[A-Z]{2}-[0-9]+/"), 0.5)
    known = Tagger(["PER", words], encoder=Toy(), cache=False).fit(SUPPORT)
    for name, tagger in {"names": fitted(), "labels": fitted(SUPPORT, TEXTS), "words": known}.items():
        folder = _empty(SEEDS / "model" / name)
        tagger.save(folder)
        (folder / "README.md").unlink()


def make_encoder(folder: Path) -> None:
    """Write an encoder of one table: a word's vector is that of its sub-word."""
    import onnx
    from onnx import helper, numpy_helper

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "Pia", "left", "Leeds", "##s", "person", "place", "."]
    table = (np.arange(len(vocabulary) * 4).reshape(-1, 4) % 7).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
            helper.make_node("Mul", ["rows", "column"], ["layer_1"]),
        ],
        "toy",
        [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["n", "m"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("layer_1", onnx.TensorProto.FLOAT, ["n", "m", 4])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([-1]), "last")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(vocabulary)), encoding="utf-8")
    card = Card(
        dim=4,
        window=16,
        n_layers=1,
        precision="float32",
        pad_id=0,
        unknown_id=1,
        origin="made",
        licence="none",
        transitions=Transitions(start_type=0.15, o_type=0.1, type_o=0.5, type_other=0.02),
        names=True,
    )
    (folder / "encoder.json").write_text(card.to_json(), encoding="utf-8")
    NameHead(np.eye(4, dtype=np.float32), np.zeros(4, np.float32), np.ones((1, 4), np.float32)).save(
        folder / "names.safetensors"
    )


def _tokenizer(vocabulary: list[str]) -> dict[str, object]:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(vocabulary[:4])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    found: dict[str, object] = json.loads(tokenizer.to_str())
    return found


def make_hugging_face(folder: Path) -> None:
    """Write a very small BERT."""
    import torch
    import transformers as library
    from tokenizers import Tokenizer

    transformers: Any = library

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "Pia", "left", "Leeds", "##s", "person", "place", "."]
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=16,
        pad_token_id=0,
    )
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer = Tokenizer.from_str(json.dumps(_tokenizer(vocabulary)))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=16, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(folder)


def make_cache(folder: Path) -> None:
    """Write cached features."""
    cached = CachedEncoder(Toy(), FeatureCache(folder / "cache"))
    cached.encode(SENTENCES)
    (written,) = (folder / "cache").glob("*.sqlite")
    _empty(SEEDS / "cache")
    shutil.copyfile(written, SEEDS / "cache" / "sentences")


def make_project(path: Path) -> None:
    """Write a project with decisions of every kind."""
    with Project(path, "anna") as project:
        project.add(
            [*map(Document.of, TEXTS), Document.of("Pam left .", id="a", meta={"page": 1})], lambda: types_of(TYPES)
        )
        project.decide("label", {1: State("labelled", (Span(1, 2, "PER"), Span(3, 4, "LOC")))})
        project.decide("label", {2: State("none")})
        project.decide("label", {3: State("unsure", (Span(2, 3, "PER"),))})
        project.undo()
        project.change_types("rename", "LOC", "PLACE")
        for person, state in (("ben", "none"), ("eva", "unsure")):
            project.by(person).decide("label", {4: State(state)}, own=[4])
        project.add_quality(2, 0.5, 0.25, 0.75)
    _pack(path, "project")


def make_store(path: Path) -> None:
    """Write a store of annotations."""
    store = Annotations(path)
    store.set_config(("m", "1"), CONFIG)
    value = {"start": 0, "end": 3, "text": "Pia", "labels": ["PER"]}
    result = [{"id": "r", "from_name": "label", "to_name": "text", "type": "labels", "value": value}]
    store.put(("m", "1"), 3, "Pia left Leeds.", {"id": 1, "result": result})
    store.put(("m", "1"), 4, "Nobody left.", {"id": 2, "result": []})
    store.close()
    _pack(path, "store")


def make_shards(folder: Path) -> None:
    """Write features of a text in two pieces, and predictions in it in both formats."""
    folder.mkdir()
    text = folder / TEXT
    lines = [json.dumps({"id": i, "text": one}) for i, one in enumerate(["the Peter of Lima sleeps all day", *TEXTS])]
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.utime(text, (0, 0))
    options: dict[str, Any] = {"unlabelled": True}
    pieces = find_pieces([str(text)], None, options, folder / "spool", text.stat().st_size // 2 + 1)
    opening = Opening(Toy(), 1, None)
    plan = {"options": options, "pieces": [piece.to_dict() for piece in pieces]}
    numbered = list(enumerate(pieces))
    for dtype in ("float32", "float16"):
        made = ShardFolder(folder / dtype, "features")
        made.start({"encoder": "toy", "dim": Toy.dim, "dtype": dtype} | plan)
        found = [_encode_piece(one, str(made.path), options, opening, dtype) for one in numbered]
        made.finish([found[0] | {"report": ["a note"]}, *found[1:]])
        _take_over(made.path, text, SEEDS / "features" / dtype)
    model: Any = fitted().model_
    made = ShardFolder(folder / "jsonl", "predictions")
    made.start({"model": "m", "min_score": 0.0} | plan)
    found = [_predict_piece(one, str(made.path), options, opening, model, 0.0) for one in numbered]
    made.finish(found)
    _take_over(made.path, text, SEEDS / "predictions" / "jsonl")


def _take_over(made: Path, text: Path, seed: Path) -> None:
    """Put a folder of shards among the saved inputs, with the text that it was made from."""
    _empty(seed)
    for path in sorted([*made.iterdir(), text]):
        data = path.read_bytes()
        (seed / path.name).write_bytes(data.replace(os.fsencode(text.parent), HERE) if path.suffix == ".json" else data)


def _pack(path: Path, name: str) -> None:
    """Make a database as small as it can be, and put it among the saved inputs."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
        connection.execute(statement)
    connection.close()
    _empty(SEEDS / name)
    shutil.copyfile(path, SEEDS / name / "small")


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


if __name__ == "__main__":
    main()
