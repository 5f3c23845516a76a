-- What schema 5 has beside what is in the data of the schemas before it, for the test that it is upgraded
-- with what is in it. As a step, it never changes once there is a later one.

INSERT INTO account (owner, name, began) VALUES ('42', 'play', 1000000);
INSERT INTO spending (account, payer, month, campaign, taken, spent)
    SELECT id, '', '2026-11', 'saltmarsh', 5, 4 FROM account;
