-- The first schema: contents, what was derived from them, and which file holds which content.
--
-- Every row has a checksum, `ck`, for SQLite does not notice a flipped bit within a value. References are by number
-- and not declared as foreign keys: a checksum holds the SHA-256 of the content that the row is about, so a row that
-- points at another one is noticed when it is read, at no cost when it is written.

-- One row per distinct content. The number stands for the 32 bytes of its hash wherever it is named, and it ascends,
-- so that what is new is written behind what is old; a hash as the key of the tables was three times as slow.
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

-- Who made artifacts. Few rows; they keep the long names out of the many.
CREATE TABLE producer (
    id       INTEGER PRIMARY KEY,
    artifact TEXT NOT NULL,
    language TEXT NOT NULL,
    version  TEXT NOT NULL,
    UNIQUE (artifact, language, version)
) STRICT;

-- What was derived from a content, once per producer. The two numbers share the one key that SQLite keeps a table by,
-- so that there is no index to look into first, each producer writes behind what it wrote, and a body of up to a page
-- lies where its row does; with a key of two columns it would only up to a quarter of one.
CREATE TABLE artifact (
    key     INTEGER PRIMARY KEY,    -- the producer's number, and in the lower 40 bits the content's
    made_at INTEGER NOT NULL,       -- seconds
    body    BLOB NOT NULL,
    ck      BLOB NOT NULL
) STRICT;

-- The files of the project as they were last seen. Apart from the bodies, so that a look at an unchanged tree reads
-- little; by path, so that they come out in order.
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

-- Which files hold a content: asked when a file goes away, and when a symbol is looked up.
CREATE INDEX file_by_content ON file (content_id) WHERE content_id IS NOT NULL;

-- Small facts that are dear to find out again, each under a key that says all it depends on.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    ck    BLOB NOT NULL
) STRICT, WITHOUT ROWID;
