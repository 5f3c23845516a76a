//! Entities and relations.
//!
//! Entry: [`Graph`] of [`Sqlite`]. **Never**: applies part of a batch.

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params, params_from_iter};

use super::{
    super::{
        Applied, Around, Change, Entity, EntityFilter, Error, Graph, Neighbour, Relation,
        RelationKey, Scope, Snapshot, Step, StoreFuture, Tie, Viewer, text::fold,
    },
    campaign, campaign_made, failure, paths,
    rows::{
        Eyes, RELATION, RELATION_COLUMNS, entity, entity_of, json, limit, name_of, relation,
        seen_by, topics,
    },
    run,
    store::Sqlite,
};

impl Graph for Sqlite {
    fn apply<'a>(&'a self, scope: &'a Scope, changes: Vec<Change>) -> StoreFuture<'a, Applied> {
        let key = scope.key();
        self.writer.write(move |db| apply(db, &key, &changes)).boxed()
    }

    fn entities<'a>(
        &'a self,
        scope: &'a Scope,
        filter: EntityFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Entity>> {
        let key = scope.key();
        self.readers.read(move |db| entities(db, &key, &filter, &viewer)).boxed()
    }

    fn relations<'a>(&'a self, scope: &'a Scope, viewer: Viewer) -> StoreFuture<'a, Vec<Relation>> {
        let key = scope.key();
        self.readers.read(move |db| relations(db, &key, &viewer)).boxed()
    }

    fn snapshot<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        let (key, id) = (scope.key(), id.to_owned());
        self.readers.read(move |db| snapshot(db, &key, &id, &viewer)).boxed()
    }

    fn neighbours<'a>(
        &'a self,
        scope: &'a Scope,
        around: Around,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Neighbour>> {
        let key = scope.key();
        self.readers.read(move |db| paths::neighbours(db, &key, &around, &viewer)).boxed()
    }

    fn path<'a>(
        &'a self,
        scope: &'a Scope,
        from: &'a str,
        to: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Vec<Step>>> {
        let (key, from, to) = (scope.key(), from.to_owned(), to.to_owned());
        let find = move |db: &Connection| paths::path(db, &key, &from, &to, &viewer);
        self.readers.read(find).boxed()
    }
}

fn apply(db: &Connection, key: &str, changes: &[Change]) -> Result<Applied, Error> {
    let campaign = campaign_made(db, key)?;
    let mut applied = Applied::default();
    for change in changes {
        match change {
            Change::Put(entity) => put(db, campaign, entity, &mut applied)?,
            Change::Remove(id) => {
                let sql = "DELETE FROM entity WHERE campaign = ? AND key = ?";
                applied.removed += rows(db.execute(sql, params![campaign, id]))?;
            }
            Change::Tie(_) | Change::Untie(_) => {}
        }
    }
    for change in changes {
        match change {
            Change::Tie(relation) => tie(db, campaign, relation, &mut applied)?,
            Change::Untie(key) => {
                let ends = ends(db, campaign, key)?;
                let sql = "DELETE FROM relation WHERE src = ? AND kind = ? AND dst = ?";
                let given = params![ends.0, key.kind, ends.1];
                applied.removed += rows(db.execute(sql, given))?;
            }
            Change::Put(_) | Change::Remove(_) => {}
        }
    }
    Ok(applied)
}

fn rows(done: rusqlite::Result<usize>) -> Result<u64, Error> {
    Ok(u64::try_from(done.map_err(failure)?).unwrap_or(u64::MAX))
}

fn id_of(db: &Connection, campaign: i64, key: &str) -> Result<Option<i64>, Error> {
    let mut known = db
        .prepare_cached("SELECT id FROM entity WHERE campaign = ? AND key = ?")
        .map_err(failure)?;
    known.query_row(params![campaign, key], |row| row.get(0)).optional().map_err(failure)
}

fn ends(
    db: &Connection,
    campaign: i64,
    key: &RelationKey,
) -> Result<(Option<i64>, Option<i64>), Error> {
    Ok((id_of(db, campaign, &key.from)?, id_of(db, campaign, &key.to)?))
}

