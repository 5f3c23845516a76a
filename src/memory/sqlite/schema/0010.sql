-- Runs of workflows, and schedules. Times are Unix time in ms. "record", "timing" and "action" are JSON;
-- "record" names the person who started the run, "made_by" the one who made the schedule. A schedule without
-- "next_at" waits for a session.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    key TEXT NOT NULL,
    workflow TEXT NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER,
    record TEXT NOT NULL,
    UNIQUE (campaign, key)
) STRICT;
CREATE INDEX run_newest ON run (campaign, began);

CREATE TABLE schedule (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign,
    key TEXT NOT NULL,
    timing TEXT NOT NULL,
    action TEXT NOT NULL,
    made_by TEXT,
    made_at INTEGER NOT NULL,
    next_at INTEGER,
    last_at INTEGER,
    UNIQUE (campaign, key)
) STRICT;
