"""The command line: one file a command; each parses, calls, prints.

This module imports next to nothing: what takes time to load is loaded in `main`, where Ctrl-C is waited for.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from .commands import app

        app()
    except KeyboardInterrupt:  # while the commands were being loaded; `app` deals with the rest itself
        sys.stderr.write("stopped\n")
        sys.exit(130)
