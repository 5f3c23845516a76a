-- What schema 5 has beside what is in the data of the schemas before it, for the test that it is upgraded
-- with what is in it. As a step, it never changes once there is a later one.

INSERT INTO account (id, owner, name, began) VALUES (1, '42', 'play', 1000000);
INSERT INTO spending (account, payer, month, campaign, taken, spent) VALUES
    (1, '', '2026-11', 'saltmarsh', 5, 4);
