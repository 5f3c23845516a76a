INSERT INTO run (scope, id, workflow, began, ended, record)
    VALUES ('42/saltmarsh', 'r', 'bells', 5, 9, '{"run":"r"}');
INSERT INTO schedule (scope, id, timing, action, made_by, made_at, next_at, last_at)
    VALUES ('42/saltmarsh', 's', '{"at":7}', '{"workflow":"bells"}', '7', 3, 7, NULL);
