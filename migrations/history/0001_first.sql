-- The history of what is curated: states of slop.toml, so that a person can go back to any of them.
--
-- Losing it costs the way back, and nothing else: slop.toml itself is the state that counts.

-- A text of slop.toml. Each is kept once, however often it was the state.
CREATE TABLE state (
    hash BLOB PRIMARY KEY NOT NULL,     -- SHA-256 of the text
    text BLOB NOT NULL,
    ck   BLOB NOT NULL
) STRICT;

-- An entry of the history. Entries are a tree: an edit after an undo begins a branch, and the other one stays.
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

-- The entry that slop.toml is at.
CREATE TABLE position (
    take  TEXT PRIMARY KEY NOT NULL,
    entry INTEGER NOT NULL,
    ck    BLOB NOT NULL
) STRICT;
