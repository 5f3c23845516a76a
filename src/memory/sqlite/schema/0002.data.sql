-- A store of schema 2 as it was written, for the test that it is upgraded with what is in it. As a
-- step, it never changes once there is a later one.

INSERT INTO campaign (id, key, lines) VALUES (1, 'saltmarsh', 4), (2, 'elsewhere', 1);
INSERT INTO session (id, campaign, key, guild, title, started, ended, summary) VALUES
    (1, 1, 'one', 42, 'The mill', 1000000, 1009000, 'The mill burned.'),
    (2, 2, 'one', NULL, NULL, 1001000, NULL, NULL);
INSERT INTO presence (id, campaign, members) VALUES
    (1, 1, '[{"name":"Anna","player":"7"},{"name":"Bartok"},{"name":"Ben","player":"8"},{"name":"Mira"}]'),
    (2, 1, '[{"name":"Bartok"},{"name":"Ben","player":"8"}]'),
    (3, 2, '[{"name":"Anna","player":"7"},{"name":"Bartok"},{"name":"Ben","player":"8"},{"name":"Mira"}]');
INSERT INTO present_npc (name, presence) VALUES
    (char(31) || 'bartok' || char(31), 1), (char(31) || 'mira' || char(31), 1),
    (char(31) || 'bartok' || char(31), 2),
    (char(31) || 'bartok' || char(31), 3), (char(31) || 'mira' || char(31), 3);
INSERT INTO line (id, campaign, session, seq, uid, turn, at, duration, speaker_id, speaker, character,
    npc, text, raw, presence, outcome, tools, visibility, seen_by, said_by, indexed, gone) VALUES
    (1, 1, 1, 1, 'one-1', 1, 1001000, 900, '7', 'Anna', 'Rhea', 'Bartok', 'The mill burned.',
     'raw The mill burned.', 1, 'spoken', '[{"tool":"dice-roller.roll"}]', '"everyone"', '*',
     replace('|7||anna||rhea|', '|', char(31)), 1, 0),
    (2, 1, 1, 2, 'one-2', 2, 1002000, 900, '8', 'Ben', NULL, 'Bartok', 'The king is dead.',
     NULL, 2, 'spoken', NULL, '"everyone"', '*', replace('|8||ben|', '|', char(31)), 1, 0),
    (3, 1, 1, 3, 'one-3', 3, 1003000, 900, '7', 'Anna', 'Rhea', 'Bartok', '',
     NULL, 1, 'spoken', NULL, '"everyone"', '*', replace('|7||anna||rhea|', '|', char(31)), 0, 1),
    (4, 1, 1, 4, 'one-4', 4, 1004000, 900, '7', 'Anna', 'Rhea', NULL, 'Between us.',
     'raw Between us.', 1, 'spoken', '[{"tool":"dice-roller.roll"}]', '"dm"', '',
     replace('|7||anna||rhea|', '|', char(31)), 0, 0),
    (5, 2, 2, 1, 'one-1', 1, 1001000, 900, '7', 'Anna', 'Rhea', 'Bartok', 'Elsewhere.',
     'raw Elsewhere.', 3, 'spoken', '[{"tool":"dice-roller.roll"}]', '"everyone"', '*',
     replace('|7||anna||rhea|', '|', char(31)), 0, 0);
INSERT INTO item (id, campaign, key, kind, text, session, first, last, visibility, seen_by, status, made)
VALUES
    (1, 1, 'chunk', 'chunk', 'The mill burned. The king is dead.', 1, 1, 2, '"everyone"', '*',
     'accepted', 1),
    (2, 1, 'fact', 'fact', 'Mira burned it.', NULL, NULL, NULL, '{"npcs":["Mira"]}',
     char(31) || 'mira' || char(31), 'accepted', 1),
    (3, 1, 'perhaps', 'fact', 'It rained.', NULL, NULL, NULL, '"everyone"', '*', 'proposed', 1);
INSERT INTO witness (item, name) VALUES (1, char(31) || 'bartok' || char(31));
-- [1, 0.25] and [0.5, 0.5]
INSERT INTO vector (item, model, value) VALUES
    (1, 'm', x'0000803f0000803e'), (2, 'm', x'0000003f0000003f');
INSERT INTO entity (id, campaign, key, kind, name, aliases, description, attributes, tags, knowledge,
    topics, visibility, seen_by, source) VALUES
    (1, 1, 'bartok', 'npc', 'Bartok', '["Öld Bartok"]', 'Keeps an inn.', '{"age":7}', '["north"]',
     '["trade"]', '["trade"]', '"everyone"', '*', 'campaign:bartok'),
    (2, 1, 'mill', 'location', 'Mill', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL),
    (3, 1, 'town', 'location', 'Town', '[]', '', '{}', '[]', '[]', '[]', '"everyone"', '*', NULL),
    (4, 1, 'plot', 'quest', 'Plot', '[]', '', '{}', '[]', '[]', '[]', '"dm"', '', NULL);
INSERT INTO entity_name (campaign, name, entity) VALUES
    (1, 'bartok', 1), (1, 'old bartok', 1), (1, 'mill', 2), (1, 'town', 3), (1, 'plot', 4);
INSERT INTO relation (id, campaign, src, kind, dst, attributes, visibility, seen_by, session, utterance,
    origin, confidence) VALUES
    (1, 1, 2, 'lies_in', 3, '{}', '"everyone"', '*', NULL, NULL, 'stated', 1.0),
    (2, 1, 1, 'owns', 2, '{"since":3}', '"everyone"', '*', 'one', 'one-1', 'stated', 0.5),
    (3, 1, 4, 'is_about', 1, '{}', '"dm"', '', NULL, NULL, 'stated', 1.0);
INSERT INTO guild (id, revision, settings) VALUES (42, 1, '{}');
