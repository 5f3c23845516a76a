//! Vectors and exact search among them.
//!
//! Entry function: [`nearest`]. **Never**: uses a matrix in memory that is older than the rows.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{Error, ItemHit, Vector, VectorQuery, Viewer},
    campaign, failure,
    rows::{Eyes, ITEM, item, json},
};

/// Campaigns with vectors in memory; each takes 1.5 kB per item at 384 dimensions.
const MATRICES_MAX: usize = 4;

/// Items read at once.
const CHUNK: usize = 64;

/// A campaign's vectors of one model, each of length 1.
pub struct Matrix {
    campaign: i64,
    model: String,
    generation: i64,
    length: usize,
    items: Vec<i64>,
    values: Vec<f32>,
}

/// Vectors in memory, most recently used last.
pub type Matrices = Arc<Mutex<Vec<Arc<Matrix>>>>;

/// Writes vectors of existing items over older ones; returns their number.
pub fn put(db: &Connection, key: &str, model: &str, vectors: &[Vector]) -> Result<u64, Error> {
    let campaign = campaign(db, key)?;
    let sql = "SELECT length(v.value) / 4 FROM item i JOIN vector v ON v.item = i.id
               WHERE i.campaign = ? AND v.model = ? LIMIT 1";
    let known: Option<usize> = db
        .query_row(sql, params![campaign, model], |row| row.get(0))
        .optional()
        .map_err(failure)?;
    let length = known.or_else(|| Some(vectors.first()?.values.len())).unwrap_or_default();
    let mut put = db
        .prepare_cached(
            "INSERT INTO vector (item, model, value)
             SELECT id, ?3, ?4 FROM item WHERE campaign = ?1 AND key = ?2
             ON CONFLICT (item, model) DO UPDATE SET value = excluded.value",
        )
        .map_err(failure)?;
    let mut written = 0;
    for vector in vectors {
        if vector.values.len() != length || !is_usable(&vector.values) {
            let given = vector.values.len();
            return Err(Error::Asked(format!(
                "the vector of '{}' has {given} numbers, or none that count ('{model}' has {length})",
                vector.item
            )));
        }
        let bytes: Vec<u8> = vector.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        written += put.execute(params![campaign, vector.item, model, bytes]).map_err(failure)?;
    }
    touch(db, campaign)?;
    Ok(u64::try_from(written).unwrap_or(u64::MAX))
}

fn is_usable(values: &[f32]) -> bool {
    values.iter().all(|value| value.is_finite()) && norm(values) > 0.0
}

