CREATE TABLE head (name TEXT PRIMARY KEY, value);
CREATE TABLE pack (number INTEGER PRIMARY KEY, used INTEGER, n_bytes INTEGER);
CREATE TABLE sentence (key BLOB PRIMARY KEY, pack INTEGER, crc INTEGER, content BLOB);
CREATE INDEX sentence_pack ON sentence (pack);
