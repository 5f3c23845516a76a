-- Processes that serve shards of Discord's gateway. "run" is random for each start of the program, "expires" the
-- end of its leases; all times are the server's. "capacity" is the most tables it serves, NULL without a limit.
CREATE TABLE node (
    run text PRIMARY KEY,
    name text NOT NULL,
    build text NOT NULL,
    shards bigint NOT NULL,
    tables bigint NOT NULL,
    capacity bigint,
    seen timestamptz NOT NULL,
    expires timestamptz NOT NULL
);

-- The run that serves a shard. "epoch" grows with each owner.
CREATE TABLE shard_lease (
    shard bigint PRIMARY KEY,
    owner text NOT NULL DEFAULT '',
    epoch bigint NOT NULL DEFAULT 0,
    expires timestamptz NOT NULL DEFAULT '-infinity'
);

-- When a bucket's next identify may be sent.
CREATE TABLE identify_slot (
    bucket bigint PRIMARY KEY,
    next_at timestamptz NOT NULL
);

-- States of tables, from which a session continues. "owner" is the id of a Discord server, or 'local'; "state"
-- is JSON: conversations as heard, muted NPCs, scene, money spent. "revision" grows with every change.
CREATE TABLE kept_table (
    owner text NOT NULL,
    session text NOT NULL,
    revision bigint NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (owner, session)
);