fn norm(values: &[f32]) -> f32 {
    values.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// Removes the vectors of other models.
pub fn keep(db: &Connection, key: &str, model: &str) -> Result<u64, Error> {
    let campaign = campaign(db, key)?;
    let sql = "DELETE FROM vector WHERE model <> ?
               AND item IN (SELECT id FROM item WHERE campaign = ?)";
    let gone = db.execute(sql, params![model, campaign]).map_err(failure)?;
    touch(db, campaign)?;
    Ok(u64::try_from(gone).unwrap_or(u64::MAX))
}

/// Makes all caches of a campaign stale.
fn touch(db: &Connection, campaign: i64) -> Result<(), Error> {
    let sql = "UPDATE campaign SET generation = generation + 1 WHERE id = ?";
    db.execute(sql, [campaign]).map(drop).map_err(failure)
}

/// The nearest items, best first.
pub fn nearest(
    db: &Connection,
    key: &str,
    query: &VectorQuery,
    viewer: &Viewer,
    matrices: &Matrices,
) -> Result<Vec<ItemHit>, Error> {
    let campaign = campaign(db, key)?;
    let matrix = matrix(db, campaign, &query.model, matrices)?;
    let length = norm(&query.values);
    if matrix.length == 0 || query.values.len() != matrix.length || !is_usable(&query.values) {
        return Ok(Vec::new());
    }
    let asked: Vec<f32> = query.values.iter().map(|value| value / length).collect();
    let mut scores: Vec<(i64, f32)> = matrix
        .items
        .iter()
        .zip(matrix.values.chunks_exact(matrix.length))
        .map(|(item, values)| (*item, dot(values, &asked)))
        .collect();
    scores.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    let eyes = Eyes::from(viewer);
    // Reads the best until enough are visible; CROSS JOIN keeps their order.
    let sql = format!(
        "SELECT {ITEM}, c.key AS place FROM json_each(?3) c CROSS JOIN item i ON i.id = c.value
         LEFT JOIN session s ON s.id = i.session WHERE i.campaign = ?2 AND {} AND {}
         AND (?4 = '[]' OR i.kind IN (SELECT value FROM json_each(?4)))",
        eyes.counting(),
        eyes.item()
    );
    let mut seen = db.prepare_cached(&sql).map_err(failure)?;
    let kinds = json(&query.kinds)?;
    let mut found = Vec::new();
    for some in scores.chunks(CHUNK) {
        let ids: Vec<i64> = some.iter().map(|(id, _)| *id).collect();
        let given = params![eyes.name, campaign, json(&ids)?, kinds];
        let mut rows = seen.query(given).map_err(failure)?;
        while let Some(row) = rows.next().map_err(failure)? {
            let place: usize = row.get("place").map_err(failure)?;
            let score = some.get(place).map_or(0.0, |(_, score)| f64::from(*score));
            found.push(ItemHit { item: item(row).map_err(failure)?, score });
            if found.len() == query.limit {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// Eight sums at once, which the compiler vectorises.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((left, left_rest), (right, right_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0_f32; 8];
    for ([a0, a1, a2, a3, a4, a5, a6, a7], [b0, b1, b2, b3, b4, b5, b6, b7]) in
        left.iter().zip(right)
    {
        let [s0, s1, s2, s3, s4, s5, s6, s7] = &mut sums;
        *s0 += a0 * b0;
        *s1 += a1 * b1;
        *s2 += a2 * b2;
        *s3 += a3 * b3;
        *s4 += a4 * b4;
        *s5 += a5 * b5;
        *s6 += a6 * b6;
        *s7 += a7 * b7;
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    rest + sums.iter().sum::<f32>()
}

/// A campaign's vectors, from memory if still current.
fn matrix(
    db: &Connection,
    campaign: i64,
    model: &str,
    matrices: &Matrices,
) -> Result<Arc<Matrix>, Error> {
    let sql = "SELECT generation FROM campaign WHERE id = ?";
    let generation = db.query_row(sql, [campaign], |row| row.get(0)).optional().map_err(failure)?;
    let generation: i64 = generation.unwrap_or_default();
    let mine = |held: &Arc<Matrix>| held.campaign == campaign && held.model == model;
    {
        let mut held = matrices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = held.iter().position(mine) {
            let matrix = held.remove(at);
            if matrix.generation == generation {
                held.push(Arc::clone(&matrix));
                return Ok(matrix);
            }
        }
    }
    let matrix = Arc::new(read(db, campaign, model, generation)?);
    let mut held = matrices.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|held| !mine(held));
    if held.len() >= MATRICES_MAX {
        held.remove(0);
    }
    held.push(Arc::clone(&matrix));
    Ok(matrix)
}

fn read(db: &Connection, campaign: i64, model: &str, generation: i64) -> Result<Matrix, Error> {
    let mut matrix = Matrix {
        campaign,
        model: model.to_owned(),
        generation,
        length: 0,
        items: Vec::new(),
        values: Vec::new(),
    };
    let mut all = db
        .prepare_cached(
            "SELECT v.item, v.value FROM item i JOIN vector v ON v.item = i.id
             WHERE i.campaign = ? AND v.model = ?",
        )
        .map_err(failure)?;
    let mut rows = all.query(params![campaign, model]).map_err(failure)?;
    while let Some(row) = rows.next().map_err(failure)? {
        let bytes = row.get_ref(1).map_err(failure)?;
        let bytes = bytes.as_blob().map_err(|error| Error::Damaged(error.to_string()))?;
        let (numbers, _) = bytes.as_chunks::<4>();
        if matrix.length == 0 {
            matrix.length = numbers.len();
        }
        let values: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        let length = norm(&values);
        if values.len() == matrix.length && length > 0.0 {
            matrix.items.push(row.get(0).map_err(failure)?);
            matrix.values.extend(values.iter().map(|value| value / length));
        }
    }
    Ok(matrix)
}
