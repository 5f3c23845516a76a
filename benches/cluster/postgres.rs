//! Cost of leases and of tables' writes in a real PostgreSQL, through the program's own store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use glyphoxa::measure::{
    AccountId, AccountRequest, CampaignKey, Claim, Cost, DayCost, GuildRecord, KeptTable,
    LEASE_TTL, MemoryStore, Money, Node, Owner, Postgres, Posting, Scope, Uid, Utterance,
    renewed_every,
};
use tokio::task::JoinSet;

use super::{
    demand::{KEPT, LINES, MARKS, MONEY},
    support::{
        figures::{Figures, ms},
        postgres::Database,
        skipped::skipped,
    },
};

/// Shards that the processes share.
const SHARDS: u32 = 96;
/// Processes that write together.
const NODES: usize = 4;
/// Tables that write at the same time in each: as many as its store has connections.
const TABLES: usize = 6;
/// Bytes of the state of a table, and of a server's settings.
const STATE: usize = 8_000;
const SETTINGS: usize = 2_000;
/// Unix time of all that is written, in ms.
const NOW: i64 = 1_800_000_000_000;

/// Measured times and throughput of a server on this machine.
pub struct Measured {
    /// Times of each request, alone: its name, and in ms.
    pub alone: Vec<(&'static str, Figures)>,
    /// Renewals of processes that write as much as they can, in ms.
    pub renewals: Figures,
    /// Commits a second of these processes' tables.
    pub commits: f64,
    /// Connections of a process that has no tables, and of one that writes.
    pub connections: (f64, f64),
    /// Connections that the server has for all.
    pub connections_max: f64,
}

/// Measures in a database that is made and removed; `None`: there is no server. `n` times alone,
/// then for `length` together, which is less than a lease lasts.
pub async fn measure(n: u64, length: Duration) -> Option<Measured> {
    let Some(database) = Database::named("glyphoxa_bench_cluster") else {
        skipped("leases and writes in PostgreSQL", "GLYPHOXA_TEST_POSTGRES names no server");
        return None;
    };
    // One that a run has left.
    database.remove().await;
    database.create().await;
    let measured = measure_in(&database, n, length).await;
    database.remove().await;
    Some(measured)
}

async fn measure_in(database: &Database, n: u64, length: Duration) -> Measured {
    let mut processes = vec![Process::open(database, 0).await];
    processes[0].renew(true).await;
    let resting = connections(database).await;
    let alone = alone(&processes[0], n).await;
    let held = (0..SHARDS).collect();
    processes[0].store.give_back(processes[0].node.run.clone(), held).await.expect("given back");
    for nth in 1..NODES {
        processes.push(Process::open(database, nth).await);
    }
    // All live before one takes more than its share.
    for process in &processes {
        process.renew(false).await;
    }
    let mut tables = Vec::new();
    for process in &processes {
        let shards = process.renew(true).await;
        assert_eq!(shards.len(), SHARDS as usize / NODES, "its share");
        for shard in &shards[..TABLES] {
            tables.push(Table::open(process, *shard).await);
        }
        // Shards that start together ask at once.
        let buckets = n..n + TABLES as u64;
        let asked =
            buckets.map(|bucket| process.store.identify(u32::try_from(bucket).expect("few")));
        join_all(asked).await.into_iter().for_each(|slot| _ = slot.expect("a slot"));
    }
    let (commits, renewals) = together(&processes, tables, length).await;
    let writing = connections(database).await / NODES as f64;
    let most = "SELECT current_setting('max_connections')::bigint \
                - current_setting('superuser_reserved_connections')::bigint";
    let connections_max = database.numbers(most).await.iter().sum::<i64>() as f64;
    let connections = (resting, writing);
    Measured { alone, renewals: Figures::new(renewals), commits, connections, connections_max }
}

/// Connections of this bench to its database, but for the one that asks.
async fn connections(database: &Database) -> f64 {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    database.numbers(count).await.iter().sum::<i64>() as f64
}

/// Each request by itself, in turns, which renews the leases often enough.
async fn alone(process: &Process, n: u64) -> Vec<(&'static str, Figures)> {
    // No table of those that write together is in it.
    let mut table = Table::open(process, SHARDS - 1).await;
    let mut times: [Vec<f64>; 6] = Default::default();
    for nth in 0..n {
        let mut lap = Lap(Instant::now());
        process.renew(true).await;
        times[0].push(lap.end());
        let bucket = u32::try_from(nth).expect("a bucket");
        process.store.identify(bucket).await.expect("a slot");
        times[1].push(lap.end());
        table.turns += 1;
        table.say().await;
        times[2].push(lap.end());
        table.keep().await;
        times[3].push(lap.end());
        table.mark().await;
        times[4].push(lap.end());
        table.pay().await;
        times[5].push(lap.end());
    }
    let names = ["renewal", "identify", "lines", "kept_table", "mark", "money"];
    names.into_iter().zip(times.map(Figures::new)).collect()
}

/// Time since the last look.
struct Lap(Instant);

impl Lap {
    fn end(&mut self) -> f64 {
        let now = Instant::now();
        ms(now - std::mem::replace(&mut self.0, now))
    }
}

/// All tables take turn after turn, and processes renew their leases. Commits of tables a second,
/// and the times of renewals in ms.
async fn together(processes: &[Process], tables: Vec<Table>, length: Duration) -> (f64, Vec<f64>) {
    let began = Instant::now();
    let until = began + length;
    let (mut playing, mut renewing) = (JoinSet::new(), JoinSet::new());
    for mut table in tables {
        playing.spawn(async move {
            let mut commits = 0;
            while Instant::now() < until {
                commits += table.turn().await;
            }
            commits
        });
    }
    for process in processes {
        let process = process.clone();
        renewing.spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < until {
                let sent = Instant::now();
                process.renew(true).await;
                times.push(ms(sent.elapsed()));
                tokio::time::sleep(renewed_every(LEASE_TTL).min(length / 4)).await;
            }
            times
        });
    }
    let commits: u64 = playing.join_all().await.into_iter().sum();
    let commits = commits as f64 / began.elapsed().as_secs_f64();
    (commits, renewing.join_all().await.into_iter().flatten().collect())
}

