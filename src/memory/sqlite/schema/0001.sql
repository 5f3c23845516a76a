-- Names are folded (no case, no accents) where they are compared: members of presences, said_by,
-- seen_by, entity_name. seen_by is '*' for everyone, '' for the game master, else the NPCs' names,
-- each between two U+001F. Times are Unix time in ms.

CREATE TABLE campaign (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    lines INTEGER NOT NULL DEFAULT 0,
    -- raised whenever items or vectors change, so that what is cached of them is made anew
    generation INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    key TEXT NOT NULL,
    guild INTEGER,
    title TEXT,
    started INTEGER,
    ended INTEGER,
    summary TEXT,
    UNIQUE (campaign, key)
) STRICT;

-- Who heard a line; the same people hear most lines, so sets are shared.
CREATE TABLE presence (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    members TEXT NOT NULL
) STRICT;
CREATE INDEX presence_members ON presence (campaign, members);

CREATE TABLE present_npc (
    name TEXT NOT NULL,
    presence INTEGER NOT NULL REFERENCES presence,
    PRIMARY KEY (name, presence)
) STRICT, WITHOUT ROWID;

CREATE TABLE line (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    uid TEXT NOT NULL,
    turn INTEGER NOT NULL,
    at INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    speaker_id TEXT,
    speaker TEXT NOT NULL,
    character TEXT,
    npc TEXT,
    text TEXT NOT NULL,
    raw TEXT,
    presence INTEGER NOT NULL REFERENCES presence,
    outcome TEXT NOT NULL,
    tools TEXT,
    visibility TEXT NOT NULL,
    seen_by TEXT NOT NULL,
    said_by TEXT NOT NULL,
    indexed INTEGER NOT NULL DEFAULT 0,
    gone INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, seq),
    UNIQUE (campaign, uid)
) STRICT;
CREATE INDEX line_campaign ON line (campaign);
CREATE INDEX line_player ON line (campaign, speaker_id) WHERE speaker_id IS NOT NULL;
CREATE INDEX line_unindexed ON line (session, seq) WHERE indexed = 0 AND gone = 0;

CREATE VIEW line_words AS SELECT id, 'c' || campaign AS campaign, text FROM line;
CREATE VIRTUAL TABLE line_text USING fts5 (
    campaign, text, content = 'line_words', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO line_text (line_text, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER line_added AFTER INSERT ON line BEGIN
    INSERT INTO line_text (rowid, campaign, text) VALUES (new.id, 'c' || new.campaign, new.text);
END;
CREATE TRIGGER line_changed AFTER UPDATE OF text ON line BEGIN
    INSERT INTO line_text (line_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, old.text);
    INSERT INTO line_text (rowid, campaign, text) VALUES (new.id, 'c' || new.campaign, new.text);
END;
CREATE TRIGGER line_removed AFTER DELETE ON line BEGIN
    INSERT INTO line_text (line_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, old.text);
END;

CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    session INTEGER REFERENCES session ON DELETE CASCADE,
    first INTEGER,
    last INTEGER,
    visibility TEXT NOT NULL,
    seen_by TEXT NOT NULL,
    status TEXT NOT NULL,
    made INTEGER NOT NULL,
    UNIQUE (campaign, key)
) STRICT;
CREATE INDEX item_session ON item (session, first);

-- NPCs that were present at every line an item comes from.
CREATE TABLE witness (
    item INTEGER NOT NULL REFERENCES item ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (item, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE vector (
    item INTEGER NOT NULL REFERENCES item ON DELETE CASCADE,
    model TEXT NOT NULL,
    -- f32, little endian
    value BLOB NOT NULL,
    PRIMARY KEY (item, model)
) STRICT, WITHOUT ROWID;

CREATE VIEW item_words AS SELECT id, 'c' || campaign AS campaign, text FROM item;
CREATE VIRTUAL TABLE item_text USING fts5 (
    campaign, text, content = 'item_words', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO item_text (item_text, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER item_added AFTER INSERT ON item BEGIN
    INSERT INTO item_text (rowid, campaign, text) VALUES (new.id, 'c' || new.campaign, new.text);
    UPDATE campaign SET generation = generation + 1 WHERE id = new.campaign;
END;
CREATE TRIGGER item_changed AFTER UPDATE ON item BEGIN
    INSERT INTO item_text (item_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, old.text);
    INSERT INTO item_text (rowid, campaign, text) VALUES (new.id, 'c' || new.campaign, new.text);
    UPDATE campaign SET generation = generation + 1 WHERE id = new.campaign;
END;
CREATE TRIGGER item_removed AFTER DELETE ON item BEGIN
    INSERT INTO item_text (item_text, rowid, campaign, text)
    VALUES ('delete', old.id, 'c' || old.campaign, old.text);
    UPDATE campaign SET generation = generation + 1 WHERE id = old.campaign;
END;

CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL,
    description TEXT NOT NULL,
    attributes TEXT NOT NULL,
    tags TEXT NOT NULL,
    knowledge TEXT NOT NULL,
    -- knowledge, folded
    topics TEXT NOT NULL,
    visibility TEXT NOT NULL,
    seen_by TEXT NOT NULL,
    source TEXT,
    UNIQUE (campaign, key)
) STRICT;

CREATE TABLE entity_name (
    campaign INTEGER NOT NULL,
    name TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity ON DELETE CASCADE,
    PRIMARY KEY (campaign, name, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_name_entity ON entity_name (entity);

CREATE TABLE relation (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    src INTEGER NOT NULL REFERENCES entity ON DELETE CASCADE,
    kind TEXT NOT NULL COLLATE NOCASE,
    dst INTEGER NOT NULL REFERENCES entity ON DELETE CASCADE,
    attributes TEXT NOT NULL,
    visibility TEXT NOT NULL,
    seen_by TEXT NOT NULL,
    session TEXT,
    utterance TEXT,
    origin TEXT NOT NULL,
    confidence REAL NOT NULL,
    UNIQUE (src, kind, dst)
) STRICT;
CREATE INDEX relation_back ON relation (dst, kind, src);
CREATE INDEX relation_said ON relation (campaign, session) WHERE session IS NOT NULL;
