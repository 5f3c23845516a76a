-- Everything kept belongs to a scope: a guild, or this machine, and a campaign. The key of a campaign is
-- that of its scope: '42/saltmarsh' as the guild 42 plays it, 'saltmarsh' as this machine does.
--
-- What was played by one guild alone becomes that guild's as it is. Of what several have played, lines and
-- what comes from them go to the guild of their session, and things that such a relation names are
-- copied there; the rest stays this machine's. Where there was one guild beside this machine, the
-- guild has a copy of the world.

CREATE TEMP TABLE played AS SELECT DISTINCT campaign, guild FROM session;
CREATE TEMP TABLE alone AS
    SELECT campaign, min(guild) AS guild FROM played
    GROUP BY campaign HAVING count(*) = 1 AND count(guild) = 1;
CREATE TEMP TABLE moved AS
    SELECT p.campaign AS old, p.guild, p.guild || '/' || c.key AS key, NULL AS new,
        1 = (SELECT count(guild) FROM played WHERE campaign = p.campaign) AS is_only
    FROM played p JOIN campaign c ON c.id = p.campaign
    WHERE p.guild IS NOT NULL AND p.campaign NOT IN (SELECT campaign FROM alone);
UPDATE campaign SET key = (SELECT guild FROM alone WHERE campaign = id) || '/' || key
    WHERE id IN (SELECT campaign FROM alone);
INSERT INTO campaign (key) SELECT key FROM moved;
UPDATE moved SET new = (SELECT id FROM campaign WHERE key = moved.key);
CREATE TEMP TABLE moved_session AS
    SELECT s.id, s.key, m.old, m.new FROM session s JOIN moved m ON m.old = s.campaign AND m.guild = s.guild;
CREATE UNIQUE INDEX temp.moved_session_id ON moved_session (id);

-- The graph: what was said in a session names what goes with it.
CREATE TEMP TABLE moved_relation AS
    SELECT r.id, m.new FROM relation r JOIN moved_session m ON m.old = r.campaign AND m.key = r.session;
CREATE TEMP TABLE named AS
    SELECT r.src AS old, m.new FROM moved_relation m JOIN relation r ON r.id = m.id
    UNION SELECT r.dst, m.new FROM moved_relation m JOIN relation r ON r.id = m.id;
CREATE TEMP TABLE copied AS
    SELECT old, new, NULL AS id FROM named
    UNION SELECT e.id, m.new, NULL FROM entity e JOIN moved m ON m.old = e.campaign AND m.is_only;
INSERT INTO entity (campaign, key, kind, name, aliases, description, attributes, tags, knowledge,
        topics, visibility, seen_by, source)
    SELECT c.new, e.key, kind, name, aliases, description, attributes, tags, knowledge, topics,
        visibility, seen_by, source
    FROM copied c JOIN entity e ON e.id = c.old;
UPDATE copied SET id = (SELECT n.id FROM entity o JOIN entity n ON n.key = o.key
    WHERE o.id = copied.old AND n.campaign = copied.new);
CREATE UNIQUE INDEX temp.copied_old ON copied (old, new);
INSERT INTO entity_name (campaign, name, entity)
    SELECT c.new, n.name, c.id FROM copied c JOIN entity_name n ON n.entity = c.old;
INSERT INTO relation (campaign, src, kind, dst, attributes, visibility, seen_by, session, utterance,
        origin, confidence)
    SELECT m.new, s.id, r.kind, d.id, attributes, visibility, seen_by, session, utterance, origin,
        confidence
    FROM relation r JOIN moved m ON m.old = r.campaign AND m.is_only
    JOIN copied s ON s.old = r.src AND s.new = m.new JOIN copied d ON d.old = r.dst AND d.new = m.new
    WHERE r.session IS NULL;
UPDATE relation SET
    campaign = (SELECT new FROM moved_relation m WHERE m.id = relation.id),
    src = (SELECT c.id FROM copied c JOIN moved_relation m USING (new)
        WHERE m.id = relation.id AND c.old = src),
    dst = (SELECT c.id FROM copied c JOIN moved_relation m USING (new)
        WHERE m.id = relation.id AND c.old = dst)
    WHERE id IN (SELECT id FROM moved_relation);
-- What nobody but a guild's session has named is no more this machine's.
DELETE FROM entity WHERE id IN (SELECT old FROM named) AND source IS NULL
    AND NOT EXISTS (SELECT 1 FROM relation WHERE entity.id IN (src, dst));

-- Lines are found by words within their campaign; only those that move come into the index anew.
INSERT INTO line_text (line_text, rowid, campaign, text)
    SELECT 'delete', id, 'c' || campaign, fold(text) FROM line
    WHERE session IN (SELECT id FROM moved_session);
UPDATE line SET campaign = (SELECT new FROM moved_session m WHERE m.id = session)
    WHERE session IN (SELECT id FROM moved_session);
INSERT INTO line_text (rowid, campaign, text)
    SELECT id, 'c' || campaign, fold(text) FROM line WHERE session IN (SELECT id FROM moved_session);
UPDATE item SET campaign = (SELECT new FROM moved_session m WHERE m.id = session)
    WHERE session IN (SELECT id FROM moved_session);
UPDATE session SET campaign = (SELECT new FROM moved_session m WHERE m.id = session.id)
    WHERE id IN (SELECT id FROM moved_session);

-- Who was present is told of each scope by itself: somebody may be forgotten in one.
INSERT INTO presence (campaign, members)
    SELECT DISTINCT l.campaign, p.members FROM line l JOIN presence p ON p.id = l.presence
    WHERE l.session IN (SELECT id FROM moved_session);
CREATE TEMP TABLE heard AS
    SELECT o.id AS old, n.id AS new, n.campaign FROM moved m JOIN presence n ON n.campaign = m.new
    JOIN presence o ON o.campaign = m.old AND o.members = n.members;
CREATE INDEX temp.heard_old ON heard (old, campaign);
INSERT OR IGNORE INTO present_npc (name, presence)
    SELECT p.name, h.new FROM heard h JOIN present_npc p ON p.presence = h.old;
UPDATE line SET presence =
        (SELECT new FROM heard h WHERE h.old = line.presence AND h.campaign = line.campaign)
    WHERE session IN (SELECT id FROM moved_session);
DELETE FROM present_npc WHERE presence IN (SELECT old FROM heard)
    AND presence NOT IN (SELECT presence FROM line);
DELETE FROM presence WHERE id IN (SELECT old FROM heard) AND id NOT IN (SELECT presence FROM line);

UPDATE campaign SET generation = generation + 1,
        lines = (SELECT count(*) FROM line WHERE campaign = campaign.id)
    WHERE id IN (SELECT old FROM moved UNION SELECT new FROM moved);

-- The scope says it.
ALTER TABLE session DROP COLUMN guild;
DROP TABLE temp.heard;
DROP TABLE temp.copied;
DROP TABLE temp.named;
DROP TABLE temp.moved_relation;
DROP TABLE temp.moved_session;
DROP TABLE temp.moved;
DROP TABLE temp.alone;
DROP TABLE temp.played;
