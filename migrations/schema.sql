CREATE TABLE artifact (
    key     INTEGER PRIMARY KEY,    -- the producer's number, and in the lower 40 bits the content's
    made_at INTEGER NOT NULL,       -- seconds
    body    BLOB NOT NULL,
    ck      BLOB NOT NULL
) STRICT;
CREATE TABLE content (
    id         INTEGER PRIMARY KEY,
    sha        BLOB NOT NULL UNIQUE CHECK (length(sha) = 32),
    size       INTEGER NOT NULL,
    encoding   TEXT,                -- NULL where it is not text
    lines      INTEGER NOT NULL,
    dialect    TEXT NOT NULL,
    claims     TEXT,
    idle_since INTEGER,             -- seconds; NULL while a file holds this content
    ck         BLOB NOT NULL
) STRICT;
CREATE TABLE file (
    path       BLOB PRIMARY KEY,
    content_id INTEGER,
    language   TEXT,
    left_out   TEXT,                -- why it has no content
    dev        INTEGER,             -- unsigned in the system's words; here the same 64 bits, signed
    ino        INTEGER,
    size       INTEGER,
    mtime_ns   INTEGER,
    ctime_ns   INTEGER,
    read_at_ns INTEGER NOT NULL,
    ck         BLOB NOT NULL,
    CHECK ((content_id IS NULL) = (left_out IS NOT NULL)),
    CHECK ((content_id IS NULL) = (language IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX file_by_content ON file (content_id) WHERE content_id IS NOT NULL;
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
CREATE TABLE given_document (
    id    INTEGER PRIMARY KEY,      -- ascends with time
    name  TEXT NOT NULL,            -- the aggregation's
    at_ms INTEGER NOT NULL,         -- when it was given last
    sha   BLOB NOT NULL,            -- of its pieces, and of how a provider caches it
    body  BLOB NOT NULL,
    ck    BLOB NOT NULL
) STRICT;
CREATE INDEX given_document_by_name ON given_document (name, id);
CREATE TABLE given_text (
    id   INTEGER PRIMARY KEY,
    body BLOB NOT NULL,
    ck   BLOB NOT NULL
) STRICT;
CREATE TABLE listing (
    id   INTEGER PRIMARY KEY,
    sha  BLOB NOT NULL UNIQUE,      -- half of the hash of the body before it was compressed
    body BLOB NOT NULL              -- refers to contents by number; the checksum of a page covers what they are
) STRICT;
CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    ck    BLOB NOT NULL,
    value BLOB NOT NULL
) STRICT;
CREATE TABLE producer (
    id       INTEGER PRIMARY KEY,
    artifact TEXT NOT NULL,
    language TEXT NOT NULL,
    version  TEXT NOT NULL,
    UNIQUE (artifact, language, version)
) STRICT;
CREATE TABLE token_count (
    sha     BLOB NOT NULL,
    counter TEXT NOT NULL,          -- who counted, and the version of it
    tokens  INTEGER NOT NULL,
    made_at INTEGER NOT NULL,       -- seconds
    ck      BLOB NOT NULL,
    PRIMARY KEY (sha, counter)
) STRICT, WITHOUT ROWID;
CREATE TABLE worktree (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
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
