-- What the table remembers. Names in arrays (heard, told, names, knows) are without case and accents.
-- "open": for everyone at the table; otherwise for the game master and those in "told".
-- "words": what full text finds, and the campaign as a word of its own, so that an index scan stays
-- within it.

CREATE TABLE session (
    campaign text NOT NULL,
    id text NOT NULL,
    guild bigint,
    title text,
    started bigint,
    ended bigint,
    summary text,
    last_seq bigint NOT NULL DEFAULT 0,
    number bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (campaign, id)
);

CREATE TABLE utterance (
    campaign text NOT NULL,
    session text NOT NULL,
    seq bigint NOT NULL,
    uid text NOT NULL,
    turn bigint NOT NULL,
    at bigint NOT NULL,
    duration bigint NOT NULL,
    speaker_id text,
    speaker text NOT NULL,
    "character" text,
    npc text,
    text text NOT NULL,
    raw text,
    present text NOT NULL,
    outcome text NOT NULL,
    tools text NOT NULL,
    visibility text NOT NULL,
    open boolean NOT NULL,
    told text[] NOT NULL,
    heard text[] NOT NULL,
    players text[] NOT NULL,
    said_by text[] NOT NULL,
    withdrawn boolean NOT NULL DEFAULT false,
    indexed boolean NOT NULL DEFAULT false,
    words tsvector NOT NULL,
    PRIMARY KEY (campaign, session, seq),
    UNIQUE (campaign, uid),
    FOREIGN KEY (campaign, session) REFERENCES session ON DELETE CASCADE
);
CREATE INDEX utterance_words ON utterance USING gin (words) WITH (fastupdate = off);
CREATE INDEX utterance_at ON utterance (campaign, session, at);

CREATE TABLE item (
    campaign text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    session text,
    first_seq bigint,
    last_seq bigint,
    status text NOT NULL,
    made bigint NOT NULL,
    open boolean NOT NULL,
    told text[] NOT NULL,
    body text NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (campaign, id)
);
CREATE INDEX item_words ON item USING gin (words) WITH (fastupdate = off);
CREATE INDEX item_lines ON item (campaign, session, first_seq);

CREATE TABLE item_vector (
    campaign text NOT NULL,
    model text NOT NULL,
    item text NOT NULL,
    vec vector NOT NULL,
    PRIMARY KEY (campaign, model, item),
    FOREIGN KEY (campaign, item) REFERENCES item ON DELETE CASCADE
);
CREATE INDEX item_vector_item ON item_vector (campaign, item);

CREATE TABLE entity (
    campaign text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    names text[] NOT NULL,
    tags text[] NOT NULL,
    knows text[] NOT NULL,
    source text,
    open boolean NOT NULL,
    told text[] NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (campaign, id)
);
CREATE INDEX entity_names ON entity USING gin (names);

CREATE TABLE relation (
    campaign text NOT NULL,
    from_id text NOT NULL,
    kind text NOT NULL,
    to_id text NOT NULL,
    session text,
    utterance text,
    open boolean NOT NULL,
    told text[] NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (campaign, from_id, kind, to_id)
);
CREATE INDEX relation_to ON relation (campaign, to_id, kind, from_id);
CREATE INDEX relation_session ON relation (campaign, session);
