-- What is remembered of the team's cache from one process to the next, so that none of them asks at once for what another
-- has just found missing, or waits for a cache that has just failed. Worth nothing after some minutes, so it has no
-- checksums.
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
