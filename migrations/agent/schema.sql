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
CREATE TABLE counter (
    name  TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL,
    ck    BLOB NOT NULL
) STRICT;
CREATE TABLE fetched (
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
    input       INTEGER,
    cache_read  INTEGER,
    cache_write INTEGER,
    output      INTEGER,
    cost        INTEGER NOT NULL,   -- what it cost its writer; no part of this ledger
    at_ms       INTEGER NOT NULL,
    writer      BLOB NOT NULL,      -- the public key by which its signature was verified
    ck          BLOB NOT NULL
) STRICT;
CREATE INDEX fetched_by_subject ON fetched (subject);
CREATE TABLE latest (
    path BLOB NOT NULL,
    tier INTEGER NOT NULL,
    key  BLOB NOT NULL,             -- the summary's
    ck   BLOB NOT NULL,
    PRIMARY KEY (path, tier)
) STRICT;
CREATE TABLE lease (
    errand   BLOB PRIMARY KEY NOT NULL,
    holder   TEXT NOT NULL,
    since_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE outbox (
    key BLOB PRIMARY KEY NOT NULL,  -- the summary's
    ck  BLOB NOT NULL
) STRICT;
CREATE TABLE refusal (
    errand   BLOB PRIMARY KEY NOT NULL,
    why      TEXT NOT NULL,
    until_ms INTEGER,               -- NULL: for ever
    at_ms    INTEGER NOT NULL,
    ck       BLOB NOT NULL
) STRICT;
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
CREATE TABLE team_miss (
    key      BLOB PRIMARY KEY NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE team_state (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    cache          BLOB NOT NULL,       -- which cache, with which keys and writers: of another one, nothing holds
    failures       INTEGER NOT NULL,    -- in a row
    rests_until_ms INTEGER NOT NULL,
    refused        TEXT NOT NULL        -- JSON: of the last pull, how many entries were refused for which reasons
) STRICT;
