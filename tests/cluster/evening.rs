//! An evening of faults: three processes with 24 tables are killed, halted and cut off, one fault after
//! the other.
//!
//! Entry type: [`Evening`]. `verdict.rs` says what it has to show in the end.

use std::{path::PathBuf, time::Duration};

use discord_loopback::{Player, Sound, Speech};
use futures::future::join_all;
use rand::{
    RngExt, SeedableRng,
    rngs::StdRng,
    seq::{IndexedRandom, SliceRandom},
};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{task::block_in_place, time::Instant};

use super::{
    Cluster, LEASE_S, Node, SECOND,
    silence::{Figures, longest},
    wire::Wire,
};
use crate::{
    bot::hall::said,
    support::{
        answers::answer,
        chat_server::{ChatServer, Recorded},
        processes::wait_until,
        program::{Place, release_program},
    },
};

pub const SEED: u64 = 58;
const SHARDS: u64 = 8;
const TABLES: u64 = 24;
const NAMES: [&str; 3] = ["first", "second", "third"];
/// Tables that each process has at least before the first fault.
const SOME: usize = 6;
/// Faults of each kind.
const FAULTS: [(Fault, usize); 4] =
    [(Fault::Kill, 20), (Fault::Halt, 5), (Fault::Cut, 1), (Fault::Outage, 1)];
/// Tables whose player talks at each fault, on shards of their own.
pub const TALKERS: [usize; 4] = [0, 5, 10, 15];
/// Longest time of everything.
const LONGEST: Duration = Duration::from_secs(12 * 60);
/// Time after the restart of PostgreSQL in which leases that have not been renewed end.
const AFTER_OUTAGE: Duration = Duration::from_secs(8);
/// Tokens of an answer, which is as long as it may be: the service bills what is set aside.
pub const TOKENS: u64 = 100;
/// The model bills 0.001 a token that it writes. Guesses at what is being said are not asked about, so
/// each table has one request at a time.
const MORE: &str = "prices: { dear: { input: 0, output: 1000 } }\nbudget: { session_max: 1000 }\n\
     turn: { preemptive: false }\n";
const BELLS: &str = "name: bells\ndescription: The bells ring\nsteps:\n  - wait: 1\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A process is killed, and started again at once.
    Kill,
    /// A process is halted until others have its tables.
    Halt,
    /// A process has no way to the database until others have its tables.
    Cut,
    /// The database is killed and started again.
    Outage,
}

/// A process with a way of its own to the database.
pub(super) struct WiredNode {
    name: &'static str,
    pub(super) node: Node,
    wire: Wire,
}

/// A typed line whose command was answered.
pub struct Line {
    pub table: usize,
    pub text: String,
    /// It came just before this fault of the table's process; `None`: it was written before the next.
    pub before: Option<Fault>,
    /// The answer doesn't say that the line isn't stored yet.
    pub is_stored: bool,
}

/// Tables that a fault has hit.
pub struct Suffered {
    pub fault: Fault,
    pub silences: Vec<Duration>,
}

pub(super) struct Evening {
    pub(super) cluster: Cluster,
    pub(super) nodes: [WiredNode; 3],
    pub players: Vec<Player>,
    /// Where commands are run, with a way to the database of its own.
    pub desk: Place,
    release: PathBuf,
    pub model: ChatServer,
    rng: StdRng,
    pub lines: Vec<Line>,
    pub suffered: Vec<Suffered>,
    /// Requests to the model that may have been under way at a fault of their process.
    pub at_stake: u64,
    pub began: Instant,
}

/// Tokens that an answer may have.
pub fn most(request: &Recorded) -> u64 {
    let most = ["max_tokens", "max_completion_tokens"].map(|key| request.json[key].as_u64());
    most.into_iter().flatten().sum()
}

/// The beginning.
impl Evening {
    /// Each server has a session with music, and each process serves some; `None`, after a report:
    /// there is no PostgreSQL here.
    async fn begins(release: PathBuf) -> Option<Self> {
        let cluster = Cluster::new(SHARDS, TABLES, LEASE_S).await?;
        let model = ChatServer::start();
        model.otherwise(|request| answer(most(request)));
        let llm = format!(
            "  llm: {{ name: openai, base_url: \"{}\", model: dear, max_tokens: {TOKENS} }}\n",
            model.base_url()
        );
        let place = |url: &str| {
            let mut place = cluster.place(url, &llm, MORE);
            place.set_env("RUST_LOG", "warn,songbird=error,glyphoxa=info");
            place.write("workflows/bells.yaml", BELLS);
            place
        };
        let desk = place(&cluster.database.url("postgres"));
        let nodes = NAMES.map(|name| {
            let wire = Wire::to(cluster.database.socket());
            WiredNode { name, node: Node { place: place(&wire.url()), program: None }, wire }
        });
        let mut evening = Self {
            cluster,
            nodes,
            players: Vec::new(),
            desk,
            release,
            model,
            rng: StdRng::seed_from_u64(SEED),
            lines: Vec::new(),
            suffered: Vec::new(),
            at_stake: 0,
            began: Instant::now(),
        };
        evening.share().await;
        evening.play().await;
        Some(evening)
    }

