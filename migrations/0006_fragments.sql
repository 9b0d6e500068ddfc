-- Where `slop hydrate` has placed the files of the project: how near each is to an agent, and how much of it is shown.
--
-- Kept between processes, so that a file stays where it is until another one is clearly better, and so that what a person
-- has pinned stays pinned. The text of a file is never in here: it is read when it is given.
CREATE TABLE fragment (
    worktree TEXT NOT NULL,         -- the linked worktree that the file is in; empty for the checkout with the cache
    path    BLOB NOT NULL,
    sha     BLOB NOT NULL,          -- of the content when it was placed
    bytes   INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,       -- at its depth
    warmth  TEXT,                   -- NULL: forgotten
    depth   INTEGER NOT NULL,
    score   INTEGER NOT NULL,       -- thousandths
    pin     INTEGER,                -- the depth that is insisted on; -1: any
    uses    INTEGER NOT NULL,
    used_at INTEGER,                -- seconds
    since   INTEGER NOT NULL,       -- seconds
    why     TEXT NOT NULL,
    ck      BLOB NOT NULL,
    PRIMARY KEY (worktree, path)
) STRICT, WITHOUT ROWID;
