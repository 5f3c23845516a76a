-- The ledger. Amounts are billionths of the currency of the prices; times are Unix time in ms. "owner"
-- is the id of a Discord server, or 'local'. What is taken is spent or set aside; a payer's rows are
-- beside those of the whole account, whose payer is ''.
CREATE TABLE account (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    name text NOT NULL,
    began bigint NOT NULL
);
CREATE INDEX account_newest ON account (owner, name, began);

CREATE TABLE spending (
    account bigint NOT NULL REFERENCES account,
    payer text NOT NULL,
    month text NOT NULL,
    campaign text NOT NULL,
    taken bigint NOT NULL,
    spent bigint NOT NULL,
    PRIMARY KEY (account, payer, month, campaign)
);