    /// The processes start, and share the shards.
    async fn share(&mut self) {
        for at in 0..NAMES.len() {
            let before = self.start(at);
            self.is_up(at, before);
        }
        let all_have_some = || {
            let nodes = self.listed();
            NAMES.iter().all(|name| self.tables_of(&nodes, name).len() >= SOME)
        };
        block_in_place(|| wait_until("the processes share the shards", all_have_some));
        self.cluster.has_all_shards().await;
    }

    async fn play(&mut self) {
        for guild in &self.cluster.guilds {
            let seat = self.cluster.discord.join_voice(&guild.owner(), guild.voice).await;
            self.players.push(seat.expect("a seat"));
        }
        for some in self.cluster.guilds.chunks(8) {
            join_all(some.iter().map(|guild| self.cluster.open(guild))).await;
        }
        self.wait_for_sound(&self.all_tables(), |_, _| true);
    }
}

/// Processes and their tables.
impl Evening {
    /// Starts a process; how often processes had asked before how often they may identify.
    fn start(&mut self, at: usize) -> usize {
        let before = self.cluster.asked();
        let WiredNode { name, node, .. } = &mut self.nodes[at];
        node.program = Some(node.place.start_program(&self.release, &["run", "--node", *name]));
        before
    }

    /// Waits until a process that was started has asked.
    fn is_up(&mut self, at: usize, before: usize) {
        let program = self.nodes[at].node.program.as_mut();
        self.cluster.is_up(program.expect("it was started"), before);
    }

    /// All processes with their shards, as `glyphoxa nodes` lists them.
    fn listed(&self) -> Value {
        block_in_place(|| self.desk.run(&["nodes", "--json"]).ends_with(0).line())
    }

    fn tables_of(&self, nodes: &Value, name: &str) -> Vec<usize> {
        let nodes = nodes["nodes"].as_array().expect("nodes").iter();
        let own = nodes.filter(|it| it["name"] == name);
        let leases = own.flat_map(|it| it["leases"].as_array().into_iter().flatten());
        let shards: Vec<u64> = leases.filter_map(|it| it["shard"].as_u64()).collect();
        let shard = |table: usize| self.cluster.shard_of(&self.cluster.guilds[table]);
        let is_theirs = |table: &usize| shards.contains(&shard(*table));
        self.all_tables().into_iter().filter(is_theirs).collect()
    }

    pub fn all_tables(&self) -> Vec<usize> {
        (0..self.cluster.guilds.len()).collect()
    }

    /// A process that serves tables, and those that `fault` hits.
    fn victim(&mut self, fault: Fault) -> (usize, Vec<usize>) {
        let nodes = self.listed();
        let all = NAMES.iter().enumerate().map(|(at, name)| (at, self.tables_of(&nodes, name)));
        let serving: Vec<(usize, Vec<usize>)> = all.filter(|(_, it)| !it.is_empty()).collect();
        let (victim, tables) = serving.choose(&mut self.rng).expect("one serves").clone();
        (victim, if fault == Fault::Outage { self.all_tables() } else { tables })
    }

    fn sound(&self, table: usize) -> Vec<Sound> {
        self.cluster.sound(&self.cluster.guilds[table])
    }

    /// Waits until each table has a second of sound that counts.
    fn wait_for_sound(&self, tables: &[usize], counts: impl Fn(usize, &Sound) -> bool) {
        for table in tables {
            let guild = &self.cluster.guilds[*table];
            self.cluster.wait_for_sound(guild, SECOND, |it| counts(*table, it));
        }
    }
}

/// People.
impl Evening {
    /// The owner types a line at a table, and reads that it was said.
    async fn types(&mut self, table: usize, before: Option<Fault>) {
        let text = format!("the zyxkey{} is under the mill", self.lines.len());
        let shown = self.cluster.types(&self.cluster.guilds[table], &text).await;
        let is_stored = !shown.contains("isn't stored yet");
        self.lines.push(Line { table, text, before, is_stored });
    }

