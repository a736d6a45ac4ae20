"""``handful demo``: the algorithm on made data."""

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


def demo(
    seed: int = typer.Option(0, help="Which made data to draw."),
) -> None:
    """Fit on made data, with a handful of labels, and show what was found.

    [bold]Example[/bold]

        handful demo --seed 1
    """
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from handful.cluster import Round, SubspaceKMeans

    console = Console()
    names = ["O", "PERSON", "PLACE", "WORK"]
    words, y, truth = _made_words(seed)
    o_share = float((truth == 0).mean())
    n_labelled = int((y >= 0).sum())
    console.print(
        f"[bold]{len(words):,}[/bold] made words of {words.shape[1]} features; [bold]{n_labelled}[/bold] labelled,"
        f" 5 for each of {len(names) - 1} types; {o_share:.0%} of all words are O.\n"
    )

    def show(done: Round) -> None:
        bar = "█" * round(24 * done.n_changed / len(words))
        console.print(
            f"  round {done.number:2}  objective {done.objective:.4f}  changed {done.n_changed:6,} [cyan]{bar}[/cyan]"
        )

    model = SubspaceKMeans(o_share).fit(words, y, callback=show)

    is_labelled = y >= 0
    scores = Table("what is used", "accuracy", "entity F1", title="\nWords tagged right", title_justify="left")
    alone = SubspaceKMeans(max_iter=1).fit(words[is_labelled], y[is_labelled])
    for what, found in [
        ("the labelled words alone", alone.predict(words)),
        ("and the unlabelled words", SubspaceKMeans().fit(words, y).predict(words)),
        (f"and the ratio, {o_share:.2f}", model.predict(words)),
    ]:
        right = np.count_nonzero((found == truth) & (truth > 0))
        f1 = 2 * right / (np.count_nonzero(found > 0) + np.count_nonzero(truth > 0))
        scores.add_row(what, f"{(found == truth).mean():.3f}", f"{f1:.3f}")
    console.print(scores)

    colours = ["bright_black", "red", "green", "blue"]
    console.print("\nThe words in the learned subspace, seen where the types stand apart, by the tag found:")
    _plot(console, model.transform(words), model.predict(words), colours)
    console.print("  ".join(f"[{colour}]●[/{colour}] {name}" for colour, name in zip(colours, names, strict=True)))


def _made_words(seed: int) -> tuple[Any, Any, Any]:
    """Draw 6,000 words: O in eight overlapping groups, each type in one."""
    import numpy as np

    rng = np.random.default_rng(seed)
    n, d, n_o_groups, n_types = 6_000, 64, 8, 3
    share = np.r_[np.full(n_o_groups, 0.88 / n_o_groups), np.full(n_types, 0.12 / n_types)]
    group = rng.choice(n_o_groups + n_types, size=n, p=share)
    centres = 0.8 * rng.normal(size=(n_o_groups + n_types, d))
    spread = 0.5 + rng.gamma(2.0, 0.8, size=d)
    words = (centres[group] + spread * rng.normal(size=(n, d))).astype(np.float32)
    truth = np.maximum(group - n_o_groups + 1, 0)
    y = np.full(n, -1)
    for tag in range(n_types + 1):
        y[np.flatnonzero(truth == tag)[: 60 if tag == 0 else 5]] = tag
    return words, y, truth


def _plot(console: "Console", places: Any, tags: Any, colours: list[str], width: int = 76, height: int = 20) -> None:
    """Print the plane in which the types' means stand apart; a cell has the colour of its rarest tag."""
    import numpy as np

    means = np.stack([places[tags == tag].mean(axis=0) for tag in range(1, len(colours))])
    places = places @ np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2][:2].T
    low, high = np.quantile(places, [0.002, 0.998], axis=0)
    at = ((places - low) / (high - low) * [width - 1, height - 1]).round().astype(int)
    at = np.clip(at, 0, [width - 1, height - 1])
    grid = np.full((height, width), -1)
    for tag in np.argsort(-np.bincount(tags)):
        column, row = at[tags == tag].T
        grid[row, column] = tag
    for line in grid:
        console.print("".join(" " if tag < 0 else f"[{colours[tag]}]●[/{colours[tag]}]" for tag in line))
