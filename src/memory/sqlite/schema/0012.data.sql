INSERT INTO cost (account, day, session, payer, service, tool, campaign, spent, requests)
    VALUES (1, '2026-11-02', 'one', 'Bartok', 'llm', '', 'saltmarsh', 4, 1);
