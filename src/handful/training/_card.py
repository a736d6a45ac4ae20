"""The result of a training: the encoder in the Hugging Face layout, and a card that says how it was made."""

import json
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import save_file

from handful import __version__
from handful._util.files import failed, replacing_folder
from handful.encoders.card import SEEN, TRAINED, write_seen
from handful.encoders.hugging_face import quiet
from handful.encoders.names import NAMES_FILE
from handful.encoders.shapes import SHAPES_FILE, has_word_shapes, remove_word_shapes
from handful.text import Sentence, Transitions

from ._stepping import CLIP, WEIGHT_DECAY
from .prepare import PreparedTraining


def make_card(prepared: PreparedTraining, *, licence: str, origin: str, command: str) -> dict[str, Any]:
    """Return the card; ``transitions`` in it say how tags follow each other in the sentences of all corpora."""
    training = prepared.training
    return {
        "card": 1,
        "made_by": "handful pretrain",
        "command": command,
        "licence": licence,
        "origin": origin,
        "base": prepared.base,
        "corpora": [corpus.summary() for corpus in training.data.corpora],
        "transitions": Transitions.count(_sentences(prepared)).to_dict(),
        "recipe": {
            **asdict(training.recipe),
            "pooling": "first-last",
            "scheme": "IO",
            "optimizer": "AdamW",
            "weight_decay": WEIGHT_DECAY,
            "clip": CLIP,
            "precision": "bfloat16" if training.device.type == "cuda" else "float32",
        },
        "training": {"steps": training.n_steps, "epochs": training.history},
        "versions": {
            "handful": __version__,
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "transformers": transformers.__version__,
        },
    }


def write_encoder(target: Path, prepared: PreparedTraining, card: dict[str, Any]) -> None:
    """Write the folder; it appears when it is complete."""
    network, tokenizer = prepared.training.network, prepared.tokenizer
    model = network.encoder.to("cpu").eval()
    shapes = remove_word_shapes(model) if has_word_shapes(model) else None
    for passing in ("is_local", "local_files_only"):  # how the base was read is not part of the result
        tokenizer.init_kwargs.pop(passing, None)
    with replacing_folder(target) as folder:
        try:
            with quiet():
                model.save_pretrained(folder)
                tokenizer.save_pretrained(folder)
            if shapes is not None:
                save_file({"weight": shapes.contiguous()}, folder / SHAPES_FILE)
        except SafetensorError as error:
            raise failed(target, error) from None
        network.head.trained().save(folder / NAMES_FILE)
        text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
        (folder / TRAINED).write_text(text, encoding="utf-8")
        write_seen(folder / SEEN, _sentences(prepared))


def _sentences(prepared: PreparedTraining) -> Iterator[Sentence]:
    return (sentence for corpus in prepared.training.data.corpora for sentence in corpus.train)
