"""A connection to an SQLite file that is closed when it says so."""

import sqlite3
from typing import Any
from weakref import WeakSet


class Connection(sqlite3.Connection):
    """A connection whose cursors end with it.

    A cursor that has not come to its end keeps the file open and locked, after its connection was closed too. After an
    error, the error keeps the cursor.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def execute(self, *args: Any) -> sqlite3.Cursor:
        """Execute a statement, and remember its cursor."""
        made = super().execute(*args)
        self._cursors.add(made)
        return made

    def close(self) -> None:
        """Close the cursors and the connection."""
        while self._cursors:
            self._cursors.pop().close()
        super().close()
