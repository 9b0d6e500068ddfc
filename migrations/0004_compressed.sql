-- Bodies of artifacts and delivered texts are compressed: with nothing compressed, they were nine tenths of the file.
--
-- A value begins with a byte for how the rest is stored (`store/compression.rs`). SQL cannot compress, so artifacts are
-- deleted and derived again: their checksums are of the stored bytes. Delivered texts cannot be derived again; they are
-- kept uncompressed until they are next replaced, and their checksums, which are of the text, hold for them as before.
DELETE FROM artifact;
DELETE FROM producer;
-- By this the next scan knows that artifacts are missing.
DELETE FROM meta WHERE key = 'producers';

ALTER TABLE given_text RENAME TO given_text_uncompressed;

CREATE TABLE given_text (
    id   INTEGER PRIMARY KEY,
    body BLOB NOT NULL,
    ck   BLOB NOT NULL
) STRICT;

INSERT INTO given_text (id, body, ck)
SELECT id, CAST(x'00' || CAST(text AS BLOB) AS BLOB), ck FROM given_text_uncompressed;

DROP TABLE given_text_uncompressed;
