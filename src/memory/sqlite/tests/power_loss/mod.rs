//! Files after a power cut: every acknowledged line exists once, in an intact file.
//!
//! The real store writes an evening while a layer below SQLite records its file operations. Then
//! the power is cut at many moments, a possible state of the disk is put into a new folder, and the
//! store is opened there. That a store without flushed commits fails here tests this test.

mod disk;
mod vfs;

use std::{collections::HashMap, env, path::Path};

use futures::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tempfile::TempDir;

use super::*;
use crate::memory::{
    Around, Change, Entity, EntityKind, Forget, Graph, Index, Item, ItemKind, Provenance, Relation,
    RelationKey, Status, Vector, Visibility,
};
use disk::{Disk, Event, Files, Promise};
use vfs::Watched;

/// Cuts for each crash of other tests.
const CUTS: usize = 20;
/// Crashes by default.
const CRASHES: usize = 3;
/// Writes of an evening; enough for several checkpoints of the log.
const ROUNDS: u64 = 60;

/// Flush policy of commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    /// The program's own setting.
    Program,
    /// Only at checkpoints of the log.
    Normal,
}

fn open(path: &Path, level: Level) -> Sqlite {
    if level == Level::Program {
        return Sqlite::open(path).unwrap();
    }
    super::super::connect::own(path).unwrap();
    let writer = connect(path).unwrap();
    writer.pragma_update(None, "synchronous", "NORMAL").unwrap();
    Sqlite::with(writer, path).unwrap()
}

fn uid(round: u64, n: u64) -> String {
    format!("r{round}-{n}")
}

/// The lines of a round: `n` below 3 stay, the others are withdrawn.
fn said(round: u64, n: u64) -> Utterance {
    let words = format!("round {round}, the {n}th thing said about the mill and its silver key ");
    Utterance {
        uid: Uid(uid(round, n)),
        session: format!("s{}", round / 20),
        turn: round + 1,
        text: words.repeat(5),
        speaker: "Anna".to_owned(),
        speaker_id: Some("7".to_owned()),
        ..Utterance::default()
    }
}

/// Writes one round, with a table's other writes, and promises acknowledged facts.
async fn round(store: &Sqlite, watched: &Watched, round: u64) {
    let campaign = key();
    let told = |promise| watched.happens(Event::Told(promise));
    let lines = (0..4).map(|n| {
        let campaign = &campaign;
        async move {
            store.append(campaign, vec![said(round, n)]).await.unwrap();
            told(Promise::Written(uid(round, n)));
        }
    });
    join_all(lines).await;
    store.withdraw(&campaign, vec![Uid(uid(round, 3))]).await.unwrap();
    told(Promise::Withdrawn(uid(round, 3)));
    let item = Item {
        id: format!("i{round}"),
        kind: ItemKind::Chunk,
        text: said(round, 0).text,
        session: Some(format!("s{}", round / 20)),
        lines: Some((round % 20 * 4 + 1, round % 20 * 4 + 2)),
        visibility: Visibility::Everyone,
        status: Status::Accepted,
        made: 1,
    };
    store.put_items(&campaign, vec![item]).await.unwrap();
    let vector = Vector { item: format!("i{round}"), values: vec![0.5; 384] };
    store.put_vectors(&campaign, "m", vec![vector]).await.unwrap();
    store.apply(&campaign, places(round)).await.unwrap();
    if round % 25 == 24 {
        // Empties the log.
        store
            .forget(&campaign, Forget::Player { id: "8".to_owned(), before: i64::MAX })
            .await
            .unwrap();
    }
}

/// A place, linked to the previous one.
fn places(round: u64) -> Vec<Change> {
    let id = |round: u64| format!("e{round}");
    let place = Entity {
        id: id(round),
        kind: EntityKind::Location,
        name: format!("Place {round}"),
        aliases: Vec::new(),
        description: "A place.".to_owned(),
        attributes: std::collections::BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: None,
    };
    let way = round.checked_sub(1).map(|before| {
        Change::Tie(Relation {
            key: RelationKey { from: id(before), kind: "leads_to".to_owned(), to: id(round) },
            attributes: std::collections::BTreeMap::new(),
            visibility: Visibility::Everyone,
            provenance: Provenance::default(),
        })
    });
    [Change::Put(place)].into_iter().chain(way).collect()
}

/// File events of an evening; the store is reopened halfway.
async fn evening(level: Level) -> Vec<Event> {
    let folder = TempDir::new().unwrap();
    let watched = Watched::new(folder.path(), &Files::new());
    let path = folder.path().join("memory.db");
    for half in [0..ROUNDS / 2, ROUNDS / 2..ROUNDS] {
        let store = open(&path, level);
        for number in half {
            round(&store, &watched, number).await;
        }
    }
    watched.into_events()
}

/// Facts acknowledged before a cut, and the lost ones.
#[derive(Debug, Default)]
struct Found {
    promised: usize,
    lost: Vec<Promise>,
}

