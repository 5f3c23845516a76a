-- Deletions that people have asked for and that are not done: what "player" said in sessions of "owner"
-- (the id of a Discord server, or 'local') before "until", Unix time in ms; in one session, or where that
-- is '', in all. "names" is a JSON array.
CREATE TABLE deletion (
    owner TEXT NOT NULL,
    player TEXT NOT NULL,
    session TEXT NOT NULL,
    until INTEGER NOT NULL,
    names TEXT NOT NULL,
    asker TEXT NOT NULL,
    erased INTEGER NOT NULL,
    PRIMARY KEY (owner, player, session)
) STRICT, WITHOUT ROWID;
