"""Random heads that read names, and what they compute written down a second time."""

import shutil

import numpy as np
import torch

from handful.encoders import NameHead
from handful.encoders._names import NAMES_FILE


def random_head(dim=32, seed=0, n_hidden=24, *, has_mlp=True):
    rng = np.random.default_rng(seed)
    mlp = [rng.normal(size=shape) * 0.3 for shape in ((n_hidden, dim), (n_hidden,), (dim, n_hidden), (dim,))]
    return NameHead(
        np.eye(dim) + rng.normal(size=(dim, dim)) * 0.1,
        rng.normal(size=dim),
        rng.normal(size=(8, dim)),
        -0.25,
        tuple(mlp) if has_mlp else None,
    )


def with_head(folder, target, head=None):
    shutil.copytree(folder, target)
    (head or random_head()).save(target / NAMES_FILE)
    return target


def by_torch(head, means):
    """Return the vectors of types, computed with torch's own layers."""
    means = torch.as_tensor(np.asarray(means, np.float32))
    linear = torch.nn.Linear(head.dim, head.dim)
    found = _filled(linear, head.weight, head.bias)(means)
    if head.mlp is not None:
        first, last = torch.nn.Linear(head.dim, len(head.mlp[1])), torch.nn.Linear(len(head.mlp[1]), head.dim)
        found = found + torch.nn.Sequential(
            _filled(first, *head.mlp[:2]), torch.nn.GELU(), _filled(last, *head.mlp[2:])
        )(means)
    return found.detach().numpy()


def _filled(layer, weight, bias):
    layer.weight.data, layer.bias.data = torch.from_numpy(weight.copy()), torch.from_numpy(bias.copy())
    return layer
