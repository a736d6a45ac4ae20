"""Random heads that read names, and what they compute written down a second time."""

import shutil

import numpy as np
import torch

from handful.encoders.names import NAMES_FILE, NameHead


def random_head(dim=32, seed=0):
    rng = np.random.default_rng(seed)
    return NameHead(
        np.eye(dim) + rng.normal(size=(dim, dim)) * 0.1,
        rng.normal(size=dim),
        rng.normal(size=(8, dim)),
        -0.25,
    )


def with_head(folder, target, head=None):
    shutil.copytree(folder, target)
    (head or random_head()).save(target / NAMES_FILE)
    return target


def by_torch(head, means):
    """Return the vectors of types, computed with torch's own layers."""
    means = torch.as_tensor(np.asarray(means, np.float32))
    linear = torch.nn.Linear(head.dim, head.dim)
    linear.weight.data, linear.bias.data = torch.from_numpy(head.weight.copy()), torch.from_numpy(head.bias.copy())
    return linear(means).detach().numpy()
