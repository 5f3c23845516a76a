-- Words are folded before they come into the index, as those of a question are: its own tokenizer leaves
-- accents of other than Latin letters, and nothing with one was found.

DROP TRIGGER line_added;
DROP TRIGGER line_changed;
DROP TRIGGER line_removed;
DROP VIEW line_words;
CREATE VIEW line_words AS SELECT id, 'c' || campaign AS campaign, fold(text) AS text FROM line;
CREATE TRIGGER line_added AFTER INSERT ON line BEGIN
    INSERT INTO line_text (rowid, campaign, text)
    VALUES (new.id, 'c' || new.campaign, fold(new.text));
END;
CREATE TRIGGER line_changed AFTER UPDATE OF text ON line BEGIN
    INSERT INTO line_text (line_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, fold(old.text));
    INSERT INTO line_text (rowid, campaign, text)
    VALUES (new.id, 'c' || new.campaign, fold(new.text));
END;
CREATE TRIGGER line_removed AFTER DELETE ON line BEGIN
    INSERT INTO line_text (line_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, fold(old.text));
END;
INSERT INTO line_text (line_text) VALUES ('rebuild');

DROP TRIGGER item_added;
DROP TRIGGER item_changed;
DROP TRIGGER item_removed;
DROP VIEW item_words;
CREATE VIEW item_words AS SELECT id, 'c' || campaign AS campaign, fold(text) AS text FROM item;
CREATE TRIGGER item_added AFTER INSERT ON item BEGIN
    INSERT INTO item_text (rowid, campaign, text)
    VALUES (new.id, 'c' || new.campaign, fold(new.text));
    UPDATE campaign SET generation = generation + 1 WHERE id = new.campaign;
END;
CREATE TRIGGER item_changed AFTER UPDATE ON item BEGIN
    INSERT INTO item_text (item_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, fold(old.text));
    INSERT INTO item_text (rowid, campaign, text)
    VALUES (new.id, 'c' || new.campaign, fold(new.text));
    UPDATE campaign SET generation = generation + 1 WHERE id = new.campaign;
END;
CREATE TRIGGER item_removed AFTER DELETE ON item BEGIN
    INSERT INTO item_text (item_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, fold(old.text));
    UPDATE campaign SET generation = generation + 1 WHERE id = old.campaign;
END;
INSERT INTO item_text (item_text) VALUES ('rebuild');
-- Otherwise the lines that follow would wait for parts of it to be joined.
INSERT INTO line_text (line_text) VALUES ('optimize');
INSERT INTO item_text (item_text) VALUES ('optimize');
