-- Facts are looked for in every turn, and are few among the pieces of conversation.
CREATE INDEX item_facts ON item USING gin (words) WITH (fastupdate = off) WHERE kind = 'fact';
