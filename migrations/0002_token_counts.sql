-- How many tokens a text is, once somebody counted: the vocabulary alone takes a tenth of a second to load.
--
-- A text is known by its SHA-256 and not by the file that it shows, for it may be any view, or a head, or many files.
-- So a row belongs to nothing, and its age is all that says when it may go.
CREATE TABLE token_count (
    sha     BLOB NOT NULL,
    counter TEXT NOT NULL,          -- who counted, and the version of it
    tokens  INTEGER NOT NULL,
    made_at INTEGER NOT NULL,       -- seconds
    ck      BLOB NOT NULL,
    PRIMARY KEY (sha, counter)
) STRICT, WITHOUT ROWID;
