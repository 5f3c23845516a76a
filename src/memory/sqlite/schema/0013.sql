-- States of tables, from which a session continues. "owner" is the id of a Discord server, or 'local'; "state"
-- is JSON: conversations as heard, muted NPCs, scene, money spent. "revision" grows with every change.
CREATE TABLE kept_table (
    owner TEXT NOT NULL,
    session TEXT NOT NULL,
    revision INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (owner, session)
) STRICT;
