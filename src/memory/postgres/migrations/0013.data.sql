INSERT INTO node (run, name, build, shards, tables, capacity, seen, expires)
    VALUES ('1f', 'cellar', '1.2.3', 1, 1, NULL, '2026-11-01 20:00:00+00', '2026-11-01 20:00:06+00');
INSERT INTO shard_lease (shard, owner, epoch, expires) VALUES (0, '1f', 1, '2026-11-01 20:00:06+00');
INSERT INTO identify_slot (bucket, next_at) VALUES (0, '2026-11-01 20:00:05+00');
INSERT INTO kept_table (owner, session, revision, state) VALUES ('42', 'two', 1, '{"spent":1}');