    /// Two lines at any tables, until they are written.
    async fn type_in_peace(&mut self) {
        for _ in 0..2 {
            let table = self.rng.random_range(0..self.cluster.guilds.len());
            self.types(table, None).await;
            let line = self.lines.last().expect("it was typed");
            let is_written = || self.written(table).contains(&line.text);
            block_in_place(|| wait_until("the line is written", is_written));
        }
    }

    /// Players begin to talk, until what is returned is dropped.
    fn talk(&self) -> [Speech; TALKERS.len()] {
        let words = said("slt", "Bartok, good evening");
        TALKERS.map(|table| self.players[table].start_saying(words.clone()))
    }
}

/// Faults.
impl Evening {
    fn faults(&mut self) -> Vec<Fault> {
        let all = FAULTS.iter().flat_map(|(fault, times)| std::iter::repeat_n(*fault, *times));
        let mut all: Vec<Fault> = all.collect();
        all.shuffle(&mut self.rng);
        all
    }

    fn assert_in_time(&self) {
        assert!(self.began.elapsed() < LONGEST, "not over after {LONGEST:?}");
    }

    /// A fault while players talk and a line was just typed; all tables sound before and after it.
    async fn suffers(&mut self, fault: Fault) -> String {
        self.assert_in_time();
        self.type_in_peace().await;
        let (victim, hit) = self.victim(fault);
        let speeches = self.talk();
        let table = *hit.choose(&mut self.rng).expect("a table");
        self.types(table, Some(fault)).await;
        let stakes = 1 + TALKERS.iter().filter(|it| hit.contains(it)).count();
        self.at_stake += u64::try_from(stakes).expect("a few");
        self.players.iter().for_each(Player::forget);
        let guilds = self.cluster.guilds.iter();
        let old: Vec<u32> = guilds.map(|it| self.cluster.source(it)).collect();
        let began = Instant::now();
        let is_new = |table: usize, it: &Sound| it.source != old[table] && it.first > began;
        self.strike(fault, (victim, &hit), is_new);
        self.cluster.has_all_shards().await;
        drop(speeches);
        let (hit, others): (Vec<usize>, Vec<usize>) =
            self.all_tables().into_iter().partition(|it| hit.contains(it));
        let silent = |tables: &[usize]| -> Vec<Duration> {
            tables.iter().map(|it| longest(&self.sound(*it), began)).collect()
        };
        let (silences, beside) = (silent(&hit), Figures::of(silent(&others)));
        let Figures { p50, worst } = Figures::of(silences.clone());
        self.suffered.push(Suffered { fault, silences });
        let name = match fault {
            Fault::Outage => "the database",
            _ => self.nodes[victim].name,
        };
        let (count, beside) = (hit.len(), beside.worst);
        format!(
            "{fault:?} of {name}, {count} tables silent: p50 {p50:.1} s, worst {worst:.1} s; \
             others: worst {beside:.1} s"
        )
    }

    /// Breaks something, and mends it once all tables that it hits sound again.
    fn strike(
        &mut self,
        fault: Fault,
        (victim, hit): (usize, &[usize]),
        is_new: impl Fn(usize, &Sound) -> bool,
    ) {
        let node = &mut self.nodes[victim].node;
        match fault {
            Fault::Kill => {
                let program = node.program.take().expect("it runs");
                block_in_place(|| program.kill());
                let before = self.start(victim);
                self.wait_for_sound(hit, is_new);
                self.is_up(victim, before);
            }
            Fault::Halt => {
                node.halt();
                self.wait_for_sound(hit, is_new);
                self.nodes[victim].node.signal(Signal::CONT);
            }
            Fault::Cut => {
                self.nodes[victim].wire.set_cut(true);
                self.wait_for_sound(hit, is_new);
                self.nodes[victim].wire.set_cut(false);
            }
            Fault::Outage => {
                let database = &mut self.cluster.database;
                block_in_place(|| {
                    database.kill();
                    database.again();
                });
                let after = Instant::now() + AFTER_OUTAGE;
                self.wait_for_sound(hit, |_, it| it.last > after);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_outlive_an_evening_of_faults_in_time() {
    let Some(release) = release_program("three processes that are killed") else { return };
    let Some(mut evening) = Evening::begins(release).await else { return };
    let made = evening.schedules();
    let faults = evening.faults();
    let count = faults.len();
    for (number, fault) in (1..).zip(faults) {
        let told = evening.suffers(fault).await;
        eprintln!("fault {number} of {count} after {:.0?}: {told}", evening.began.elapsed());
    }
    evening.assert_in_time();
    evening.ends(made);
}
