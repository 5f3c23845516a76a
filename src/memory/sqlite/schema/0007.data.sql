INSERT INTO deletion (owner, player, session, until, names, asker, erased)
    VALUES ('42', '7', '', 1, '["Anna"]', '9', 1);
