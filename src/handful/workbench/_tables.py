"""The tables of a project, and an empty one; what they hold is said in `handful.text.projects`."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from handful._util.files import beside, failed
from handful.text.projects import APPLICATION, PROJECT_FORMAT, database_errors

__all__ = ["make"]

_TABLES = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {PROJECT_FORMAT};
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL, name TEXT, meta TEXT NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE sentences (
    id INTEGER PRIMARY KEY, text_id INTEGER NOT NULL REFERENCES texts, same INTEGER NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL, words TEXT NOT NULL, digest BLOB NOT NULL
);
CREATE INDEX sentences_of_text ON sentences (text_id, id);
CREATE TABLE log (
    seq INTEGER PRIMARY KEY, step INTEGER NOT NULL, time REAL NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL,
    undoes INTEGER, subject INTEGER NOT NULL, before TEXT, after TEXT
);
CREATE INDEX log_of_subject ON log (subject, seq);
CREATE INDEX log_of_step ON log (step);
CREATE TRIGGER log_only_grows BEFORE UPDATE ON log BEGIN SELECT raise(ABORT, 'the log only grows'); END;
CREATE TRIGGER log_keeps_all BEFORE DELETE ON log BEGIN SELECT raise(ABORT, 'the log only grows'); END;
CREATE TABLE quality (decisions INTEGER PRIMARY KEY, f1 REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL);
"""


def make(path: Path) -> None:
    """Make an empty project, which appears when it is complete."""
    temporary = beside(path)
    try:
        temporary.unlink(missing_ok=True)
        with database_errors(path):
            connection = sqlite3.connect(temporary)
            connection.execute("PRAGMA journal_mode = OFF")  # a killed process would leave a journal beside it
            connection.executescript(_TABLES)
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
