//! Paths through the graph.
//!
//! Entry functions: [`neighbours`], [`path`]. **Never**: passes through entities or relations
//! hidden from the viewer.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{Around, DEPTH_MAX, Error, Neighbour, PATH_MAX, Step, Viewer},
    campaign, failure,
    rows::{Eyes, RELATION, RELATION_COLUMNS, entity, entity_of, json, relation},
};

/// Most entities of a neighbourhood, nearest first; stops at hubs.
const NEAR_MAX: usize = 10_000;
/// Most entities a path search visits.
const SEARCHED_MAX: usize = 50_000;

/// The neighbourhood, one query per level, no deeper than requested.
pub fn neighbours(
    db: &Connection,
    key: &str,
    around: &Around,
    viewer: &Viewer,
) -> Result<Vec<Neighbour>, Error> {
    let eyes = Eyes::from(viewer);
    let campaign = campaign(db, key)?;
    let sql = format!(
        "SELECT e.id FROM entity e WHERE e.campaign = ?3 AND {}
         AND e.key IN (SELECT value FROM json_each(?4))",
        eyes.entity("e")
    );
    let mut start = db.prepare_cached(&sql).map_err(failure)?;
    let given = params![eyes.name, eyes.knows, campaign, json(&around.ids)?];
    let start = start.query_map(given, |row| row.get(0));
    let mut level: Vec<i64> = start.and_then(Iterator::collect).map_err(failure)?;
    let mut seen: HashSet<i64> = level.iter().copied().collect();
    let most = if around.limit == 0 { NEAR_MAX } else { around.limit.min(NEAR_MAX) };
    let mut found = Vec::new();
    for depth in 1..=around.depth.clamp(1, DEPTH_MAX) {
        let beyond = beyond(db, &level, &eyes)?.into_iter().map(|(id, ..)| id);
        level = beyond.filter(|id| seen.insert(*id)).collect();
        // Adjacent rows are read in order.
        level.sort_unstable();
        named(db, &level, depth, most, &mut found)?;
        if found.len() >= most {
            break;
        }
    }
    Ok(found)
}

fn named(
    db: &Connection,
    level: &[i64],
    depth: u32,
    most: usize,
    found: &mut Vec<Neighbour>,
) -> Result<(), Error> {
    let sql = format!(
        "SELECT {} FROM entity e WHERE e.id IN (
             SELECT e.id FROM json_each(?1) l CROSS JOIN entity e ON e.id = l.value
             ORDER BY e.key LIMIT ?2
         ) ORDER BY e.name COLLATE NOCASE, e.key",
        entity_of("e")
    );
    let mut named = db.prepare_cached(&sql).map_err(failure)?;
    let given = params![json(&level)?, most.saturating_sub(found.len())];
    let named = named.query_map(given, |row| Ok(Neighbour { depth, entity: entity(row, 0)? }));
    let named: Vec<Neighbour> = named.and_then(Iterator::collect).map_err(failure)?;
    found.extend(named);
    Ok(())
}

/// A shortest path: breadth first, one query per level.
pub fn path(
    db: &Connection,
    key: &str,
    from: &str,
    to: &str,
    viewer: &Viewer,
) -> Result<Option<Vec<Step>>, Error> {
    let eyes = Eyes::from(viewer);
    let campaign = campaign(db, key)?;
    let start = |key: &str| {
        let sql = format!(
            "SELECT e.id FROM entity e WHERE e.campaign = ?3 AND e.key = ?4 AND {}",
            eyes.entity("e")
        );
        db.query_row(&sql, params![eyes.name, eyes.knows, campaign, key], |row| row.get(0))
            .optional()
            .map_err(failure)
    };
    let (Some(from), Some(to)) = (start(from)?, start(to)?) else { return Ok(None) };
    // Entity -> the relation it was reached by, and its origin.
    let mut reached: HashMap<i64, (i64, i64)> = HashMap::new();
    let mut level: Vec<i64> = vec![from];
    let mut seen = HashSet::from([from]);
    for _ in 0..PATH_MAX {
        if seen.contains(&to) || level.is_empty() || seen.len() > SEARCHED_MAX {
            break;
        }
        let mut next = Vec::new();
        for (id, relation, before) in beyond(db, &level, &eyes)? {
            if seen.insert(id) {
                reached.insert(id, (relation, before));
                next.push(id);
            }
        }
        level = next;
    }
    if !seen.contains(&to) {
        return Ok(None);
    }
    let mut way = Vec::new();
    let mut at = to;
    while let Some((relation, before)) = reached.get(&at) {
        way.push(step(db, *relation, at)?);
        at = *before;
    }
    way.reverse();
    Ok(Some(way))
}

/// Entities one relation beyond a level: entity, relation, and the entity of the level.
fn beyond(db: &Connection, level: &[i64], eyes: &Eyes) -> Result<Vec<(i64, i64, i64)>, Error> {
    let half = |own: &str, other: &str| {
        // A viewer of everything needs no check.
        let may_see = match eyes.sees_all() {
            true => String::new(),
            false => format!(
                " JOIN entity e ON e.id = r.{other} WHERE {} AND {}",
                eyes.relation(),
                eyes.entity("e")
            ),
        };
        format!(
            "SELECT r.{other}, r.id, r.{own} FROM json_each(?3) l
             CROSS JOIN relation r ON r.{own} = l.value{may_see}"
        )
    };
    let sql = format!("{} UNION ALL {}", half("src", "dst"), half("dst", "src"));
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let given = params![eyes.name, eyes.knows, json(&level)?];
    let found = found.query_map(given, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    found.and_then(Iterator::collect).map_err(failure)
}

fn step(db: &Connection, id: i64, to: i64) -> Result<Step, Error> {
    let sql = format!(
        "SELECT {RELATION}, {} FROM relation r JOIN entity a ON a.id = r.src
         JOIN entity b ON b.id = r.dst JOIN entity e ON e.id = ?2 WHERE r.id = ?1",
        entity_of("e")
    );
    let mut step = db.prepare_cached(&sql).map_err(failure)?;
    step.query_row([id, to], |row| {
        Ok(Step { relation: relation(row)?, to: entity(row, RELATION_COLUMNS)? })
    })
    .map_err(failure)
}
