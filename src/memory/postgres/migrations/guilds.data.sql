-- A campaign that two guilds and this machine have played, as schemas 1 to 5 have it, for the test that
-- each has its own afterwards. Everything that is the guild 1's holds "abbey", the guild 2's "bridge",
-- this machine's "castle".

INSERT INTO session (campaign, id, guild, title, started, ended, summary, last_seq) VALUES
    ('shared', 'at-one', 1, 'abbey', 1000, 9000, 'abbey', 1),
    ('shared', 'at-two', 2, 'bridge', 1000, 9000, 'bridge', 2),
    ('shared', 'here', NULL, 'castle', 1000, 9000, 'castle', 1);
INSERT INTO utterance (campaign, session, seq, uid, turn, at, duration, speaker_id, speaker, "character",
    npc, text, raw, present, outcome, tools, visibility, open, told, heard, players, said_by, withdrawn,
    indexed, words) VALUES
    ('shared', 'at-one', 1, 'u1', 1, 1000, 9, '7', 'Anna', 'Rhea', 'Bartok', 'We meet at the abbey.',
     NULL, '[{"name":"Bartok"},{"name":"Anna","player":"7"}]', 'spoken', 'null', '"everyone"', true,
     '{}', '{bartok}', '{7}', '{anna,rhea,7}', false, true,
     '''=shared'' ''abbey'' ''at'' ''meet'' ''the'' ''we'''),
    ('shared', 'at-two', 1, 'u2', 1, 1000, 9, '7', 'Anna', 'Rhea', 'Bartok', 'We meet at the bridge.',
     NULL, '[{"name":"Bartok"},{"name":"Anna","player":"7"}]', 'spoken', 'null', '"everyone"', true,
     '{}', '{bartok}', '{7}', '{anna,rhea,7}', false, false,
     '''=shared'' ''at'' ''bridge'' ''meet'' ''the'' ''we'''),
    ('shared', 'at-two', 2, 'u3', 1, 2000, 9, '8', 'bridge', NULL, 'Bartok', 'I meet you, too.',
     NULL, '[{"name":"Bartok"},{"name":"bridge","player":"8"}]', 'spoken', 'null', '"everyone"', true,
     '{}', '{bartok}', '{8}', '{bridge,8}', false, false,
     '''=shared'' ''i'' ''meet'' ''too'' ''you'''),
    ('shared', 'here', 1, 'u4', 1, 1000, 9, '7', 'Anna', 'Rhea', 'Bartok', 'We meet at the castle.',
     NULL, '[{"name":"Bartok"},{"name":"Anna","player":"7"}]', 'spoken', 'null', '"everyone"', true,
     '{}', '{bartok}', '{7}', '{anna,rhea,7}', false, false,
     '''=shared'' ''at'' ''castle'' ''meet'' ''the'' ''we''');
INSERT INTO item (campaign, id, kind, session, first_seq, last_seq, status, made, open, told, body,
    words) VALUES
    ('shared', 'one', 'chunk', 'at-one', 1, 1, 'accepted', 1, true, '{}',
     '{"id":"one","kind":"chunk","text":"They meet at the abbey.","session":"at-one","lines":[1,1],"visibility":"everyone","status":"accepted","made":1}',
     '''=shared'' ''abbey'' ''at'' ''meet'' ''the'' ''they'''),
    ('shared', 'two', 'fact', 'at-two', 1, 2, 'proposed', 1, true, '{}',
     '{"id":"two","kind":"fact","text":"They meet at the bridge.","session":"at-two","lines":[1,2],"visibility":"everyone","status":"proposed","made":1}',
     '''=shared'' ''at'' ''bridge'' ''meet'' ''the'' ''they'''),
    ('shared', 'none', 'fact', NULL, NULL, NULL, 'accepted', 1, true, '{}',
     '{"id":"none","kind":"fact","text":"They meet at the castle.","session":null,"lines":null,"visibility":"everyone","status":"accepted","made":1}',
     '''=shared'' ''at'' ''castle'' ''meet'' ''the'' ''they''');
INSERT INTO item_vector (campaign, model, item, vec) VALUES
    ('shared', 'm', 'one', '[1,0.25]'), ('shared', 'm', 'two', '[1,0.25]'),
    ('shared', 'm', 'none', '[1,0.25]');
INSERT INTO entity (campaign, id, kind, names, tags, knows, source, open, told, body)
SELECT campaign, id, 'location', ARRAY[lower(name)], '{}', '{}', source, true, '{}',
    json_build_object('id', id, 'kind', 'location', 'name', name, 'aliases', '[]'::json,
        'description', '', 'attributes', '{}'::json, 'tags', '[]'::json, 'knowledge', '[]'::json,
        'visibility', 'everyone', 'source', source)::text
FROM (VALUES ('shared', 'bartok', 'Bartok', 'campaign-file:bartok'), ('shared', 'a', 'abbey', NULL),
    ('shared', 'b', 'bridge', NULL), ('shared', 'c', 'castle', NULL),
    ('tried', 'x', 'Xanadu', NULL), ('tried', 'y', 'Ys', NULL)) AS e (campaign, id, name, source);
INSERT INTO relation (campaign, from_id, kind, to_id, session, utterance, open, told, body)
SELECT campaign, a, kind, b, session, said, true, '{}',
    json_build_object('from', a, 'kind', kind, 'to', b, 'attributes', '{}'::json, 'visibility',
        'everyone', 'provenance', json_build_object('session', session, 'utterance', said, 'origin',
        'stated', 'confidence', 1.0))::text
FROM (VALUES ('shared', 'bartok', 'was_at', 'a', 'at-one', 'u1'),
    ('shared', 'bartok', 'was_at', 'b', 'at-two', 'u2'),
    ('shared', 'bartok', 'was_at', 'c', NULL, NULL),
    ('tried', 'x', 'near', 'y', NULL, NULL)) AS r (campaign, a, kind, b, session, said);

-- One guild beside this machine.
INSERT INTO session (campaign, id, guild) VALUES ('tried', 'try', NULL), ('tried', 'evening', 3);
