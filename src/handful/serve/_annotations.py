"""`Annotations`: the annotations that Label Studio has sent, in a file or in memory, and as labelled sentences."""

import io
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handful.errors import DataError, FileError
from handful.text import Sentence, read
from handful.text.projects import DamagedProjectError, check_schema
from handful.web import Limits

from ._label_config import LabelConfig, read_config

APPLICATION, FORMAT = 0x68667573, 1  # in the head of the file, see the tables: a store of annotations, its version

_TABLES = Path(__file__).with_name("annotations.sql").read_text(encoding="utf-8")

Key = tuple[str, str]
"""A model and the number of a project."""


class Annotations:
    """The annotations of projects, in a file, which is made if there is none, or in memory. Any thread may use it."""

    def __init__(self, path: str | Path | None = None, most: int = Limits.max_store) -> None:
        self.path = path
        self._most = most  # bytes
        self._lock = threading.Lock()
        with self._errors("opened as"):
            self._connection = sqlite3.connect(path or ":memory:", check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    @contextmanager
    def _errors(self, what: str = "used as") -> Iterator[None]:
        """Turn errors of the database into those of handful."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter of a message of SQLite's
            raise FileError(f"{self.path or 'memory'}: cannot be {what} a store of annotations: {error}") from None

    def _prepare(self) -> None:
        """Make the tables in an empty file; refuse a file of another kind."""
        if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._connection.executescript(_TABLES)
        (page,) = self._connection.execute("PRAGMA page_size").fetchone()
        self._connection.execute(f"PRAGMA max_page_count = {max(1, self._most // page)}")
        pragmas = ("PRAGMA application_id", "PRAGMA user_version")
        if [self._connection.execute(one).fetchone()[0] for one in pragmas] != [APPLICATION, FORMAT]:
            raise FileError(f"{self.path}: is not a store of annotations of this version of handful; give another file")
        try:
            check_schema(self._connection, _TABLES)
        except DamagedProjectError as error:
            raise FileError(f"{self.path}: the store is damaged: {error}; go back to an earlier copy") from None

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def set_config(self, key: Key, config: str) -> None:
        self._execute("INSERT OR REPLACE INTO projects VALUES (?, ?, ?)", [(*key, config)])

    def config(self, key: Key) -> LabelConfig | None:
        """Return the labelling interface of a project; None where it is not known."""
        found = self._select("SELECT config FROM projects WHERE model = ? AND project = ?", key)
        return read_config(str(found[0][0])) if found else None

    def put(self, key: Key, task: int, text: str, annotation: dict[str, Any]) -> None:
        """Keep an annotation, in the place of the one with its number."""
        row = (*key, annotation["id"], task, text, json.dumps(annotation))
        self._execute("INSERT OR REPLACE INTO annotations VALUES (?, ?, ?, ?, ?, ?)", [row])

    def remove(self, key: Key, column: str, ids: list[int]) -> None:
        """Drop annotations, by their own numbers (id) or by those of their tasks (task)."""
        assert column in ("id", "task")
        query = f"DELETE FROM annotations WHERE model = ? AND project = ? AND {column} = ?"
        self._execute(query, [(*key, one) for one in ids])

    def count(self, key: Key) -> int:
        """Return how many annotations a project has."""
        return int(self._select("SELECT count(*) FROM annotations WHERE model = ? AND project = ?", key)[0][0])

    def sentences(self, key: Key) -> list[Sentence]:
        """Return the labelled texts of a project, in the order of their tasks."""
        query = "SELECT task, text, body FROM annotations WHERE model = ? AND project = ? ORDER BY task, id"
        tasks: dict[int, tuple[str, list[Any]]] = {}
        for task, text, body in self._select(query, key):
            try:
                annotation = check_annotation(json.loads(body))
                tasks.setdefault(task, (str(text), []))[1].append(annotation)
            except (ValueError, TypeError, RecursionError) as error:
                raise FileError(f"{self.path}: an annotation of task {task!r:.50} is damaged: {error}") from None
        found = (read_labels(text, annotations) for text, annotations in tasks.values())
        return [sentence for sentence in found if sentence is not None]

    def _select(self, query: str, key: Key) -> list[Any]:
        with self._errors(), self._lock:
            return self._connection.execute(query, key).fetchall()

    def _execute(self, query: str, rows: list[tuple[Any, ...]]) -> None:
        """Write for all rows, or for none."""
        with self._errors(), self._lock, self._connection as connection:
            connection.executemany(query, rows)


def read_labels(text: str, annotations: list[Any]) -> Sentence | None:
    """Return a text with its labels; None where it has none, or no words.

    Where several annotations differ, a word may be what any of them says.
    """
    if not text.strip():
        return None
    task = [{"data": {"text": text}, "annotations": annotations}]
    found = read(io.StringIO(json.dumps(task)), "label-studio", annotator="agree")
    return next((one for one in found if not one.is_unlabelled), None)


def check_annotation(given: Any) -> dict[str, Any]:
    """Return the fields of an annotation that count; an error where it is none."""
    if not isinstance(given, dict) or not isinstance(given.get("result"), list):
        raise DataError("an annotation has no result")
    check_id(given.get("id"), "an annotation")
    return {name: given[name] for name in ("id", "result", "was_cancelled", "completed_by") if name in given}


def check_id(given: Any, of: str) -> int:
    """Return the number of an annotation or a task; an error where it is none."""
    if type(given) is not int or not 0 <= given < 1 << 63:
        raise DataError(f"{of} has no number, found {given!r:.80}")
    return given
