"""``handful demo``: the main job on made data."""


def demo() -> None:
    """Fit on made data and show what was found.

    Example: [bold]handful demo[/bold]
    """
