"""The command line: one file per command; each parses, calls, prints.

This module imports next to nothing: what takes time to load is loaded in `main`, where Ctrl-C is waited for.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from .commands import COMMANDS, make_app

        asked = sys.argv[1:2]
        make_app(asked if asked and asked[0] in COMMANDS else COMMANDS)()
    except KeyboardInterrupt:  # while the commands were being loaded; the app deals with the rest itself
        sys.stderr.write("stopped\n")
        sys.exit(130)
