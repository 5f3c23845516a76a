-- Access tokens of programs outside. "hash" is the SHA-256 of the secret, which is not stored; "owner" is the
-- id of a Discord server, or 'local'; "tools" is a JSON array, or 'null' for every tool of the role. Times are
-- Unix time in ms; a token without "ends" is valid until it is revoked.
CREATE TABLE token (
    id text PRIMARY KEY,
    hash text NOT NULL UNIQUE,
    owner text NOT NULL,
    role text NOT NULL,
    tools text NOT NULL,
    made bigint NOT NULL,
    ends bigint
);
