//! Items and their vectors in PostgreSQL.
//!
//! Entry: [`Index`] of [`Postgres`]. Search by meaning is exact: it reads the vectors of one model
//! within one scope. **Never**: compares vectors of different lengths.

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::{
    removal::uncover,
    sql::{
        Sql, any_of, asked, json, label, lexeme, lexemes, number, plain, read, scope_word, told,
    },
    store::{Postgres, within},
};
use crate::memory::{
    Error, Index, Item, ItemFilter, ItemHit, ItemKind, ItemQuery, Scope, StoreFuture, Vector,
    VectorQuery, Viewer,
};

/// Multiple of the limit searched before everything is read: an NPC may not see all.
const NEAREST: usize = 10;

impl Index for Postgres {
    fn put_items<'a>(&'a self, scope: &'a Scope, items: Vec<Item>) -> StoreFuture<'a, u64> {
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            let mut written = 0;
            for item in &items {
                written += u64::from(put(&work, scope, item).await?);
            }
            work.commit().await?;
            Ok(written)
        }))
    }

    fn items<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ItemFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Item>> {
        Box::pin(within(async move {
            let mut sql = Sql::new("SELECT i.body FROM item i WHERE i.scope = ");
            sql.bind(plain(&scope.key())).items_for(&viewer);
            of_kinds(&mut sql, &filter.kinds);
            if let Some(ids) = &filter.ids {
                let ids: Vec<String> = ids.iter().map(|id| plain(id)).collect();
                sql.push(" AND i.id = ANY(").bind(ids).push(")");
            }
            if let Some(status) = filter.status {
                sql.push(" AND i.status = ").bind(label(&status));
            }
            if let Some(session) = &filter.session {
                sql.push(" AND i.session = ").bind(plain(session));
            }
            if let Some(model) = &filter.without {
                sql.push(
                    " AND i.status <> 'rejected' AND NOT EXISTS (SELECT 1 FROM item_vector v \
                     WHERE v.scope = i.scope AND v.item = i.id AND v.model = ",
                );
                sql.bind(plain(model)).push(")");
            }
            sql.push(" ORDER BY i.made, i.id").limit(filter.limit);
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(|row| read(row, 0)).collect()
        }))
    }

    fn put_vectors<'a>(
        &'a self,
        scope: &'a Scope,
        model: &'a str,
        vectors: Vec<Vector>,
    ) -> StoreFuture<'a, u64> {
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            let length = length_of(&work, scope, model).await?;
            let length = length.or_else(|| vectors.first().map(|it| it.values.len()));
            let mut written = 0;
            for vector in vectors {
                let usable = vector.values.iter().all(|it| it.is_finite())
                    && vector.values.iter().any(|it| *it != 0.0);
                if !usable || Some(vector.values.len()) != length {
                    let given = vector.values.len();
                    let wanted = length.unwrap_or_default();
                    return Err(Error::Asked(format!(
                        "a vector of {given} numbers is none of '{model}' ({wanted} numbers, not \
                         all of them 0)"
                    )));
                }
                let mut sql = Sql::new(
                    "INSERT INTO item_vector (scope, item, model, vec) \
                     SELECT i.scope, i.id, ",
                );
                sql.bind(plain(model)).push("::text, ").bind(vector.values);
                sql.push("::real[]::vector FROM item i WHERE i.scope = ");
                sql.bind(plain(&scope.key())).push(" AND i.id = ").bind(plain(&vector.item));
                sql.push(
                    " FOR SHARE ON CONFLICT (scope, model, item) DO UPDATE SET vec = excluded.vec",
                );
                written += sql.execute(&work).await?;
            }
            work.commit().await?;
            Ok(written)
        }))
    }

    fn nearest<'a>(
        &'a self,
        scope: &'a Scope,
        query: VectorQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>> {
        Box::pin(within(async move {
            // A zero vector has no neighbours.
            if query.values.iter().all(|value| *value == 0.0) {
                return Ok(Vec::new());
            }
            let client = self.client().await?;
            // Usually the viewer may see enough of the nearest few.
            let few = nearest(scope, &query, &viewer, query.limit.saturating_mul(NEAREST));
            let mut rows = few.query(&client).await?;
            if query.limit > rows.len() {
                rows = nearest(scope, &query, &viewer, 0).query(&client).await?;
            }
            rows.iter().map(found).collect()
        }))
    }

    fn search_items<'a>(
        &'a self,
        scope: &'a Scope,
        query: ItemQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>> {
        Box::pin(within(async move {
            let words = asked(&query.text);
            if words.is_empty() {
                return Ok(Vec::new());
            }
            let wanted = any_of(&words);
            let inside = format!("{} & ({wanted})", lexeme(&scope_word(scope)));
            let mut sql = Sql::new("SELECT i.body, ts_rank(i.words, ");
            sql.bind(wanted)
                .push("::text::tsquery)::float8 AS score FROM item i WHERE i.words @@ ");
            sql.bind(inside).push("::text::tsquery AND i.status <> 'rejected' AND i.scope = ");
            sql.bind(plain(&scope.key())).items_for(&viewer);
            of_kinds(&mut sql, &query.kinds);
            if let Some(session) = &query.session {
                sql.push(" AND i.session = ").bind(plain(session));
            }
            sql.push(" ORDER BY score DESC, i.made DESC, i.id").limit(query.limit);
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(found).collect()
        }))
    }

    fn keep_vectors_of<'a>(&'a self, scope: &'a Scope, model: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(within(async move {
            let mut sql = Sql::new("DELETE FROM item_vector WHERE scope = ");
            sql.bind(plain(&scope.key())).push(" AND model <> ").bind(plain(model));
            sql.execute(&self.client().await?).await
        }))
    }
}

