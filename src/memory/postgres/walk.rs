//! Paths through the graph in PostgreSQL.
//!
//! Entry: `Postgres::way`, `Postgres::near`. They search level by level and read each entity's
//! relations once, where a recursive query would read them once per path. **Never**: pass through
//! entities or relations hidden from the viewer.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::{IsolationLevel, Row};

use super::{
    sql::{Sql, plain, read},
    store::Postgres,
};
use crate::memory::{Around, DEPTH_MAX, Error, Neighbour, PATH_MAX, Scope, Step, Viewer};

/// How each entity was reached: the previous one and the relation (ends and kind); `None`: a start.
type Reached = HashMap<String, Option<(String, [String; 3])>>;

/// Most entities of a neighbourhood.
const NEAR_MAX: usize = 10_000;

impl Postgres {
    /// Nearest entities first: one query per level, until there are enough.
    pub(super) async fn near(
        &self,
        scope: &Scope,
        around: Around,
        viewer: Viewer,
    ) -> Result<Vec<Neighbour>, Error> {
        let client = self.client().await?;
        let ids: Vec<String> = around.ids.iter().map(|id| plain(id)).collect();
        let mut start = Sql::new("SELECT e.id FROM entity e WHERE e.scope = ");
        start.bind(plain(&scope.key())).push(" AND e.id = ANY(").bind(ids).push(")");
        let rows = start.entities_for("e", &viewer).query(&client).await?;
        let mut level: Vec<String> =
            rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let mut seen: HashSet<String> = level.iter().cloned().collect();
        let most = if around.limit == 0 { NEAR_MAX } else { around.limit.min(NEAR_MAX) };
        let mut near: Vec<(String, i32)> = Vec::new();
        for depth in 1..=i32::try_from(around.depth.clamp(1, DEPTH_MAX)).unwrap_or(1) {
            let missing = most - near.len();
            if missing == 0 || level.is_empty() {
                break;
            }
            // Some may be known already.
            let limit = missing + seen.len();
            level = beyond(&client, scope, level, &viewer, limit).await?;
            level.retain(|id| seen.insert(id.clone()));
            level.truncate(missing);
            near.extend(level.iter().map(|id| (id.clone(), depth)));
        }
        read_all(&client, scope, near).await
    }

    /// A shortest path; among equals, the one whose relations have the first keys.
    pub(super) async fn way(
        &self,
        scope: &Scope,
        from: &str,
        to: &str,
        viewer: Viewer,
    ) -> Result<Option<Vec<Step>>, Error> {
        let mut client = self.client().await?;
        let reading = client.build_transaction().read_only(true);
        let work = reading.isolation_level(IsolationLevel::RepeatableRead).start().await?;
        let (from, to) = (plain(from), plain(to));
        let mut seen = Sql::new("SELECT e.id FROM entity e WHERE e.scope = ");
        seen.bind(plain(&scope.key())).push(" AND e.id = ").bind(from.clone());
        if seen.entities_for("e", &viewer).query(&work).await?.is_empty() {
            return Ok(None);
        }
        let mut reached = Reached::from([(from.clone(), None)]);
        let mut edge = vec![from];
        for _ in 0..PATH_MAX {
            if reached.contains_key(&to) || edge.is_empty() {
                break;
            }
            edge = outwards(&work, scope, edge, &viewer, &mut reached).await?;
        }
        if !reached.contains_key(&to) {
            return Ok(None);
        }
        let mut steps = Vec::new();
        let mut at = &to;
        while let Some(Some((before, key))) = reached.get(at) {
            steps.push(step(&work, scope, key, at).await?);
            at = before;
        }
        steps.reverse();
        Ok(Some(steps))
    }
}

