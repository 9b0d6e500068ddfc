-- One index for all worktrees of a repository: what was derived from a content is the same in all of them, and only the
-- files are each worktree's own.
--
-- The checkout that the cache lies in has its files in `file`. A linked worktree has them in pages, because there may be
-- hundreds of worktrees with nearly the same files, and a row for each file would take more room than all artifacts. A page
-- holds the files of some folders. Their names and contents are a listing, which worktrees that agree about them share; the
-- stamps are the worktree's own.
CREATE TABLE worktree (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE listing (
    id   INTEGER PRIMARY KEY,
    sha  BLOB NOT NULL UNIQUE,      -- half of the hash of the body before it was compressed
    body BLOB NOT NULL              -- refers to contents by number; the checksum of a page covers what they are
) STRICT;

CREATE TABLE worktree_page (
    worktree_id INTEGER NOT NULL,
    page        INTEGER NOT NULL,
    files       INTEGER NOT NULL,
    listing_id  INTEGER NOT NULL,
    stamps      BLOB NOT NULL,
    ck          BLOB NOT NULL,
    PRIMARY KEY (worktree_id, page)
) STRICT, WITHOUT ROWID;
CREATE INDEX worktree_page_by_listing ON worktree_page (listing_id);
