CREATE TABLE entry (
    id      INTEGER PRIMARY KEY,
    take    TEXT NOT NULL,
    state   BLOB NOT NULL,              -- hash of the text
    parent  INTEGER,                    -- the entry that was current before; NULL for the first
    label   TEXT,                       -- NULL where the file was not edited by slop
    at_ms   INTEGER NOT NULL,
    ck      BLOB NOT NULL
) STRICT;
CREATE INDEX entry_by_take ON entry (take, id);
CREATE TABLE position (
    take  TEXT PRIMARY KEY NOT NULL,
    entry INTEGER NOT NULL,
    ck    BLOB NOT NULL
) STRICT;
CREATE TABLE state (
    hash BLOB PRIMARY KEY NOT NULL,     -- SHA-256 of the text
    text BLOB NOT NULL,
    ck   BLOB NOT NULL
) STRICT;
