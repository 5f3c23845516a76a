-- Access tokens of programs outside. "hash" is the SHA-256 of the secret, which is not stored; "owner" is the
-- id of a Discord server, or 'local'; "tools" is a JSON array, or 'null' for every tool of the role. Times are
-- Unix time in ms; a token without "ends" is valid until it is revoked.
CREATE TABLE token (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    role TEXT NOT NULL,
    tools TEXT NOT NULL,
    made INTEGER NOT NULL,
    ends INTEGER
) STRICT, WITHOUT ROWID;
