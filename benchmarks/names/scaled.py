"""Make the vectors of a trained encoder longer, so that names count beside labels and transitions as in handful-en.

    python benchmarks/names/scaled.py TRAINED OUT --by 1.2

Vectors of words and types are by so much longer, and logits by its square; which type is likeliest does not change. How
much names, labels and transitions count beside each other is fixed for logits such as those of handful-en.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import torch

from handful.encoders.names import NAMES_FILE, NameHead
from handful.training.model import read_base


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--by", type=float, default=1.2)
    given = parser.parse_args()
    by = given.by
    model, _, _ = read_base(str(given.trained))
    *_, last = (module for module in model.modules() if isinstance(module, torch.nn.LayerNorm))
    with torch.no_grad():
        last.weight *= by
        last.bias *= by
    old = NameHead.load(given.trained / NAMES_FILE)
    border = None if old.border is None else np.append(old.border[:-1] / by, old.border[-1:])
    exclusion = None if old.exclusion is None else old.exclusion * by**2
    head = NameHead(old.weight, old.bias * by, old.o_prototypes * by, old.beta * by**2, exclusion, border)
    shutil.copytree(given.trained, given.out)
    model.save_pretrained(given.out)
    head.save(given.out / NAMES_FILE)


if __name__ == "__main__":
    main()
