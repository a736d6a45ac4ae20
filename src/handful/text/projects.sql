PRAGMA application_id = 1212566577;
PRAGMA user_version = 2;
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
    undoes INTEGER, subject INTEGER NOT NULL, person TEXT, before TEXT, after TEXT
);
CREATE INDEX log_of_subject ON log (subject, seq);
CREATE INDEX log_of_step ON log (step);
CREATE TRIGGER log_only_grows BEFORE UPDATE ON log BEGIN SELECT raise(ABORT, 'the log only grows'); END;
CREATE TRIGGER log_keeps_all BEFORE DELETE ON log BEGIN SELECT raise(ABORT, 'the log only grows'); END;
CREATE TABLE quality (decisions INTEGER PRIMARY KEY, f1 REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL);