/// A process of a cluster: its own store, pools and run.
#[derive(Clone)]
struct Process {
    store: Arc<dyn MemoryStore>,
    node: Node,
}

impl Process {
    async fn open(database: &Database, nth: usize) -> Self {
        let store = Postgres::open(&database.url().parse().expect("an address")).await;
        let name = format!("node-{nth}");
        let node = Node {
            run: name.clone(),
            name,
            build: "bench".to_owned(),
            shards: SHARDS,
            ..Node::default()
        };
        Self { store: Arc::new(store.expect("a server")), node }
    }

    /// Its shards.
    async fn renew(&self, takes: bool) -> Vec<u32> {
        let leases = self.store.renew(self.node.clone(), LEASE_TTL, takes).await.expect("leases");
        leases.iter().map(|lease| lease.shard).collect()
    }
}

/// A table in a session, as the store sees it.
struct Table {
    store: Arc<dyn MemoryStore>,
    guild: u64,
    scope: Scope,
    session: String,
    account: AccountId,
    turns: u64,
    /// Revisions of its state and its server's settings.
    revision: u64,
}

impl Table {
    /// A table in a server of `shard`.
    async fn open(process: &Process, shard: u32) -> Self {
        let store = Arc::clone(&process.store);
        let guild = (u64::from(shard) << 22) | 1;
        let scope = Scope { owner: Owner::Guild(guild), campaign: CampaignKey("bench".to_owned()) };
        let wanted =
            AccountRequest { name: "play".to_owned(), since: 0, now: NOW, before: Money::ZERO };
        let account = store.account(&scope, wanted).await.expect("an account");
        let session = format!("discord-{guild}-{NOW}");
        Self { store, guild, scope, session, account, turns: 0, revision: 0 }
    }

    /// One turn's writes; how many commits they are.
    async fn turn(&mut self) -> u64 {
        self.turns += 1;
        // All come from one task here; in the program, from three.
        self.say().await;
        for _ in 0..KEPT {
            self.keep().await;
        }
        for _ in 0..MARKS {
            self.mark().await;
        }
        for _ in 0..MONEY {
            self.pay().await;
        }
        u64::from(LINES + KEPT + MARKS + MONEY)
    }

    /// A player's words and the answer.
    async fn say(&self) {
        let of = |speaker: &str, player: Option<&str>, text: &str| Utterance {
            uid: Uid(format!("{}-{}-{speaker}", self.session, self.turns)),
            session: self.session.clone(),
            turn: self.turns,
            at: NOW + self.turns.cast_signed() * 6_000,
            duration: 2_500,
            speaker_id: player.map(str::to_owned),
            speaker: speaker.to_owned(),
            npc: Some("Mira".to_owned()),
            text: text.to_owned(),
            outcome: "spoken".to_owned(),
            ..Utterance::default()
        };
        let lines = vec![
            of("Anna", Some("101"), "Mira, what did you see down at the old mill last night?"),
            of("Mira", None, "Lanterns, and two men with a sack. I did not stay to look at it."),
        ];
        self.store.append(&self.scope, lines).await.expect("lines");
    }

    async fn keep(&mut self) {
        self.revision += 1;
        let table = KeptTable { revision: self.revision, text: "x".repeat(STATE) };
        let kept = self.store.put_kept_table(self.scope.owner, &self.session, table).await;
        assert!(kept.expect("a state"), "a newer revision");
    }

    async fn mark(&mut self) {
        self.revision += 1;
        let record = GuildRecord { revision: self.revision, text: "x".repeat(SETTINGS) };
        self.store.put_guild(self.guild, record).await.expect("settings");
    }

    async fn pay(&self) {
        let spent = Money(1_000);
        let claim = Claim {
            cap: Some(Money::of(1e6)),
            want: spent,
            need: spent,
            spent,
            ..Claim::default()
        };
        let cost = Cost {
            payer: "Mira".to_owned(),
            service: "model".to_owned(),
            tool: String::new(),
            spent,
            requests: 1,
        };
        let day = "2026-11-21".to_owned();
        let posting = Posting {
            account: self.account,
            month: "2026-11".to_owned(),
            month_max: Some(Money::of(1e6)),
            claims: vec![claim],
            costs: vec![DayCost { day, session: self.session.clone(), cost }],
        };
        self.store.post(&self.scope, posting).await.expect("money");
    }
}
