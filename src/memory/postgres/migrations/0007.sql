-- Deletions that people have asked for and that are not done: what "player" said in sessions of "owner"
-- (the id of a Discord server, or 'local') before "until", Unix time in ms; in one session, or where that
-- is '', in all. "names" is a JSON array.
CREATE TABLE deletion (
    owner text NOT NULL,
    player text NOT NULL,
    session text NOT NULL,
    until bigint NOT NULL,
    names text NOT NULL,
    asker text NOT NULL,
    erased boolean NOT NULL,
    PRIMARY KEY (owner, player, session)
);
