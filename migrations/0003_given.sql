-- What the last aggregation of each name gave, so that the next one can tell what has changed since.
--
-- A row is small and says what a file was shown as; its text stands apart, for all rows are read to find the few files
-- that have changed, and the texts of those alone. When a name was used last is a fact in `meta`, so that a row is
-- written only where it says something new.
CREATE TABLE given (
    name    TEXT NOT NULL,          -- the aggregation's
    path    BLOB NOT NULL,
    view    TEXT NOT NULL,          -- what the reader has
    shown   BLOB NOT NULL,          -- a hash of view and text that the reader has
    wanted  BLOB NOT NULL,          -- of those that a document without a limit would have had
    text_id INTEGER,                -- NULL where there was too much of it to keep
    ck      BLOB NOT NULL,
    PRIMARY KEY (name, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE given_text (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    ck   BLOB NOT NULL
) STRICT;