/// The nearest visible items among the nearest `few` (0: all). Distances come first; then items are
/// checked for visibility one by one until there are enough. OFFSET enforces that order.
fn nearest(scope: &Scope, query: &VectorQuery, viewer: &Viewer, few: usize) -> Sql {
    let mut sql = Sql::new("SELECT i.body, 1 - n.distance FROM (SELECT v.item, v.vec <=> (SELECT ");
    sql.bind(query.values.clone()).push("::real[]::vector) AS distance FROM item_vector v WHERE ");
    // All vectors of a model have one length.
    sql.push("(SELECT vector_dims(v.vec) FROM item_vector v WHERE ");
    of_model(&mut sql, scope, query);
    sql.push(" LIMIT 1) = ").bind(i32::try_from(query.values.len()).unwrap_or(i32::MAX));
    sql.push(" AND ");
    of_model(&mut sql, scope, query);
    if !query.kinds.is_empty() {
        sql.push(" AND v.item IN (SELECT i.id FROM item i WHERE i.scope = ");
        sql.bind(plain(&scope.key()));
        of_kinds(&mut sql, &query.kinds);
        sql.push(")");
    }
    sql.push(" ORDER BY distance").limit(few);
    sql.push(") n CROSS JOIN LATERAL (SELECT i.body FROM item i WHERE i.id = n.item AND ");
    sql.push("i.status <> 'rejected' AND i.scope = ").bind(plain(&scope.key())).items_for(viewer);
    sql.push(" OFFSET 0) i ORDER BY n.distance, n.item").limit(query.limit);
    sql
}

/// Vectors `v` of the model in the query.
fn of_model(sql: &mut Sql, scope: &Scope, query: &VectorQuery) {
    sql.push("v.model = ").bind(plain(&query.model));
    sql.push(" AND v.scope = ").bind(plain(&scope.key()));
}

/// `AND`: of these kinds, if any. They are literals, because the facts' own index is not used for a
/// kind in a parameter.
fn of_kinds(sql: &mut Sql, kinds: &[ItemKind]) {
    if !kinds.is_empty() {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{}'", label(kind))).collect();
        sql.push(&format!(" AND i.kind IN ({})", kinds.join(", ")));
    }
}

fn found(row: &Row) -> Result<ItemHit, Error> {
    Ok(ItemHit { item: read(row, 0)?, score: row.try_get(1)? })
}

