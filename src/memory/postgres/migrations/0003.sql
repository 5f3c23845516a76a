-- When the last line of a session was said, so that the latest sessions are found without lines.
ALTER TABLE session ADD COLUMN last_at bigint;
UPDATE session s SET last_at =
    (SELECT max(u.at) FROM utterance u WHERE u.campaign = s.campaign AND u.session = s.id);
