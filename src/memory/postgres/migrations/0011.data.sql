INSERT INTO token (id, hash, owner, role, tools, made, ends) VALUES ('t', 'h', '42', 'dm', 'null', 3, NULL);
