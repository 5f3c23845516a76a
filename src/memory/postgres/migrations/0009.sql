-- Of an NPC's line: the player whose words it answers, and when these began (Unix time in ms). It is deleted with
-- them. Earlier versions wrote an answer right behind the words, in the same turn.
ALTER TABLE utterance ADD COLUMN asker text, ADD COLUMN asked_at bigint;
UPDATE utterance u SET asker = said.speaker_id, asked_at = said.at FROM utterance said
    WHERE u.speaker_id IS NULL AND NOT u.withdrawn AND said.scope = u.scope AND said.session = u.session
    AND said.seq = u.seq - 1 AND said.turn = u.turn AND said.speaker_id IS NOT NULL;
