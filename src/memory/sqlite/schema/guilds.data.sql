-- A campaign that two guilds and this machine have played, as schemas 1 to 5 have it, for the test that
-- each has its own afterwards. Everything that is the guild 1's holds "abbey", the guild 2's "bridge",
-- this machine's "castle".

INSERT INTO campaign (id, key, lines) VALUES (11, 'shared', 4);
INSERT INTO session (id, campaign, key, guild, title, started, ended, summary) VALUES
    (11, 11, 'at-one', 1, 'abbey', 1000, 9000, 'abbey'),
    (12, 11, 'at-two', 2, 'bridge', 1000, 9000, 'bridge'),
    (13, 11, 'here', NULL, 'castle', 1000, 9000, 'castle');
INSERT INTO presence (id, campaign, members) VALUES
    (11, 11, '[{"name":"Anna","player":"7"},{"name":"Bartok"}]'),
    (12, 11, '[{"name":"Bartok"},{"name":"bridge","player":"8"}]');
INSERT INTO present_npc (name, presence) VALUES
    (char(31) || 'bartok' || char(31), 11), (char(31) || 'bartok' || char(31), 12);
INSERT INTO line (id, campaign, session, seq, uid, turn, at, duration, speaker_id, speaker, character,
    npc, text, raw, presence, outcome, tools, visibility, seen_by, said_by, indexed, gone) VALUES
    (11, 11, 11, 1, 'u1', 1, 1000, 9, '7', 'Anna', 'Rhea', 'Bartok', 'We meet at the abbey.', NULL, 11,
     'spoken', NULL, '"everyone"', '*', replace('|7||anna||rhea|', '|', char(31)), 1, 0),
    (12, 11, 12, 1, 'u2', 1, 1000, 9, '7', 'Anna', 'Rhea', 'Bartok', 'We meet at the bridge.', NULL,
     11, 'spoken', NULL, '"everyone"', '*', replace('|7||anna||rhea|', '|', char(31)), 0, 0),
    (13, 11, 12, 2, 'u3', 1, 2000, 9, '8', 'bridge', NULL, 'Bartok', 'I meet you, too.', NULL, 12,
     'spoken', NULL, '"everyone"', '*', replace('|8||bridge|', '|', char(31)), 0, 0),
    (14, 11, 13, 1, 'u4', 1, 1000, 9, '7', 'Anna', 'Rhea', 'Bartok', 'We meet at the castle.', NULL,
     11, 'spoken', NULL, '"everyone"', '*', replace('|7||anna||rhea|', '|', char(31)), 0, 0);
INSERT INTO item (id, campaign, key, kind, text, session, first, last, visibility, seen_by, status, made)
VALUES
    (11, 11, 'one', 'chunk', 'They meet at the abbey.', 11, 1, 1, '"everyone"', '*', 'accepted', 1),
    (12, 11, 'two', 'fact', 'They meet at the bridge.', 12, 1, 2, '"everyone"', '*', 'proposed', 1),
    (13, 11, 'none', 'fact', 'They meet at the castle.', NULL, NULL, NULL, '"everyone"', '*',
     'accepted', 1);
INSERT INTO vector (item, model, value) VALUES
    (11, 'm', x'0000803f0000803e'), (12, 'm', x'0000803f0000803e'), (13, 'm', x'0000803f0000803e');
INSERT INTO entity (id, campaign, key, kind, name, aliases, description, attributes, tags, knowledge,
    topics, visibility, seen_by, source) VALUES
    (11, 11, 'bartok', 'npc', 'Bartok', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*',
     'campaign-file:bartok'),
    (12, 11, 'a', 'location', 'abbey', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL),
    (13, 11, 'b', 'location', 'bridge', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL),
    (14, 11, 'c', 'location', 'castle', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL);
INSERT INTO entity_name (campaign, name, entity) VALUES
    (11, 'bartok', 11), (11, 'abbey', 12), (11, 'bridge', 13), (11, 'castle', 14);
INSERT INTO relation (id, campaign, src, kind, dst, attributes, visibility, seen_by, session, utterance,
    origin, confidence) VALUES
    (11, 11, 11, 'was_at', 12, '{}', '"everyone"', '*', 'at-one', 'u1', 'stated', 1.0),
    (12, 11, 11, 'was_at', 13, '{}', '"everyone"', '*', 'at-two', 'u2', 'stated', 1.0),
    (13, 11, 11, 'was_at', 14, '{}', '"everyone"', '*', NULL, NULL, 'stated', 1.0);

-- One guild beside this machine.
INSERT INTO campaign (id, key, lines) VALUES (21, 'tried', 0);
INSERT INTO session (id, campaign, key, guild) VALUES (21, 21, 'try', NULL), (22, 21, 'evening', 3);
INSERT INTO entity (id, campaign, key, kind, name, aliases, description, attributes, tags, knowledge,
    topics, visibility, seen_by, source) VALUES
    (21, 21, 'x', 'location', 'Xanadu', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL),
    (22, 21, 'y', 'location', 'Ys', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL);
INSERT INTO entity_name (campaign, name, entity) VALUES (21, 'xanadu', 21), (21, 'ys', 22);
INSERT INTO relation (id, campaign, src, kind, dst, attributes, visibility, seen_by, session, utterance,
    origin, confidence) VALUES
    (21, 21, 21, 'near', 22, '{}', '"everyone"', '*', NULL, NULL, 'stated', 1.0);
