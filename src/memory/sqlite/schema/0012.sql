-- What the money of an account was spent on. Amounts are billionths of the currency of the prices; "day" is
-- YYYY-MM-DD in UTC, "session" is '' outside sessions, and "tool" is '' where no tool has caused the cost.
CREATE TABLE cost (
    account INTEGER NOT NULL REFERENCES account,
    day TEXT NOT NULL,
    session TEXT NOT NULL,
    payer TEXT NOT NULL,
    service TEXT NOT NULL,
    tool TEXT NOT NULL,
    campaign TEXT NOT NULL,
    spent INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (account, day, session, payer, service, tool, campaign)
) STRICT, WITHOUT ROWID;
