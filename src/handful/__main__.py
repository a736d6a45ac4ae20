"""``python -m handful``: the command line, where the script ``handful`` is not on the path."""

from handful.cli import main

main()