/// Opens the remains in their own folder and checks that they are intact; returns broken promises
/// and the file events meanwhile.
async fn opened(left: &Files, promises: &[Promise]) -> (Found, Vec<Event>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("memory.db");
    let watched = Watched::new(folder.path(), left);
    // Processes share this file as memory, so the disk may hold anything for it.
    std::fs::write(folder.path().join("memory.db-shm"), [0xa5; 32_768]).unwrap();
    let store = Sqlite::open(&path).unwrap();
    whole(&path);
    let filter = LineFilter { gaps: true, ..LineFilter::default() };
    let lines = store.lines(&key(), filter.clone(), Viewer::Dm).await.unwrap();
    let mut there: HashMap<&str, bool> = HashMap::new();
    let mut seqs: HashMap<&str, u64> = HashMap::new();
    for line in &lines {
        let seq = seqs.entry(&line.said.session).or_default();
        *seq += 1;
        assert_eq!(line.seq, *seq, "numbers have no gaps");
        let twice = there.insert(&line.said.uid.0, line.withdrawn);
        assert_eq!(twice, None, "{:?} is there twice", line.said.uid);
    }
    let kept = |promise: &&Promise| match promise {
        Promise::Written(uid) => there.contains_key(uid.as_str()),
        Promise::Withdrawn(uid) => there.get(uid.as_str()) == Some(&true),
    };
    let lost = promises.iter().filter(|promise| !kept(promise)).cloned().collect();
    // A writer without an acknowledgement writes again.
    let number = lines.len() as u64 / 4;
    for again in [number.saturating_sub(1), number] {
        round(&store, &watched, again).await;
    }
    let after = store.lines(&key(), filter, Viewer::Dm).await.unwrap();
    let uids: std::collections::BTreeSet<&Uid> = after.iter().map(|line| &line.said.uid).collect();
    assert_eq!(uids.len(), after.len(), "a line is there twice");
    let around = Around { ids: vec!["e0".to_owned()], depth: 1, limit: 9 };
    store.neighbours(&key(), around, Viewer::Dm).await.unwrap();
    drop(store);
    whole(&path);
    (Found { promised: promises.len(), lost }, watched.into_events())
}

/// The file passes SQLite's check, the index matches the lines, and no step is half done.
fn whole(path: &Path) {
    let db = connect(path).unwrap();
    let checked: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
    let dangling: u32 = db
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(dangling, 0);
    for table in ["line_text", "item_text"] {
        let check = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
        db.execute_batch(&check).unwrap();
    }
    let steps: usize =
        db.query_row("SELECT count(*) FROM migration", [], |row| row.get(0)).unwrap();
    assert_eq!(steps, migrate::STEPS.len());
}

/// Cuts the power `cuts` times, half of them just after an acknowledgement; every fourth time again
/// during recovery.
async fn cut(level: Level, cuts: usize, seed: u64) -> Found {
    let events = evening(level).await;
    let mut dice = StdRng::seed_from_u64(seed);
    let told: Vec<usize> =
        (1..=events.len()).filter(|after| matches!(events[after - 1], Event::Told(_))).collect();
    let mut moments: Vec<usize> = (0..cuts)
        .map(|cut| match cut % 2 {
            0 => dice.random_range(0..=events.len()),
            _ => told[dice.random_range(0..told.len())],
        })
        .collect();
    moments.sort_unstable();
    let (mut disk, mut promises, mut all) = (Disk::default(), Vec::new(), Found::default());
    let mut past = 0;
    for (number, moment) in moments.into_iter().enumerate() {
        for event in &events[past..moment] {
            disk.happens(event);
            promises.extend(promise(event));
        }
        past = moment;
        let left = disk.left(&mut dice);
        let (found, recovery) = opened(&left, &promises).await;
        all.lost.extend(found.lost);
        all.promised += found.promised;
        if number % 4 == 0 {
            let again = dice.random_range(0..=recovery.len());
            let mut disk = Disk::with(&left);
            let mut promises = promises.clone();
            for event in &recovery[..again] {
                disk.happens(event);
                promises.extend(promise(event));
            }
            let (found, _) = opened(&disk.left(&mut dice), &promises).await;
            all.lost.extend(found.lost);
            all.promised += found.promised;
        }
    }
    all
}

fn promise(event: &Event) -> Option<Promise> {
    match event {
        Event::Told(promise) => Some(promise.clone()),
        _ => None,
    }
}

#[expect(clippy::disallowed_methods, reason = "the environment sets how often the power goes")]
fn cuts() -> usize {
    let crashes = env::var("GLYPHOXA_TEST_CRASHES").map_or(CRASHES, |it| it.parse().unwrap());
    crashes * CUTS
}

#[tokio::test]
async fn acknowledged_lines_survive_power_loss() {
    let found = cut(Level::Program, cuts(), 1).await;
    println!("{} cuts, {} promises, {} lost", cuts(), found.promised, found.lost.len());
    assert!(found.promised > 0 && found.lost.is_empty(), "{:?}", found.lost);
}

/// Flushes only at checkpoints: the remains are intact but lack acknowledged lines.
#[tokio::test]
async fn unflushed_log_loses_acknowledged_lines() {
    let found = cut(Level::Normal, CUTS, 2).await;
    println!("{CUTS} cuts, {} promises, {} lost", found.promised, found.lost.len());
    assert!(!found.lost.is_empty());
}
