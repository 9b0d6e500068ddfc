-- Summaries that somebody of the team has paid for. In a table of their own, so that a row whose writer is lost is lost
-- with it: in `summary` it would be taken for one of this user's own. The columns are those of `summary`.
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

-- Summaries that were paid for here, and that the team's cache may not have yet.
CREATE TABLE outbox (
    key BLOB PRIMARY KEY NOT NULL,  -- the summary's
    ck  BLOB NOT NULL
) STRICT;
