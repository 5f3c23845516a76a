-- What guilds have set; "settings" is theirs to read. Of two writers the later revision stays.
CREATE TABLE guild (
    id INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    settings TEXT NOT NULL
) STRICT;