/// Writes an item if its lines exist; returns whether it did.
async fn put(work: &Transaction<'_>, scope: &Scope, item: &Item) -> Result<bool, Error> {
    if !stands(work, scope, item).await? {
        return Ok(false);
    }
    let mut before = Sql::new(
        "SELECT kind, session, first_seq, last_seq, body::json ->> 'text' FROM item WHERE scope = ",
    );
    before.bind(plain(&scope.key())).push(" AND id = ").bind(plain(&item.id)).push(" FOR UPDATE");
    let before = before.query(work).await?;
    let (open, told) = told(&item.visibility);
    let (first, last) = ends(item)?;
    let clean = Item { text: plain(&item.text), ..item.clone() };
    let mut sql = Sql::new(
        "INSERT INTO item (scope, id, kind, session, first_seq, last_seq, status, made, open, \
         told, body, words, heard) VALUES (",
    );
    sql.bind(plain(&scope.key())).push(", ").bind(plain(&item.id)).push(", ");
    sql.bind(label(&item.kind)).push(", ").bind(item.session.as_deref().map(plain)).push(", ");
    sql.bind(first).push(", ").bind(last).push(", ").bind(label(&item.status)).push(", ");
    sql.bind(item.made).push(", ").bind(open).push(", ").bind(told).push(", ");
    sql.bind(json(&clean)?).push(", array_to_tsvector(").bind(lexemes(scope, &item.text));
    sql.push("), ARRAY(SELECT name FROM utterance u CROSS JOIN unnest(u.heard) AS name ");
    sql.push("WHERE u.scope = ").bind(plain(&scope.key())).push(" AND u.session = ");
    sql.bind(item.session.as_deref().map(plain)).push(" AND u.seq BETWEEN ").bind(first);
    sql.push(" AND ").bind(last).push(" GROUP BY name HAVING count(DISTINCT u.seq) = ");
    sql.bind(first.zip(last).map(|(first, last)| last - first + 1));
    sql.push(
        ")) ON CONFLICT (scope, id) DO UPDATE SET kind = excluded.kind, \
         session = excluded.session, first_seq = excluded.first_seq, last_seq = excluded.last_seq, \
         status = excluded.status, made = excluded.made, open = excluded.open, \
         told = excluded.told, body = excluded.body, words = excluded.words, heard = excluded.heard",
    );
    sql.execute(work).await?;
    if let Some(row) = before.first()
        && row.try_get::<_, &str>(4)? != clean.text
    {
        let mut vectors = Sql::new("DELETE FROM item_vector WHERE scope = ");
        vectors.bind(plain(&scope.key())).push(" AND item = ").bind(plain(&item.id));
        vectors.execute(work).await?;
    }
    uncover(work, scope, &before).await?;
    if item.kind == ItemKind::Chunk {
        cover(work, scope, item).await?;
    }
    Ok(true)
}

async fn length_of(
    work: &Transaction<'_>,
    scope: &Scope,
    model: &str,
) -> Result<Option<usize>, Error> {
    let mut sql = Sql::new("SELECT vector_dims(vec) FROM item_vector WHERE scope = ");
    sql.bind(plain(&scope.key())).push(" AND model = ").bind(plain(model)).push(" LIMIT 1");
    let rows = sql.query(work).await?;
    let length: Option<i32> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(length.and_then(|length| usize::try_from(length).ok()))
}

fn ends(item: &Item) -> Result<(Option<i64>, Option<i64>), Error> {
    let Some((first, last)) = item.lines else { return Ok((None, None)) };
    Ok((Some(number(first)?), Some(number(last)?)))
}

/// True if all lines of an item exist; locks them until the end of `work`.
async fn stands(work: &Transaction<'_>, scope: &Scope, item: &Item) -> Result<bool, Error> {
    let (Some(session), (Some(first), Some(last))) = (&item.session, ends(item)?) else {
        return Ok(item.lines.is_none());
    };
    let mut sql = Sql::new("SELECT NOT u.withdrawn FROM utterance u WHERE u.scope = ");
    sql.bind(plain(&scope.key())).push(" AND u.session = ").bind(plain(session));
    sql.push(" AND u.seq BETWEEN ").bind(first).push(" AND ").bind(last).push(" FOR SHARE");
    let mut there = 0;
    for row in sql.query(work).await? {
        if !row.try_get::<_, bool>(0)? {
            return Ok(false);
        }
        there += 1;
    }
    Ok(there > 0 && last - first + 1 == there)
}

async fn cover(work: &Transaction<'_>, scope: &Scope, chunk: &Item) -> Result<(), Error> {
    let (Some(session), (Some(first), Some(last))) = (&chunk.session, ends(chunk)?) else {
        return Ok(());
    };
    let mut sql = Sql::new("UPDATE utterance SET indexed = true WHERE NOT indexed AND scope = ");
    sql.bind(plain(&scope.key())).push(" AND session = ").bind(plain(session));
    sql.push(" AND seq BETWEEN ").bind(first).push(" AND ").bind(last);
    sql.execute(work).await?;
    Ok(())
}
