-- What guilds have set; "settings" is theirs to read. Of two writers the later revision stays.
CREATE TABLE guild (
    id bigint PRIMARY KEY,
    revision bigint NOT NULL,
    settings text NOT NULL
);
