-- The first schema: what models wrote, who is at it, what was refused, and what all of it cost.
--
-- None of this can be had again for nothing. So every row that must outlive a damaged file has a checksum, `ck`, over
-- all that it says; with it a row can be told to be whole wherever in the file it is found. No two such tables that
-- are looked for that way may be WITHOUT ROWID, for then their rows would lie in pages of indexes.

-- A summary. Found by its key alone, or by what it is about.
CREATE TABLE summary (
    id          INTEGER PRIMARY KEY,
    key         BLOB NOT NULL UNIQUE,
    subject     BLOB NOT NULL,
    language    TEXT NOT NULL,
    scope       TEXT NOT NULL,
    tier        INTEGER NOT NULL,
    prompt      TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    text        TEXT NOT NULL,
    input       INTEGER,            -- tokens; NULL where they were not reported
    cache_read  INTEGER,
    cache_write INTEGER,
    output      INTEGER,
    cost        INTEGER NOT NULL,   -- billionths of a dollar
    at_ms       INTEGER NOT NULL,
    ck          BLOB NOT NULL
) STRICT;

CREATE INDEX summary_by_subject ON summary (subject);

-- What a file of a path was summarized as last: shown while there is nothing newer.
CREATE TABLE latest (
    path BLOB NOT NULL,
    tier INTEGER NOT NULL,
    key  BLOB NOT NULL,             -- the summary's
    ck   BLOB NOT NULL,
    PRIMARY KEY (path, tier)
) STRICT;

-- Who is at a piece of work. Worth nothing once its holder is dead, so it has no checksum.
CREATE TABLE lease (
    errand   BLOB PRIMARY KEY NOT NULL,
    holder   TEXT NOT NULL,
    since_ms INTEGER NOT NULL
) STRICT;

-- What was tried in vain.
CREATE TABLE refusal (
    errand   BLOB PRIMARY KEY NOT NULL,
    why      TEXT NOT NULL,
    until_ms INTEGER,               -- NULL: for ever
    at_ms    INTEGER NOT NULL,
    ck       BLOB NOT NULL
) STRICT;

-- The ledger: a row per call, written before the call is made. Rows are never deleted.
CREATE TABLE spend (
    id          INTEGER PRIMARY KEY,
    errand      BLOB NOT NULL,
    state       TEXT NOT NULL,
    worst       INTEGER NOT NULL,   -- billionths of a dollar
    cost        INTEGER,            -- NULL where nobody knows: then it counts as its worst
    input       INTEGER,
    cache_read  INTEGER,
    cache_write INTEGER,
    output      INTEGER,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    day         INTEGER NOT NULL,   -- days since 1970-01-01, in UTC
    holder      TEXT NOT NULL,
    is_batch    INTEGER NOT NULL,
    request_id  TEXT,
    at_ms       INTEGER NOT NULL,
    ended_ms    INTEGER,
    ck          BLOB NOT NULL
) STRICT;

-- Calls that were sent as one, until their answers are taken in.
CREATE TABLE batch (
    id        INTEGER PRIMARY KEY,
    provider  TEXT NOT NULL,
    model     TEXT NOT NULL,
    remote_id TEXT,
    state     TEXT NOT NULL,
    at_ms     INTEGER NOT NULL,
    ck        BLOB NOT NULL
) STRICT;

CREATE TABLE batch_item (
    spend_id INTEGER PRIMARY KEY,
    batch_id INTEGER NOT NULL,
    errand   BLOB NOT NULL,
    subject  BLOB NOT NULL,         -- from here on: what the answer is to be kept as, whatever is asked by then
    language TEXT NOT NULL,
    scope    TEXT NOT NULL,
    prompt   TEXT NOT NULL,
    keys     BLOB NOT NULL,         -- 33 bytes each: a tier, and the key of its summary
    paths    BLOB NOT NULL,         -- each with a 0 behind it
    ck       BLOB NOT NULL
) STRICT;

CREATE INDEX batch_item_by_errand ON batch_item (errand);

-- Numbers: how often what is looked up has changed, how many rows the ledger has, which day it is closed for.
CREATE TABLE counter (
    name  TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL,
    ck    BLOB NOT NULL
) STRICT;
