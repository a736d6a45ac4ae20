"""`ProjectFile`: the SQLite file of a project, which is made, opened, read, and written to as a whole."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Self

from handful._util.files import beside, failed
from handful.errors import FileError
from handful.text.projects import SCHEMA, database_errors, is_project, open_project


class ProjectFile:
    """An open project; if there is none at the path, it is made."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = RLock()
        if not self.path.exists():
            _make(self.path)
        elif not is_project(self.path):
            raise FileError(f"{self.path}: is not a project of handful label; give the name of a new file")
        self._connection = open_project(self.path, mode="rw")
        with database_errors(self.path):
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def delete(self) -> None:
        """Close the file, and delete it."""
        self.close()
        self.path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _one(self, query: str, *values: object) -> Any:
        with self._lock, database_errors(self.path):
            row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection of its own, which sees the file as it is now, however long it reads."""
        connection = open_project(self.path)
        try:
            with database_errors(self.path):
                connection.execute("BEGIN")
                yield connection
        finally:
            connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write all of it, or nothing; when it is left, all of it is on the disk."""
        with self._lock, database_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise


def _make(path: Path) -> None:
    """Make an empty project, which appears when it is complete."""
    temporary = beside(path)
    try:
        temporary.unlink(missing_ok=True)
        with database_errors(path):
            connection = sqlite3.connect(temporary)
            connection.execute("PRAGMA journal_mode = OFF")  # a killed process would leave a journal beside it
            connection.executescript(SCHEMA)
            connection.close()
        try:
            os.link(temporary, path)  # not over a project that somebody else made at the same time
        except FileExistsError:
            pass
        except OSError:
            os.replace(temporary, path)
    except OSError as error:
        raise failed(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
