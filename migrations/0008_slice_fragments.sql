-- Slices that people marked have places of their own beside files, and a row records how much of a fragment is shown.
--
-- Places of before are found again. No release had this table, so that no pin of a user is lost.
DROP TABLE fragment;
CREATE TABLE fragment (
    worktree TEXT NOT NULL,         -- the linked worktree that the file is in; empty for the checkout with the cache
    path    BLOB NOT NULL,
    part    TEXT NOT NULL,          -- the name of a slice; empty for the file
    sha     BLOB NOT NULL,          -- of the content when it was placed
    bytes   INTEGER NOT NULL,       -- of that content
    tokens  INTEGER NOT NULL,       -- at its depth
    shown   INTEGER NOT NULL,       -- bytes at its depth
    warmth  TEXT,                   -- NULL: forgotten
    depth   INTEGER NOT NULL,
    score   INTEGER NOT NULL,       -- thousandths
    pin     INTEGER,                -- the depth that is insisted on; -1: any
    uses    INTEGER NOT NULL,
    used_at INTEGER,                -- seconds
    since   INTEGER NOT NULL,       -- seconds
    why     TEXT NOT NULL,
    ck      BLOB NOT NULL,
    PRIMARY KEY (worktree, path, part)
) STRICT, WITHOUT ROWID;
DELETE FROM meta WHERE key = 'hydration' OR substr(key, -10) = char(1) || 'hydration';
