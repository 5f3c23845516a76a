INSERT INTO run (campaign, key, workflow, began, ended, record)
    SELECT id, 'r', 'bells', 5, 9, '{"run":"r"}' FROM campaign WHERE key = '42/saltmarsh';
INSERT INTO schedule (campaign, key, timing, action, made_by, made_at, next_at, last_at)
    SELECT id, 's', '{"at":7}', '{"workflow":"bells"}', '7', 3, 7, NULL FROM campaign WHERE key = '42/saltmarsh';
