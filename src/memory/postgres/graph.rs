//! The graph in PostgreSQL. Each entity and relation is a document, with searchable values in
//! columns beside it.
//!
//! Entry: [`Graph`] of [`Postgres`]. **Never**: passes through an entity or a relation that the
//! viewer may not see.

use deadpool_postgres::Transaction;

use super::{
    sql::{Sql, fold_of, folded, json, label, plain, read, told},
    store::{Postgres, within},
};
use crate::memory::{
    Applied, Around, Change, Entity, EntityFilter, Error, Graph, Neighbour, Relation, RelationKey,
    Scope, Snapshot, Step, StoreFuture, Tie, Viewer,
};

impl Graph for Postgres {
    fn apply<'a>(&'a self, scope: &'a Scope, changes: Vec<Change>) -> StoreFuture<'a, Applied> {
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            // Only one program changes a scope's graph at a time.
            let mut alone = Sql::new("SELECT pg_advisory_xact_lock(hashtextextended(");
            alone.bind(plain(&scope.key())).push(", 0))").query(&work).await?;
            let mut applied = Applied::default();
            let is_entity = |change: &Change| matches!(change, Change::Put(_) | Change::Remove(_));
            let (entities, relations): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_entity);
            let mut ends = Vec::new();
            for change in entities.iter().chain(&relations) {
                match change {
                    Change::Put(entity) => put(&work, scope, entity, &mut applied).await?,
                    Change::Remove(id) => applied.removed += remove(&work, scope, id).await?,
                    Change::Tie(relation) => {
                        tie(&work, scope, relation, &mut applied).await?;
                        ends.extend([plain(&relation.key.from), plain(&relation.key.to)]);
                    }
                    Change::Untie(key) => applied.removed += untie(&work, scope, key).await?,
                }
            }
            complete(&work, scope, ends).await?;
            work.commit().await?;
            Ok(applied)
        }))
    }

    fn entities<'a>(
        &'a self,
        scope: &'a Scope,
        filter: EntityFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Entity>> {
        Box::pin(within(async move {
            let mut sql = Sql::new("SELECT e.body FROM entity e WHERE e.scope = ");
            sql.bind(plain(&scope.key())).entities_for("e", &viewer);
            if let Some(ids) = &filter.ids {
                let ids: Vec<String> = ids.iter().map(|id| plain(id)).collect();
                sql.push(" AND e.id = ANY(").bind(ids).push(")");
            }
            if let Some(name) = &filter.named {
                sql.push(" AND e.names @> ").bind(vec![fold_of(name)]);
            }
            if let Some(letters) = &filter.containing {
                sql.push(" AND EXISTS (SELECT 1 FROM unnest(e.names) n WHERE position(");
                sql.bind(fold_of(letters)).push("::text IN n) > 0)");
            }
            if let Some(kind) = &filter.kind {
                sql.push(" AND e.kind = ").bind(label(kind));
            }
            if let Some(tag) = &filter.tag {
                sql.push(" AND e.tags @> ").bind(vec![fold_of(tag)]);
            }
            if let Some(source) = &filter.source {
                sql.push(" AND starts_with(e.source, ").bind(plain(source)).push(")");
            }
            sql.push(" ORDER BY e.names[1] COLLATE \"C\", e.id COLLATE \"C\"").limit(filter.limit);
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(|row| read(row, 0)).collect()
        }))
    }

    fn relations<'a>(&'a self, scope: &'a Scope, viewer: Viewer) -> StoreFuture<'a, Vec<Relation>> {
        Box::pin(within(async move {
            let mut sql = Sql::new(
                "SELECT r.body FROM relation r \
                 JOIN entity a ON a.scope = r.scope AND a.id = r.from_id \
                 JOIN entity b ON b.scope = r.scope AND b.id = r.to_id WHERE r.scope = ",
            );
            sql.bind(plain(&scope.key())).relations_for(&viewer);
            sql.entities_for("a", &viewer).entities_for("b", &viewer);
            let rows = sql.query(&self.client().await?).await?;
            let found: Result<Vec<Relation>, Error> = rows.iter().map(|row| read(row, 0)).collect();
            let mut found = found?;
            found.sort_by(|one, other| one.key.cmp(&other.key));
            Ok(found)
        }))
    }

    fn snapshot<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(within(async move {
            let mut sql = Sql::new("WITH e AS (SELECT * FROM entity e WHERE e.scope = ");
            sql.bind(plain(&scope.key())).push(" AND e.id = ").bind(plain(id));
            sql.entities_for("e", &viewer).push(
                ") SELECT * FROM (SELECT 0 AS part, '' AS kind, '' AS name, e.body, NULL FROM e",
            );
            // A relation to itself counts as outgoing.
            for (part, near, far, more) in
                [(1, "from_id", "to_id", ""), (2, "to_id", "from_id", " AND r.from_id <> r.to_id")]
            {
                sql.push(&format!(
                    " UNION ALL SELECT {part}, r.kind, o.names[1], r.body, o.body FROM e \
                     JOIN relation r ON r.scope = e.scope AND r.{near} = e.id{more} \
                     JOIN entity o ON o.scope = r.scope AND o.id = r.{far} WHERE true"
                ));
                sql.relations_for(&viewer).entities_for("o", &viewer);
            }
            sql.push(") parts ORDER BY part, kind COLLATE \"C\", name COLLATE \"C\"");
            let rows = sql.query(&self.client().await?).await?;
            let Some((first, rest)) = rows.split_first() else { return Ok(None) };
            let tie = |row| Ok(Tie { relation: read(row, 3)?, other: read(row, 4)? });
            let ties: Result<_, Error> = rest.iter().map(tie).collect();
            Ok(Some(Snapshot { entity: read(first, 3)?, ties: ties? }))
        }))
    }

    fn neighbours<'a>(
        &'a self,
        scope: &'a Scope,
        around: Around,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Neighbour>> {
        Box::pin(within(self.near(scope, around, viewer)))
    }

    fn path<'a>(
        &'a self,
        scope: &'a Scope,
        from: &'a str,
        to: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Vec<Step>>> {
        Box::pin(within(self.way(scope, from, to, viewer)))
    }
}

