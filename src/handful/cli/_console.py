"""A terminal on which texts cannot give commands."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console as RichConsole
from rich.segment import Segment

from handful._util.foreign import visible


class Console(RichConsole):
    """A console on which control characters in texts are shown by their numbers."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Return the parts of an output; those that control the terminal are rich's own."""
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=visible(part.text))
