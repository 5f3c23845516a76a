-- A store of schema 2 as it was written, for the test that it is upgraded with what is in it. As a
-- step, it never changes once there is a later one.

INSERT INTO session (campaign, id, guild, title, started, ended, summary, last_seq) VALUES
    ('saltmarsh', 'one', 42, 'The mill', 1000000, 1009000, 'The mill burned.', 4),
    ('elsewhere', 'one', NULL, NULL, 1001000, NULL, NULL, 1);
INSERT INTO utterance (campaign, session, seq, uid, turn, at, duration, speaker_id, speaker, "character",
    npc, text, raw, present, outcome, tools, visibility, open, told, heard, players, said_by, withdrawn,
    indexed, words) VALUES
    ('saltmarsh', 'one', 1, 'one-1', 1, 1001000, 900, '7', 'Anna', 'Rhea', 'Bartok',
     'The mill burned.', 'raw The mill burned.',
     '[{"name":"Bartok"},{"name":"Mira"},{"name":"Anna","player":"7"},{"name":"Ben","player":"8"}]',
     'spoken', '[{"tool":"dice-roller.roll"}]', '"everyone"', true, '{}', '{bartok,mira}', '{7,8}',
     '{anna,rhea,7}', false, true, '''=saltmarsh'' ''burned'' ''mill'' ''the'''),
    ('saltmarsh', 'one', 2, 'one-2', 2, 1002000, 900, '8', 'Ben', NULL, 'Bartok',
     'The king is dead.', NULL, '[{"name":"Bartok"},{"name":"Ben","player":"8"}]',
     'spoken', 'null', '"everyone"', true, '{}', '{bartok}', '{8}', '{ben,8}', false, true,
     '''=saltmarsh'' ''dead'' ''is'' ''king'' ''the'''),
    ('saltmarsh', 'one', 3, 'one-3', 3, 1003000, 900, '7', 'Anna', 'Rhea', 'Bartok', '', NULL,
     '[{"name":"Bartok"},{"name":"Mira"},{"name":"Anna","player":"7"},{"name":"Ben","player":"8"}]',
     'spoken', 'null', '"everyone"', true, '{}', '{bartok,mira}', '{7,8}', '{anna,rhea,7}', true,
     false, '''=saltmarsh'''),
    ('saltmarsh', 'one', 4, 'one-4', 4, 1004000, 900, '7', 'Anna', 'Rhea', NULL,
     'Between us.', 'raw Between us.',
     '[{"name":"Bartok"},{"name":"Mira"},{"name":"Anna","player":"7"},{"name":"Ben","player":"8"}]',
     'spoken', '[{"tool":"dice-roller.roll"}]', '"dm"', false, '{}', '{bartok,mira}', '{7,8}',
     '{anna,rhea,7}', false, false, '''=saltmarsh'' ''between'' ''us'''),
    ('elsewhere', 'one', 1, 'one-1', 1, 1001000, 900, '7', 'Anna', 'Rhea', 'Bartok',
     'Elsewhere.', 'raw Elsewhere.',
     '[{"name":"Bartok"},{"name":"Mira"},{"name":"Anna","player":"7"},{"name":"Ben","player":"8"}]',
     'spoken', '[{"tool":"dice-roller.roll"}]', '"everyone"', true, '{}', '{bartok,mira}', '{7,8}',
     '{anna,rhea,7}', false, false, '''=elsewhere'' ''elsewhere''');
INSERT INTO item (campaign, id, kind, session, first_seq, last_seq, status, made, open, told, body,
    words) VALUES
    ('saltmarsh', 'chunk', 'chunk', 'one', 1, 2, 'accepted', 1, true, '{}',
     '{"id":"chunk","kind":"chunk","text":"The mill burned. The king is dead.","session":"one","lines":[1,2],"visibility":"everyone","status":"accepted","made":1}',
     '''=saltmarsh'' ''burned'' ''dead'' ''is'' ''king'' ''mill'' ''the'''),
    ('saltmarsh', 'fact', 'fact', NULL, NULL, NULL, 'accepted', 1, false, '{mira}',
     '{"id":"fact","kind":"fact","text":"Mira burned it.","session":null,"lines":null,"visibility":{"npcs":["Mira"]},"status":"accepted","made":1}',
     '''=saltmarsh'' ''burned'' ''it'' ''mira'''),
    ('saltmarsh', 'perhaps', 'fact', NULL, NULL, NULL, 'proposed', 1, true, '{}',
     '{"id":"perhaps","kind":"fact","text":"It rained.","session":null,"lines":null,"visibility":"everyone","status":"proposed","made":1}',
     '''=saltmarsh'' ''it'' ''rained''');
INSERT INTO item_vector (campaign, model, item, vec) VALUES
    ('saltmarsh', 'm', 'chunk', '[1,0.25]'), ('saltmarsh', 'm', 'fact', '[0.5,0.5]');
INSERT INTO entity (campaign, id, kind, names, tags, knows, source, open, told, body) VALUES
    ('saltmarsh', 'bartok', 'npc', '{bartok,"old bartok"}', '{north}', '{trade}', 'campaign:bartok',
     true, '{}',
     '{"id":"bartok","kind":"npc","name":"Bartok","aliases":["Öld Bartok"],"description":"Keeps an inn.","attributes":{"age":7},"tags":["north"],"knowledge":["trade"],"visibility":"everyone","source":"campaign:bartok"}'),
    ('saltmarsh', 'mill', 'location', '{mill}', '{}', '{}', NULL, true, '{}',
     '{"id":"mill","kind":"location","name":"Mill","aliases":[],"description":"","attributes":{},"tags":[],"knowledge":[],"visibility":"everyone","source":null}'),
    ('saltmarsh', 'town', 'location', '{town}', '{}', '{}', NULL, true, '{}',
     '{"id":"town","kind":"location","name":"Town","aliases":[],"description":"","attributes":{},"tags":[],"knowledge":[],"visibility":"everyone","source":null}'),
    ('saltmarsh', 'plot', 'quest', '{plot}', '{}', '{}', NULL, false, '{}',
     '{"id":"plot","kind":"quest","name":"Plot","aliases":[],"description":"","attributes":{},"tags":[],"knowledge":[],"visibility":"dm","source":null}');
INSERT INTO relation (campaign, from_id, kind, to_id, session, utterance, open, told, body) VALUES
    ('saltmarsh', 'mill', 'lies_in', 'town', NULL, NULL, true, '{}',
     '{"from":"mill","kind":"lies_in","to":"town","attributes":{},"visibility":"everyone","provenance":{"session":null,"utterance":null,"origin":"stated","confidence":1.0}}'),
    ('saltmarsh', 'bartok', 'owns', 'mill', 'one', 'one-1', true, '{}',
     '{"from":"bartok","kind":"owns","to":"mill","attributes":{"since":3},"visibility":"everyone","provenance":{"session":"one","utterance":"one-1","origin":"stated","confidence":0.5}}'),
    ('saltmarsh', 'plot', 'is_about', 'bartok', NULL, NULL, false, '{}',
     '{"from":"plot","kind":"is_about","to":"bartok","attributes":{},"visibility":"dm","provenance":{"session":null,"utterance":null,"origin":"stated","confidence":1.0}}');
INSERT INTO guild (id, revision, settings) VALUES (42, 1, '{}');
