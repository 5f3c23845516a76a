-- What schema 2 has beside what is in the data of schema 1, for the test that it is upgraded with what
-- is in it. As a step, it never changes once there is a later one.

INSERT INTO guild (id, revision, settings) VALUES (42, 1, '{}');