fn put(
    db: &Connection,
    campaign: i64,
    entity: &Entity,
    applied: &mut Applied,
) -> Result<(), Error> {
    if entity.id.is_empty() || entity.name.trim().is_empty() {
        return Err(Error::Asked(format!("the entity '{}' has no id or no name", entity.id)));
    }
    let before = id_of(db, campaign, &entity.id)?;
    let mut put = db
        .prepare_cached(
            "INSERT INTO entity (campaign, key, kind, name, aliases, description, attributes, tags,
                 knowledge, topics, visibility, seen_by, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (campaign, key) DO UPDATE SET
                 kind = ?3, name = ?4, aliases = ?5, description = ?6, attributes = ?7, tags = ?8,
                 knowledge = ?9, topics = ?10, visibility = ?11, seen_by = ?12, source = ?13
             WHERE (kind, name, aliases, description, attributes, tags, knowledge, visibility,
                 source) IS NOT (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?11, ?13)",
        )
        .map_err(failure)?;
    let given = params![
        campaign,
        entity.id,
        name_of(&entity.kind)?,
        entity.name,
        json(&entity.aliases)?,
        entity.description,
        json(&entity.attributes)?,
        json(&entity.tags)?,
        json(&entity.knowledge)?,
        topics(&entity.knowledge),
        json(&entity.visibility)?,
        seen_by(&entity.visibility),
        entity.source,
    ];
    let written = rows(put.execute(given))?;
    if before.is_some() {
        applied.changed += written;
    } else {
        applied.added += written;
    }
    let id = id_of(db, campaign, &entity.id)?;
    run(db, "DELETE FROM entity_name WHERE entity = ?", [id])?;
    for name in entity.aliases.iter().chain([&entity.name]) {
        let sql = "INSERT OR IGNORE INTO entity_name (campaign, name, entity) VALUES (?, ?, ?)";
        run(db, sql, params![campaign, fold(name.trim()), id])?;
    }
    Ok(())
}

fn tie(
    db: &Connection,
    campaign: i64,
    relation: &Relation,
    applied: &mut Applied,
) -> Result<(), Error> {
    let key = &relation.key;
    let (Some(from), Some(to)) = ends(db, campaign, key)? else {
        return Err(Error::Asked(format!(
            "'{}' {} '{}': there is no such entity (add both first)",
            key.from, key.kind, key.to
        )));
    };
    let sql = "SELECT 1 FROM relation WHERE src = ? AND kind = ? AND dst = ?";
    let mut known = db.prepare_cached(sql).map_err(failure)?;
    let before = known.query_row(params![from, key.kind, to], |_| Ok(())).optional();
    let before = before.map_err(failure)?;
    let mut put = db
        .prepare_cached(
            "INSERT INTO relation (campaign, src, kind, dst, attributes, visibility, seen_by,
                 session, utterance, origin, confidence)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (src, kind, dst) DO UPDATE SET
                 attributes = ?5, visibility = ?6, seen_by = ?7, session = ?8, utterance = ?9,
                 origin = ?10, confidence = ?11
             WHERE (attributes, visibility, session, utterance, origin, confidence)
                 IS NOT (?5, ?6, ?8, ?9, ?10, ?11)",
        )
        .map_err(failure)?;
    let provenance = &relation.provenance;
    let given = params![
        campaign,
        from,
        key.kind,
        to,
        json(&relation.attributes)?,
        json(&relation.visibility)?,
        seen_by(&relation.visibility),
        provenance.session,
        provenance.utterance.as_ref().map(|uid| &uid.0),
        name_of(&provenance.origin)?,
        provenance.confidence,
    ];
    let written = rows(put.execute(given))?;
    if before.is_some() {
        applied.changed += written;
    } else {
        applied.added += written;
    }
    Ok(())
}

