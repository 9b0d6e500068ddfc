-- Facts by name can be large: the history of a project takes megabytes. To compare the key of a row, SQLite reads all of the
-- row if the table is WITHOUT ROWID; of this table it reads an index of names.
ALTER TABLE meta RENAME TO meta_before;
CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    ck    BLOB NOT NULL,
    value BLOB NOT NULL
) STRICT;
INSERT INTO meta (key, ck, value) SELECT key, ck, value FROM meta_before;
DROP TABLE meta_before;