/// Entities one relation beyond a level, first ids first.
async fn beyond(
    client: &Client,
    scope: &Scope,
    level: Vec<String>,
    viewer: &Viewer,
    limit: usize,
) -> Result<Vec<String>, Error> {
    let mut sql = Sql::new("SELECT o.id FROM (");
    for (near, far) in [("from_id", "to_id"), ("to_id", "from_id")] {
        let union = if near == "from_id" { "" } else { " UNION " };
        sql.push(&format!("{union}SELECT r.{far} COLLATE \"C\" AS id FROM relation r WHERE "));
        // SELECT hides their number, so one plan by index serves all levels.
        sql.push(&format!("r.{near} = ANY((SELECT "))
            .bind(level.clone())
            .push("::text[])::text[])");
        sql.push(" AND r.scope = ").bind(plain(&scope.key())).relations_for(viewer);
    }
    sql.push(" ORDER BY id) far CROSS JOIN LATERAL (SELECT o.id FROM entity o WHERE o.id = ");
    sql.push("far.id COLLATE \"default\" AND o.scope = ").bind(plain(&scope.key()));
    // OFFSET makes them be checked one by one, until there are enough.
    sql.entities_for("o", viewer).push(" OFFSET 0) o ORDER BY far.id LIMIT ");
    sql.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    Ok(sql.query(client).await?.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// The entities with these ids and distances, nearest first, then by name.
async fn read_all(
    client: &Client,
    scope: &Scope,
    near: Vec<(String, i32)>,
) -> Result<Vec<Neighbour>, Error> {
    let (ids, depths): (Vec<String>, Vec<i32>) = near.into_iter().unzip();
    let mut sql = Sql::new("SELECT e.body, n.depth FROM unnest(");
    sql.bind(ids).push("::text[], ").bind(depths).push("::int[]) AS n (id, depth) CROSS JOIN ");
    sql.push("LATERAL (SELECT * FROM entity e WHERE e.id = n.id AND e.scope = ");
    sql.bind(plain(&scope.key())).push(" OFFSET 0) e ");
    sql.push("ORDER BY n.depth, e.names[1] COLLATE \"C\", e.id COLLATE \"C\"");
    let neighbour = |row: &Row| {
        let depth = u32::try_from(row.try_get::<_, i32>(1)?).unwrap_or(DEPTH_MAX);
        Ok(Neighbour { entity: read(row, 0)?, depth })
    };
    sql.query(client).await?.iter().map(neighbour).collect()
}

async fn outwards(
    work: &Transaction<'_>,
    scope: &Scope,
    edge: Vec<String>,
    viewer: &Viewer,
    reached: &mut Reached,
) -> Result<Vec<String>, Error> {
    let mut sql = Sql::new("");
    for (near, far) in [("from_id", "to_id"), ("to_id", "from_id")] {
        let union = if near == "from_id" { "" } else { " UNION ALL " };
        sql.push(&format!(
            "{union}SELECT r.{near}, o.id, r.from_id, r.kind, r.to_id FROM relation r \
             JOIN entity o ON o.scope = r.scope AND o.id = r.{far} WHERE r.{near} = ANY("
        ));
        sql.bind(edge.clone()).push(") AND r.scope = ").bind(plain(&scope.key()));
        sql.relations_for(viewer).entities_for("o", viewer);
    }
    sql.push(" ORDER BY 3, 4, 5");
    let mut next = Vec::new();
    for row in sql.query(work).await? {
        let (before, id): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        if !reached.contains_key(&id) {
            let key = [row.try_get(2)?, row.try_get(3)?, row.try_get(4)?];
            reached.insert(id.clone(), Some((before, key)));
            next.push(id);
        }
    }
    Ok(next)
}

async fn step(
    work: &Transaction<'_>,
    scope: &Scope,
    [from, kind, to]: &[String; 3],
    at: &str,
) -> Result<Step, Error> {
    let mut sql = Sql::new("SELECT r.body, e.body FROM relation r JOIN entity e ");
    sql.push("ON e.scope = r.scope AND e.id = ").bind(at.to_owned());
    sql.push(" WHERE r.scope = ").bind(plain(&scope.key()));
    sql.push(" AND r.from_id = ").bind(from.clone()).push(" AND r.kind = ").bind(kind.clone());
    sql.push(" AND r.to_id = ").bind(to.clone());
    let rows = sql.query(work).await?;
    let row = rows.first().ok_or_else(|| Error::Damaged(format!("'{at}' is gone")))?;
    Ok(Step { relation: read(row, 0)?, to: read(row, 1)? })
}