fn entities(
    db: &Connection,
    key: &str,
    filter: &EntityFilter,
    viewer: &Viewer,
) -> Result<Vec<Entity>, Error> {
    let eyes = Eyes::from(viewer);
    let mut sql = format!(
        "SELECT {} FROM entity e WHERE e.campaign = ?3 AND {}",
        entity_of("e"),
        eyes.entity("e")
    );
    let mut given: Vec<Box<dyn ToSql>> =
        vec![Box::new(eyes.name), Box::new(eyes.knows), Box::new(campaign(db, key)?)];
    let mut when = |condition: &str, value: String| {
        given.push(Box::new(value));
        sql.push_str(&condition.replace("?_", &format!("?{}", given.len())));
    };
    if let Some(ids) = &filter.ids {
        when(" AND e.key IN (SELECT value FROM json_each(?_))", json(ids)?);
    }
    if let Some(name) = &filter.named {
        when(
            " AND e.id IN (SELECT entity FROM entity_name WHERE campaign = ?3 AND name = ?_)",
            fold(name.trim()),
        );
    }
    if let Some(letters) = &filter.containing {
        when(
            " AND e.id IN (SELECT entity FROM entity_name WHERE campaign = ?3
                           AND instr(name, ?_) > 0)",
            fold(letters.trim()),
        );
    }
    if let Some(kind) = &filter.kind {
        when(" AND e.kind = ?_", name_of(kind)?);
    }
    if let Some(tag) = &filter.tag {
        when(" AND ?_ IN (SELECT value FROM json_each(e.tags))", tag.clone());
    }
    if let Some(source) = &filter.source {
        when(" AND instr(e.source, ?_) = 1", source.clone());
    }
    sql.push_str(&format!(" ORDER BY e.name COLLATE NOCASE, e.id LIMIT {}", limit(filter.limit)));
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let found = found.query_map(params_from_iter(given), |row| entity(row, 0));
    found.and_then(Iterator::collect).map_err(failure)
}

fn relations(db: &Connection, key: &str, viewer: &Viewer) -> Result<Vec<Relation>, Error> {
    let eyes = Eyes::from(viewer);
    let sql = format!(
        "SELECT {RELATION} FROM relation r
         JOIN entity a ON a.id = r.src JOIN entity b ON b.id = r.dst
         WHERE a.campaign = ?3 AND {} AND {} AND {}",
        eyes.relation(),
        eyes.entity("a"),
        eyes.entity("b")
    );
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let given = params![eyes.name, eyes.knows, campaign(db, key)?];
    let found = found.query_map(given, relation);
    let mut found: Vec<Relation> = found.and_then(Iterator::collect).map_err(failure)?;
    found.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(found)
}

fn snapshot(
    db: &Connection,
    key: &str,
    id: &str,
    viewer: &Viewer,
) -> Result<Option<Snapshot>, Error> {
    let ids = Some(vec![id.to_owned()]);
    let Some(found) =
        entities(db, key, &EntityFilter { ids, ..EntityFilter::default() }, viewer)?.pop()
    else {
        return Ok(None);
    };
    let eyes = Eyes::from(viewer);
    let half = |own: &str, other: &str, order: u8| {
        format!(
            "SELECT {RELATION}, {}, {order} AS part FROM relation r
             JOIN entity a ON a.id = r.src JOIN entity b ON b.id = r.dst
             WHERE {own}.campaign = ?3 AND {own}.key = ?4 AND {} AND {}",
            entity_of(other),
            eyes.relation(),
            eyes.entity(other)
        )
    };
    // A relation to itself is listed once, as outgoing.
    let sql = format!(
        "{} UNION ALL {} AND r.src <> r.dst ORDER BY part, 2, {}",
        half("a", "b", 1),
        half("b", "a", 2),
        RELATION_COLUMNS + 3
    );
    let mut ties = db.prepare_cached(&sql).map_err(failure)?;
    let given = params![eyes.name, eyes.knows, campaign(db, key)?, id];
    let ties = ties.query_map(given, |row: &Row<'_>| {
        Ok(Tie { relation: relation(row)?, other: entity(row, RELATION_COLUMNS)? })
    });
    let ties = ties.and_then(Iterator::collect).map_err(failure)?;
    Ok(Some(Snapshot { entity: found, ties }))
}
