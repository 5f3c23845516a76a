-- readable from 13
-- "application" is Discord's id of the node's bot, 0 if unknown, "connected" how many of its shards are connected
-- to Discord's gateway. A node that is "cut_off" has left its shards to others because none was.
ALTER TABLE node
    ADD COLUMN application bigint NOT NULL DEFAULT 0,
    ADD COLUMN connected bigint NOT NULL DEFAULT 0,
    ADD COLUMN cut_off boolean NOT NULL DEFAULT false;
