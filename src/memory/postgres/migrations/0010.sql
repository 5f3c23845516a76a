-- Runs of workflows, and schedules. Times are Unix time in ms. "record", "timing" and "action" are JSON;
-- "record" names the person who started the run, "made_by" the one who made the schedule. A schedule without
-- "next_at" waits for a session.
CREATE TABLE run (
    scope text NOT NULL,
    id text NOT NULL,
    workflow text NOT NULL,
    began bigint NOT NULL,
    ended bigint,
    record text NOT NULL,
    PRIMARY KEY (scope, id)
);
CREATE INDEX run_newest ON run (scope, began);

CREATE TABLE schedule (
    scope text NOT NULL,
    id text NOT NULL,
    timing text NOT NULL,
    action text NOT NULL,
    made_by text,
    made_at bigint NOT NULL,
    next_at bigint,
    last_at bigint,
    PRIMARY KEY (scope, id)
);