async fn put(
    work: &Transaction<'_>,
    scope: &Scope,
    entity: &Entity,
    applied: &mut Applied,
) -> Result<(), Error> {
    if entity.id.is_empty() || entity.name.trim().is_empty() {
        return Err(Error::Asked(format!("the entity '{}' has no id or no name", entity.id)));
    }
    let (open, told) = told(&entity.visibility);
    let mut names = vec![fold_of(&entity.name)];
    names.extend(folded(&entity.aliases));
    let mut sql = Sql::new(
        "INSERT INTO entity AS e (scope, id, kind, names, tags, knows, source, open, told, body) \
         VALUES (",
    );
    sql.bind(plain(&scope.key())).push(", ").bind(plain(&entity.id)).push(", ");
    sql.bind(label(&entity.kind)).push(", ").bind(names).push(", ");
    sql.bind(folded(&entity.tags)).push(", ").bind(folded(&entity.knowledge)).push(", ");
    sql.bind(entity.source.as_deref().map(plain)).push(", ").bind(open).push(", ").bind(told);
    sql.push(", ").bind(json(entity)?).push(
        ") ON CONFLICT (scope, id) DO UPDATE SET kind = excluded.kind, names = excluded.names, \
         tags = excluded.tags, knows = excluded.knows, source = excluded.source, \
         open = excluded.open, told = excluded.told, body = excluded.body \
         WHERE e.body <> excluded.body RETURNING xmax::text = '0'",
    );
    count(work, &sql, applied).await
}

async fn tie(
    work: &Transaction<'_>,
    scope: &Scope,
    relation: &Relation,
    applied: &mut Applied,
) -> Result<(), Error> {
    let (open, told) = told(&relation.visibility);
    let from = &relation.provenance;
    let mut sql = Sql::new(
        "INSERT INTO relation AS r (scope, from_id, kind, to_id, session, utterance, open, told, \
         body) VALUES (",
    );
    sql.bind(plain(&scope.key())).push(", ").bind(plain(&relation.key.from)).push(", ");
    sql.bind(fold_of(&relation.key.kind)).push(", ").bind(plain(&relation.key.to)).push(", ");
    sql.bind(from.session.as_deref().map(plain)).push(", ");
    sql.bind(from.utterance.as_ref().map(|uid| plain(&uid.0))).push(", ");
    sql.bind(open).push(", ").bind(told).push(", ").bind(json(relation)?).push(
        ") ON CONFLICT (scope, from_id, kind, to_id) DO UPDATE SET session = excluded.session, \
         utterance = excluded.utterance, open = excluded.open, told = excluded.told, \
         body = excluded.body WHERE r.body <> excluded.body RETURNING xmax::text = '0'",
    );
    count(work, &sql, applied).await
}

async fn count(work: &Transaction<'_>, sql: &Sql, applied: &mut Applied) -> Result<(), Error> {
    if let Some(row) = sql.query(work).await?.first() {
        if row.try_get(0)? {
            applied.added += 1;
        } else {
            applied.changed += 1;
        }
    }
    Ok(())
}

async fn remove(work: &Transaction<'_>, scope: &Scope, id: &str) -> Result<u64, Error> {
    let mut relations = Sql::new("DELETE FROM relation WHERE scope = ");
    relations.bind(plain(&scope.key())).push(" AND (from_id = ").bind(plain(id));
    relations.push(" OR to_id = ").bind(plain(id)).push(")");
    let mut entity = Sql::new("DELETE FROM entity WHERE scope = ");
    entity.bind(plain(&scope.key())).push(" AND id = ").bind(plain(id));
    relations.execute(work).await?;
    entity.execute(work).await
}

async fn untie(work: &Transaction<'_>, scope: &Scope, key: &RelationKey) -> Result<u64, Error> {
    let mut sql = Sql::new("DELETE FROM relation WHERE scope = ");
    sql.bind(plain(&scope.key())).push(" AND from_id = ").bind(plain(&key.from));
    sql.push(" AND kind = ").bind(fold_of(&key.kind)).push(" AND to_id = ").bind(plain(&key.to));
    sql.execute(work).await
}

/// Checks that relations with these ends have both of them.
async fn complete(work: &Transaction<'_>, scope: &Scope, ends: Vec<String>) -> Result<(), Error> {
    let mut sql = Sql::new("SELECT r.body, e.id FROM relation r CROSS JOIN LATERAL (VALUES ");
    sql.push("(r.from_id), (r.to_id)) AS e (id) WHERE r.scope = ").bind(plain(&scope.key()));
    sql.push(" AND r.from_id = ANY(").bind(ends);
    sql.push(
        ") AND NOT EXISTS (SELECT 1 FROM entity WHERE entity.scope = r.scope \
         AND entity.id = e.id) LIMIT 1",
    );
    let Some(row) = sql.query(work).await?.into_iter().next() else { return Ok(()) };
    let RelationKey { from, kind, to } = read::<Relation>(&row, 0)?.key;
    let missing: &str = row.try_get(1)?;
    Err(Error::Asked(format!(
        "the relation '{kind}' from '{from}' to '{to}' needs '{missing}', which is not there"
    )))
}
