-- When the last line of a session was said, so that the latest sessions are found without lines.
ALTER TABLE session ADD COLUMN last_at INTEGER;
UPDATE session SET last_at = (SELECT max(at) FROM line WHERE session = session.id);
-- Lines of a session are counted without reading them: its last number, less those that are gone.
CREATE INDEX line_gone ON line (session) WHERE gone <> 0;
