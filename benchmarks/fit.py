"""How fast SubspaceKMeans fits, compared with plain ways to compute the same and with the limit.

python benchmarks/fit.py             the paper's size, then a table over n; about six minutes on 2 cores
python benchmarks/fit.py --quick     a tenth of it, to try
"""

import argparse
import time

import numpy as np
from measure import best_time, describe_machine, peak_memory
from rich.console import Console
from rich.table import Table
from scipy.linalg import eigh

from handful.cluster import SubspaceKMeans

N_TYPES, O_PROTOTYPES, O_RATIO, ROUNDS = 4, 10, 0.85, 10
K = N_TYPES + O_PROTOTYPES


def made_data(n, d, seed=0):
    """Return features X (n, d) float32 in overlapping groups, and tags y: 300 labels of O and 8 of each type."""
    rng = np.random.default_rng(seed)
    n_groups = 40  # O is many groups, each type one
    centres = rng.normal(scale=0.15, size=(n_groups, d)).astype(np.float32)  # overlapping, as words do
    spread = 0.5 + rng.gamma(2.0, 1.0, size=d).astype(np.float32)
    share = np.r_[
        np.full(N_TYPES, (1 - O_RATIO) / N_TYPES), np.full(n_groups - N_TYPES, O_RATIO / (n_groups - N_TYPES))
    ]
    group = rng.choice(n_groups, size=n, p=share)
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 10_000):
        part = slice(start, min(start + 10_000, n))
        rng.standard_normal(out=X[part], dtype=np.float32)
        X[part] *= spread
        X[part] += centres[group[part]]
    tag = np.where(group < N_TYPES, group + 1, 0)
    y = np.full(n, -1)
    for t in range(N_TYPES + 1):
        words = np.flatnonzero(tag == t)[: 300 if t == 0 else 8]
        y[words] = t
    return X, y


def fit(X, y, assignment):
    """Fit, always for the full number of rounds, so that times compare."""
    return SubspaceKMeans(O_RATIO, assignment=assignment, o_prototypes=O_PROTOTYPES, max_iter=ROUNDS).fit(X, y)


def limit(X):
    """Time the bare products that any such fit needs: one X^T X; ten times X U and a weighted sum of rows."""
    n, d = X.shape
    rng = np.random.default_rng(1)
    U = rng.normal(size=(d, K - 1)).astype(np.float32)
    A = rng.random((K, n), dtype=np.float32)

    def products():
        X.T @ X
        for _ in range(ROUNDS):
            X @ U
            A @ X

    return best_time(products)


def plain_round(X, labels):
    """Time U of one round in the best plain way: a scatter of the rows of each hard cluster, and the eigenproblem."""
    start = time.perf_counter()
    d = X.shape[1]
    S_w, S_b, mean = np.zeros((d, d)), np.zeros((d, d)), X.mean(axis=0, dtype=np.float64)
    for j in np.unique(labels):
        rows = X[labels == j]
        centre = rows.mean(axis=0)
        rows -= centre
        S_w += rows.T @ rows
        S_b += len(rows) * np.outer(centre - mean, centre - mean)
    eigh(S_b, S_w + 1e-9 * np.trace(S_w) / d * np.eye(d))
    return time.perf_counter() - start


def authors_round(X, A):
    """Time U of one round as the authors of the paper compute it: a weighted scatter of all rows for each prototype.

    All is float64. One prototype is timed and counted K times; the dense generalised eigenproblem is added.
    """
    d = X.shape[1]
    X = X.astype(np.float64)
    start = time.perf_counter()
    centred = X - A[:, :1].T @ X / A[:, 0].sum()
    S = (centred * A[:, :1]).T @ centred
    one = time.perf_counter() - start
    start = time.perf_counter()
    eigh(S, S + np.eye(d) * np.trace(S) / d)
    return K * one + time.perf_counter() - start


def paper_size(console, n, d):
    X, y = made_data(n, d)
    console.print(f"n = {n:,}, d = {d}, {K} prototypes, {ROUNDS} rounds, o_ratio {O_RATIO}; X {X.nbytes / 1e6:,.0f} MB")
    bare = limit(X)
    table = Table("", "seconds", "times the limit", "peak memory beyond X")
    table.add_row("limit: one X'X, ten X U and sums of rows", f"{bare:.2f}", "1.0", "")
    for assignment in ("hard", "soft"):
        model = fit(X, y, assignment)
        assert model.n_iter_ == ROUNDS, "the made data converged early: times would not compare"
        seconds = best_time(lambda assignment=assignment: fit(X, y, assignment))
        peak = peak_memory(lambda assignment=assignment: fit(X, y, assignment))
        table.add_row(f"handful, {assignment}", f"{seconds:.2f}", f"{seconds / bare:.2f}", f"{peak / 1e6:,.0f} MB")
    plain = ROUNDS * min(plain_round(X, model.labels_) for _ in range(2))
    table.add_row("plain: a scatter a hard cluster, ten U alone (one timed)", f"{plain:.1f}", f"{plain / bare:.1f}", "")
    authors = ROUNDS * authors_round(X, model.responsibilities_)
    table.add_row("authors': a weighted scatter a prototype (one timed)", f"{authors:.0f}", f"{authors / bare:.0f}", "")
    console.print(table)
    console.print(f"allowed peak beyond X: a quarter of X plus 200 MB = {X.nbytes / 4e6 + 200:,.0f} MB")


def over_n(console, sizes, d):
    table = Table(
        "n", "limit, s", "hard, s", "hard / limit", "hard, µs a word", "soft, s", "soft / limit", "soft, µs a word"
    )
    for n in sizes:
        X, y = made_data(n, d)
        bare = limit(X)
        row = [f"{n:,}", f"{bare:.2f}"]
        for assignment in ("hard", "soft"):
            seconds = best_time(lambda X=X, y=y, assignment=assignment: fit(X, y, assignment))
            row += [f"{seconds:.2f}", f"{seconds / bare:.2f}", f"{1e6 * seconds / n:.2f}"]
        table.add_row(*row)
    console.print(f"d = {d}")
    console.print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    scale = 10 if parser.parse_args().quick else 1
    console = Console(width=120)
    console.print(describe_machine())
    paper_size(console, 255_000 // scale, 768)
    over_n(console, [n // scale for n in (32_000, 64_000, 125_000, 250_000, 500_000, 1_000_000)], 384)
