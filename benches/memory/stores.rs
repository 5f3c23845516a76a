//! Stores to be measured, and how they are filled.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use glyphoxa::measure::{CampaignKey, MemoryStore, Postgres, Scope, Sqlite};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    corpus::{self, Lines, Vocabulary, World},
    support::{
        figures::rounded,
        postgres::Database,
        process::{cpu, cpu_of, resident_mb},
        skipped::skipped,
    },
};

/// Lines that are written at once.
const BATCH: usize = 2_000;
/// Lines of a step of loading, after which the other campaigns grow too.
const STEP: u64 = 100_000;
/// Other campaigns in the same store.
const OTHERS: usize = 4;
/// Factor by which each of them is smaller.
const SMALLER: u64 = 100;
/// Changes and vectors that are written at once.
const CHANGES: usize = 2_000;

/// Folder of the stores, and whether they stay.
pub struct Place {
    /// A folder of the disk that is measured.
    folder: PathBuf,
    /// True if it and the databases are left for the next run.
    keep: bool,
    /// Removed with this.
    _own: Option<TempDir>,
}

impl Place {
    /// The folder that was given, or one for this run.
    pub fn new(keep: Option<&str>) -> Self {
        let own = keep.is_none().then(|| TempDir::new().expect("a folder"));
        let folder = own.as_ref().map(|own| own.path().to_owned());
        let folder = folder.or_else(|| keep.map(PathBuf::from)).expect("one of them");
        fs::create_dir_all(&folder).expect("a folder");
        Self { folder, keep: keep.is_some(), _own: own }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Engine of a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// One file.
    Sqlite,
    /// A server that `GLYPHOXA_TEST_POSTGRES` names.
    Postgres,
}

impl Engine {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A filled store.
pub struct Filled {
    /// The store.
    pub store: Arc<dyn MemoryStore>,
    /// The campaign with nearly all of its lines.
    pub scope: Scope,
    /// Number of lines in that campaign.
    pub lines: u64,
    /// Size of its world.
    pub world: World,
    /// Its database, if it is to be removed.
    database: Option<Database>,
}

impl Filled {
    /// Opens a store with `lines` lines, which are written where they are not there yet. `None`:
    /// there is no such server.
    pub async fn open(
        engine: Engine,
        place: &Place,
        words: &Vocabulary,
        lines: u64,
    ) -> Option<Self> {
        let (store, database): (Arc<dyn MemoryStore>, _) = match engine {
            Engine::Sqlite => {
                let path = place.folder.join(format!("bench-{lines}.db"));
                (Arc::new(Sqlite::open(&path).expect("a file")), None)
            }
            Engine::Postgres => {
                let database = database(lines)?;
                database.create().await;
                let store = Postgres::open(&database.url().parse().expect("an address")).await;
                (Arc::new(store.expect("a server")), Some(database))
            }
        };
        let scope = Scope::local(CampaignKey("large".to_owned()));
        let mut filled = Self { store, scope, lines, world: World::of(lines), database };
        let before = filled.store.counts(&filled.scope).await.expect("counts").lines;
        let cpu_before = cpu_of("self");
        let began = Instant::now();
        if before < lines {
            filled.load(words, before).await;
        }
        let seconds = began.elapsed().as_secs_f64();
        if let Some(database) = &filled.database {
            // Its own autovacuum does this in time.
            database.ask("VACUUM (ANALYZE)").await;
        }
        let health = filled.store.health().await.expect("it answers");
        let line = json!({
            "case": "load", "store": engine.name(), "engine": health.engine, "lines": lines,
            "loaded": lines - before.min(lines), "seconds": rounded(seconds),
            "cpu_s": rounded((cpu_of("self") - cpu_before).as_secs_f64()),
            "mb": rounded(health.bytes as f64 / 1e6), "resident_mb": rounded(resident_mb("self")),
        });
        super::print(&line);
        if place.keep {
            filled.database = None;
        }
        Some(filled)
    }

    async fn load(&self, words: &Vocabulary, before: u64) {
        let mut from = before;
        while from < self.lines {
            let count = STEP.min(self.lines - from);
            self.append(&self.scope, words, from, count).await;
            for other in 0..OTHERS {
                let key = Scope::local(CampaignKey(format!("small-{other}")));
                let there = self.store.counts(&key).await.expect("counts").lines;
                self.append(&key, words, there, count / SMALLER).await;
            }
            from += count;
            eprintln!("{from} lines");
        }
        if before > 0 {
            return;
        }
        let world = corpus::world(words, self.world);
        for part in world.chunks(CHANGES) {
            self.store.apply(&self.scope, part.to_vec()).await.expect("a part of the world");
        }
        for part in corpus::chunks(words, self.world).chunks(500) {
            let written = self.store.put_items(&self.scope, part.to_vec()).await;
            assert_eq!(written.expect("chunks"), part.len() as u64, "chunks of lines there are");
        }
        for part in corpus::vectors(self.world).chunks(500) {
            let model = corpus::MODEL;
            self.store.put_vectors(&self.scope, model, part.to_vec()).await.expect("vectors");
        }
    }

    async fn append(&self, key: &Scope, words: &Vocabulary, from: u64, count: u64) {
        let mut lines = Lines::new(words, &key.campaign.0, from);
        let mut left = usize::try_from(count).expect("it fits");
        while left > 0 {
            let batch: Vec<_> = lines.by_ref().take(BATCH.min(left)).collect();
            left -= batch.len();
            self.store.append(key, batch).await.expect("a batch");
        }
    }

    /// Removes what is not to be kept.
    pub async fn close(self) {
        drop(self.store);
        if let Some(database) = self.database {
            database.remove().await;
        }
    }
}

/// The database with so many lines.
fn database_of(lines: u64) -> Option<Database> {
    Database::named(&format!("glyphoxa_bench_{lines}"))
}

/// Like [`database_of`], with a report on stderr when it is missing.
fn database(lines: u64) -> Option<Database> {
    let found = database_of(lines);
    if found.is_none() {
        skipped("memory in PostgreSQL", "GLYPHOXA_TEST_POSTGRES names no server");
    }
    found
}

/// The floor that appends are read against: 4 KiB at the end of a file, flushed.
pub struct Disk(fs::File);

impl Disk {
    /// A file in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self(fs::File::create(folder.join("floor")).expect("a file"))
    }

    /// One write that is on the disk afterwards.
    pub fn flush(&mut self) {
        use std::io::Write;
        self.0.write_all(&[7; 4_096]).expect("it takes it");
        self.0.sync_data().expect("it is flushed");
    }
}

/// CPU time of this process and of the server's processes that work for it.
pub struct Meter(Vec<String>);

impl Meter {
    /// Of a store in use; a server's time counts where it runs on this machine.
    pub async fn of(engine: Engine, lines: u64) -> Self {
        let mut servers = Vec::new();
        if let (Engine::Postgres, Some(database)) = (engine, database_of(lines)) {
            let which =
                "SELECT pid::bigint FROM pg_stat_activity WHERE datname = current_database()";
            servers = database.numbers(which).await;
        }
        Self(servers.iter().map(ToString::to_string).collect())
    }

    /// So far.
    pub fn read(&self) -> Duration {
        let time = |pid: &String| {
            let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
            text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
        };
        cpu() + self.0.iter().filter_map(time).sum::<Duration>()
    }
}

/// A line of figures of one store.
pub fn of(engine: Engine, lines: u64, mut line: Value) -> Value {
    line["store"] = engine.name().into();
    line["lines"] = lines.into();
    line
}
