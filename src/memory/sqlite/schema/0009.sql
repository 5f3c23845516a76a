-- Of an NPC's line: the player whose words it answers, and when these began (Unix time in ms). It is deleted with
-- them. Earlier versions wrote an answer right behind the words, in the same turn.
ALTER TABLE line ADD COLUMN asker TEXT;
ALTER TABLE line ADD COLUMN asked_at INTEGER;
UPDATE line SET (asker, asked_at) = (
        SELECT said.speaker_id, said.at FROM line said
        WHERE said.session = line.session AND said.seq = line.seq - 1 AND said.turn = line.turn
            AND said.speaker_id IS NOT NULL)
    WHERE speaker_id IS NULL AND gone = 0;
CREATE INDEX line_asker ON line (campaign, asker) WHERE asker IS NOT NULL;
