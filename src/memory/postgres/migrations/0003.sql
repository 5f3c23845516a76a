-- When the last line of a session was said, so that the latest sessions are found without lines.
ALTER TABLE session ADD COLUMN last_at bigint;
UPDATE session s SET last_at =
    (SELECT max(u.at) FROM utterance u WHERE u.campaign = s.campaign AND u.session = s.id);
-- Lines of a session are counted without reading them: its last number, less those that are gone.
CREATE INDEX utterance_withdrawn ON utterance (campaign, session) WHERE withdrawn;
CREATE INDEX utterance_unindexed ON utterance (campaign, session, seq)
    WHERE NOT indexed AND NOT withdrawn;
