"""Train an encoder as `handful pretrain` does, on a processor with instructions for bfloat16; handful-xx is from here.

    python benchmarks/names/pretrain_cpu.py [the arguments of handful pretrain]

The encoder computes in bfloat16, and steps are made cheap: rows have 96 tokens where sentences allow it, nothing is
dropped out, and the embeddings of sub-words stay as they are in the base. On one core with avx512_bf16 that is 2,000
tokens a second for 12 layers of 384 numbers. SNAPSHOT in the environment names a file to which the network is written
every 200 steps.
"""

import os
import time
from typing import Any

import torch
from safetensors.torch import save_file

from handful.cli import main
from handful.training import _steps, model, prepare, training_loop

_read_base, _take = prepare.read_base, training_loop.Training._take
_steps._ROW = 96


def run(encoder: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the vectors of all tokens, in float32, computed in bfloat16."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = encoder(**inputs, return_dict=True)
    hidden: torch.Tensor = output.last_hidden_state.flatten(0, 1).float()
    return hidden


def read_base(encoder: str, layers: int | None = None) -> tuple[Any, Any, int]:
    """Read the encoder without dropout, and with embeddings of sub-words that stay as they are."""
    base, tokenizer, n_layers = _read_base(encoder, layers)
    for module in base.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "dropout_prob"):
            module.dropout_prob = 0.0
    base.set_attn_implementation("eager")
    base.get_input_embeddings().requires_grad_(False)
    return base, tokenizer, n_layers


def take(training: training_loop.Training, step: Any) -> None:
    """Take a step; write the network now and then."""
    _take(training, step)
    if training.step % 20 == 0:
        loss = float(training._loss) / training._n_words
        print(f"{time.monotonic():.0f} step {training.step} of {training.n_steps}, loss {loss:.4f}", flush=True)
    if (path := os.environ.get("SNAPSHOT")) and training.step % 200 == 0:
        tensors = {name: one.contiguous() for name, one in training.network.state_dict().items()}
        save_file({n: t for n, t in tensors.items() if "word_embeddings" not in n and n != "different"}, path)


model._run, prepare.read_base, training_loop.Training._take = run, read_base, take

if __name__ == "__main__":
    main()
