WITH given AS (
    SELECT * FROM json_to_recordset($2::text::json) AS g (place bigint, session text, uid text,
        turn bigint, at bigint, duration bigint, speaker_id text, speaker text, "character" text,
        npc text, text text, raw text, present text, outcome text, tools text, visibility text,
        open boolean, told text[], heard text[], players text[], said_by text[], words text[],
        asker text, asked_at bigint)
), known AS MATERIALIZED (
    SELECT u.uid, u.seq FROM utterance u
    WHERE u.scope = $1 AND u.uid IN (SELECT g.uid FROM given g)
), new AS (
    SELECT g.*, row_number() OVER (PARTITION BY g.session ORDER BY g.place) AS nth,
        count(*) OVER (PARTITION BY g.session) AS lines
    FROM given g WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.uid = g.uid)
), held AS (
    INSERT INTO session AS s (scope, id, started, last_seq, last_at)
    SELECT $1, n.session, min(n.at), count(*), max(n.at) FROM new n
    GROUP BY n.session ORDER BY n.session
    ON CONFLICT (scope, id) DO UPDATE SET last_seq = s.last_seq + excluded.last_seq,
        last_at = greatest(s.last_at, excluded.last_at)
    RETURNING s.id, s.last_seq
), written AS (
    INSERT INTO utterance (scope, session, seq, uid, turn, at, duration, speaker_id, speaker,
        "character", npc, text, raw, present, outcome, tools, visibility, open, told, heard, players,
        said_by, words, asker, asked_at)
    SELECT $1, n.session, h.last_seq - n.lines + n.nth, n.uid, n.turn, n.at, n.duration,
        n.speaker_id, n.speaker, n."character", n.npc, n.text, n.raw, n.present, n.outcome, n.tools,
        n.visibility, n.open, n.told, n.heard, n.players, n.said_by, array_to_tsvector(n.words),
        n.asker, n.asked_at
    FROM new n JOIN held h ON h.id = n.session
    RETURNING uid, seq
)
SELECT uid, seq FROM known UNION ALL SELECT uid, seq FROM written
