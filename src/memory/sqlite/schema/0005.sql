-- The ledger. Amounts are billionths of the currency of the prices; times are Unix time in ms. "owner"
-- is the id of a Discord server, or 'local'. What is taken is spent or set aside; a payer's rows are
-- beside those of the whole account, whose payer is ''.
CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    began INTEGER NOT NULL
) STRICT;
CREATE INDEX account_newest ON account (owner, name, began);

CREATE TABLE spending (
    account INTEGER NOT NULL REFERENCES account,
    payer TEXT NOT NULL,
    month TEXT NOT NULL,
    campaign TEXT NOT NULL,
    taken INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    PRIMARY KEY (account, payer, month, campaign)
) STRICT, WITHOUT ROWID;
