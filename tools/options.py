"""Count the options of the command line: ``python tools/options.py``.

A slot is an option of a command; ``--help`` is not counted, and neither are arguments.
"""

import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from handful.cli.commands import make_app


def slots(command: Any = None, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each command's full name and the names of its options; the group's own options come first."""
    command = command or typer.main.get_command(make_app())
    yield name, [param.opts[0] for param in command.params if param.param_type_name == "option"]
    for each, sub in sorted(getattr(command, "commands", {}).items()):
        yield from slots(sub, f"{name} {each}".strip())


def main() -> None:
    """Print the number of options of each command, the largest first, and of all of them."""
    counts = {name or "(all commands)": options for name, options in slots()}
    for name, options in sorted(counts.items(), key=lambda item: (-len(item[1]), item[0])):
        if options:
            sys.stdout.write(f"{len(options):4} {name}: {' '.join(options)}\n")
    every = [option for options in counts.values() for option in options]
    sys.stdout.write(f"{len(every):4} in all, {len(set(every))} distinct\n")


if __name__ == "__main__":
    main()
