-- Facts are looked for in every turn, and are few among the pieces of conversation.
CREATE INDEX item_facts ON item USING gin (words) WITH (fastupdate = off) WHERE kind = 'fact';
-- NPCs that were present at every line an item comes from, so that these need not be read.
ALTER TABLE item ADD COLUMN heard text[] NOT NULL DEFAULT '{}';
UPDATE item i SET heard = ARRAY(
    SELECT name FROM utterance u CROSS JOIN unnest(u.heard) AS name
    WHERE u.campaign = i.campaign AND u.session = i.session
        AND u.seq BETWEEN i.first_seq AND i.last_seq
    GROUP BY name HAVING count(DISTINCT u.seq) = i.last_seq - i.first_seq + 1)
WHERE first_seq IS NOT NULL;
