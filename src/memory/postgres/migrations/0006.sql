-- Everything kept belongs to a scope: a guild, or this machine, and a campaign. It is written
-- '42/saltmarsh' as the guild 42 plays it, 'saltmarsh' as this machine does.
--
-- What was played by one guild alone becomes that guild's. Of what several have played, lines and what
-- comes from them go to the guild of their session, and things that such a relation names are copied
-- there; the rest stays this machine's. Where there was one guild beside this machine, the guild has a
-- copy of the world.

ALTER TABLE utterance DROP CONSTRAINT utterance_campaign_session_fkey;
ALTER TABLE item_vector DROP CONSTRAINT item_vector_campaign_item_fkey;

CREATE TEMP TABLE played ON COMMIT DROP AS SELECT DISTINCT campaign, guild FROM session;
-- "is_alone": nobody else has played it. "is_only": no other guild has.
CREATE TEMP TABLE moved ON COMMIT DROP AS
    SELECT campaign, guild, guild || '/' || campaign AS scope,
        (SELECT count(*) FROM played o WHERE o.campaign = p.campaign) = 1 AS is_alone,
        (SELECT count(guild) FROM played o WHERE o.campaign = p.campaign) = 1 AS is_only
    FROM played p WHERE guild IS NOT NULL;
CREATE TEMP TABLE moved_session ON COMMIT DROP AS
    SELECT s.campaign, s.id, m.scope FROM session s JOIN moved m USING (campaign, guild);
CREATE TEMP TABLE moved_item ON COMMIT DROP AS
    SELECT i.campaign, i.id, m.scope FROM item i
    JOIN moved_session m ON m.campaign = i.campaign AND m.id = i.session
    UNION SELECT i.campaign, i.id, m.scope FROM item i
    JOIN moved m ON m.campaign = i.campaign AND m.is_alone;

-- The graph: what was said in a session names what goes with it.
CREATE TEMP TABLE moved_relation ON COMMIT DROP AS
    SELECT r.campaign, r.from_id, r.kind, r.to_id, m.scope FROM relation r
    JOIN moved_session m ON m.campaign = r.campaign AND m.id = r.session
    UNION SELECT r.campaign, r.from_id, r.kind, r.to_id, m.scope FROM relation r
    JOIN moved m ON m.campaign = r.campaign AND m.is_alone;
CREATE TEMP TABLE named ON COMMIT DROP AS
    SELECT campaign, from_id AS id, scope FROM moved_relation
    UNION SELECT campaign, to_id, scope FROM moved_relation;
CREATE TEMP TABLE copied ON COMMIT DROP AS
    SELECT campaign, id, scope FROM named
    UNION SELECT e.campaign, e.id, m.scope FROM entity e
    JOIN moved m ON m.campaign = e.campaign AND m.is_only;
INSERT INTO entity (campaign, id, kind, names, tags, knows, source, open, told, body)
    SELECT c.scope, e.id, kind, names, tags, knows, source, open, told, body
    FROM copied c JOIN entity e ON e.campaign = c.campaign AND e.id = c.id;
INSERT INTO relation (campaign, from_id, kind, to_id, session, utterance, open, told, body)
    SELECT m.scope, from_id, kind, to_id, session, utterance, open, told, body
    FROM relation r JOIN moved m ON m.campaign = r.campaign AND m.is_only AND NOT m.is_alone
    WHERE r.session IS NULL;
UPDATE relation r SET campaign = m.scope FROM moved_relation m
    WHERE m.campaign = r.campaign AND m.from_id = r.from_id AND m.kind = r.kind AND m.to_id = r.to_id;
DELETE FROM entity e USING moved m WHERE m.campaign = e.campaign AND m.is_alone;
-- What nobody but a guild's session has named is no more this machine's.
DELETE FROM entity e USING named n WHERE n.campaign = e.campaign AND n.id = e.id AND e.source IS NULL
    AND NOT EXISTS (SELECT 1 FROM relation r
        WHERE r.campaign = e.campaign AND (r.from_id = e.id OR r.to_id = e.id));

UPDATE utterance u SET campaign = m.scope,
        words = ts_delete(u.words, '=' || u.campaign) || array_to_tsvector(ARRAY['=' || m.scope])
    FROM moved_session m WHERE m.campaign = u.campaign AND m.id = u.session;
UPDATE item i SET campaign = m.scope,
        words = ts_delete(i.words, '=' || i.campaign) || array_to_tsvector(ARRAY['=' || m.scope])
    FROM moved_item m WHERE m.campaign = i.campaign AND m.id = i.id;
UPDATE item_vector v SET campaign = m.scope
    FROM moved_item m WHERE m.campaign = v.campaign AND m.id = v.item;
UPDATE session s SET campaign = m.scope
    FROM moved_session m WHERE m.campaign = s.campaign AND m.id = s.id;

-- The scope says it.
ALTER TABLE session DROP COLUMN guild;
ALTER TABLE session RENAME COLUMN campaign TO scope;
ALTER TABLE utterance RENAME COLUMN campaign TO scope;
ALTER TABLE item RENAME COLUMN campaign TO scope;
ALTER TABLE item_vector RENAME COLUMN campaign TO scope;
ALTER TABLE entity RENAME COLUMN campaign TO scope;
ALTER TABLE relation RENAME COLUMN campaign TO scope;
ALTER TABLE utterance
    ADD FOREIGN KEY (scope, session) REFERENCES session (scope, id) ON DELETE CASCADE;
ALTER TABLE item_vector
    ADD FOREIGN KEY (scope, item) REFERENCES item (scope, id) ON DELETE CASCADE;
