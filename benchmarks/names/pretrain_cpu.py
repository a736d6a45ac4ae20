"""Train an encoder as `handful pretrain` does, on a processor with instructions for bfloat16; handful-xx is from here.

    python benchmarks/names/pretrain_cpu.py pretrain CORPUS ... --encoder BASE --out FOLDER

The encoder computes in bfloat16, and steps are made cheap: rows have 96 tokens where sentences allow it, nothing is
dropped out, and the embeddings of sub-words stay as they are in the base. On one core with avx512_bf16 that is 2,000
tokens a second for 12 layers of 384 numbers. A base that reads names of types keeps its head: such a training goes on.
"""

import sys
from pathlib import Path
from typing import Any

import torch

from handful.cli import main
from handful.encoders.names import NAMES_FILE, NameHead
from handful.training import _steps, model, prepare
from handful.training._heads import NamesHead

_read_base = prepare.read_base
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
    base.set_attn_implementation("eager")
    base.get_input_embeddings().requires_grad_(False)
    return base, tokenizer, n_layers


class GoingOn(NamesHead):
    """The head of the base where that has one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        path = Path(sys.argv[sys.argv.index("--encoder") + 1]) / NAMES_FILE
        if path.is_file():
            old = NameHead.load(path, self.linear.in_features)
            pairs = [
                (self.linear.weight, old.weight),
                (self.linear.bias, old.bias),
                (self.o_prototypes, old.o_prototypes),
                (self.beta, old.beta),
                (self.exclusion, old.exclusion),
                (self.border, old.border),
            ]
            with torch.no_grad():
                for new, value in pairs:
                    if new is not None and value is not None:
                        new.copy_(torch.as_tensor(value))


model._run, prepare.read_base, prepare.NamesHead = run, read_base, GoingOn

if __name__ == "__main__":
    main()
