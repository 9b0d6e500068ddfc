-- What the last documents of each name consisted of, so that a later one can be compared with them: how much of it a
-- provider's prompt cache keeps, and what comes first of what it does not keep.
--
-- Only sizes and hashes of pieces: the texts would be far larger, and nobody reads them again. The newest document of a
-- name is stored by itself; each older one refers to the pieces that it shares with the next newer one, so that twenty
-- documents of which one file has changed each take little more than one.
CREATE TABLE given_document (
    id    INTEGER PRIMARY KEY,      -- ascends with time
    name  TEXT NOT NULL,            -- the aggregation's
    at_ms INTEGER NOT NULL,         -- when it was given last
    sha   BLOB NOT NULL,            -- of its pieces, and of how a provider caches it
    body  BLOB NOT NULL,
    ck    BLOB NOT NULL
) STRICT;
CREATE INDEX given_document_by_name ON given_document (name, id);
