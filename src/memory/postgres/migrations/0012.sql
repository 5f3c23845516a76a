-- What the money of an account was spent on. Amounts are billionths of the currency of the prices; "day" is
-- YYYY-MM-DD in UTC, "session" is '' outside sessions, and "tool" is '' where no tool has caused the cost.
CREATE TABLE cost (
    account bigint NOT NULL REFERENCES account,
    day text NOT NULL,
    session text NOT NULL,
    payer text NOT NULL,
    service text NOT NULL,
    tool text NOT NULL,
    campaign text NOT NULL,
    spent bigint NOT NULL,
    requests bigint NOT NULL,
    PRIMARY KEY (account, day, session, payer, service, tool, campaign)
);
