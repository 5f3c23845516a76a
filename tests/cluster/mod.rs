//! Several processes of one bot on one PostgreSQL: each shard of the gateway has one owner, and when that
//! is killed, halted or ended, another takes it over.
//!
//! Entry type: [`Cluster`]. `takeover.rs` has one fault after the other with leases of three seconds. How long
//! a take-over may take is asked in `./dev proof` alone, which also plays a whole evening of faults
//! (`evening.rs`) and two versions beside each other (`versions.rs`).

mod evening;
mod silence;
mod takeover;
mod verdict;
mod versions;
mod wire;

use std::{cell::RefCell, time::Duration};

use discord_loopback::{Discord, Guild, Options, Player, Slash, Sound};
use futures::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{runtime::Handle, task::block_in_place, time::Instant};
use tokio_postgres::{NoTls, Row};

use self::silence::longest;
use crate::{
    bot::hall::BOUND,
    support::{
        ears::Ears,
        postgres::Server,
        processes::{is_halted, wait_until},
        program::{Live, Place},
        tones::{music_wav, tone},
    },
};

/// Buckets of identifies: no shard waits for another.
const BUCKETS: u64 = 16;
/// The default of `cluster.lease_s`.
const LEASE_S: u64 = 6;
/// Longest silence after the kill of a process.
const AFTER_KILL: Duration = Duration::from_secs(10);
/// Frames of a second.
const SECOND: u64 = 50;
/// Frames from which on a table sounds.
const HEARD: u64 = 10;
/// Shards that are served, and by which process.
const LEASES: &str = "SELECT n.name, l.shard FROM shard_lease l JOIN node n ON n.run = l.owner \
     WHERE l.expires > clock_timestamp()";

/// A Discord with a server on each shard, and the memory that all processes share.
struct Cluster {
    discord: Discord,
    guilds: Vec<Guild>,
    database: Server,
    ears: Ears,
    /// Ids of all commands that were used.
    used: RefCell<Vec<u64>>,
    shards: u64,
    lease_s: u64,
}

/// A process with a folder of its own, as on a machine of its own.
struct Node {
    place: Place,
    program: Option<Live>,
}

impl Drop for Node {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(program) = &self.program
        {
            eprintln!("a process said:\n{}", program.said().join("\n"));
        }
    }
}

impl Node {
    fn program(&self) -> &Live {
        self.program.as_ref().expect("it runs")
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.program().id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), signal).expect("it runs");
    }

    /// Halts it, and waits until it is halted.
    fn halt(&self) {
        self.signal(Signal::STOP);
        let pid = self.program().id().to_string();
        block_in_place(|| wait_until("it is halted", || is_halted(&pid)));
    }
}

impl Cluster {
    /// With so many servers, dealt out to the shards, and leases of so many seconds; `None`, after a
    /// report: there is no PostgreSQL here.
    async fn new(shards: u64, guilds: u64, lease_s: u64) -> Option<Self> {
        let database = block_in_place(Server::start)?;
        let options = Options { max_concurrency: BUCKETS, ..Options::default() };
        let discord = Discord::start(options).await.expect("a discord");
        let guild = |it: u64| discord.guild_on(&format!("Server {it}"), it % shards, shards);
        let guilds = (0..guilds).map(guild).collect();
        let (ears, used) = (Ears::start(), RefCell::default());
        Some(Self { discord, guilds, database, ears, used, shards, lease_s })
    }

    /// A folder of a process that reaches the memory at `url`; `providers` and `more` go into its
    /// configuration.
    fn place(&self, url: &str, providers: &str, more: &str) -> Place {
        let certificates = self.discord.ca_file().display().to_string();
        // Earlier versions do not know it.
        let lease = (self.lease_s != LEASE_S).then(|| format!(", lease_s: {}", self.lease_s));
        let lease = lease.unwrap_or_default();
        let place = Place::with_config(&format!(
            "data_dir: data\nlog: {{ level: debug }}\n\
             npcs: [{{ name: Bartok, voice: {{ voice_id: rms }} }}]\n\
             memory: {{ url: \"${{DATABASE_URL}}\", consolidate: false }}\n\
             cluster: {{ shards: {}{} }}\n\
             providers:\n{}{providers}discord:\n  token: \"{}\"\n  api_base: {}\n  guilds: any\n{more}",
            self.shards,
            lease,
            self.ears.entry(),
            self.discord.token(),
            self.discord.api_base(),
        ));
        place.write("music/harbour/gulls.wav", music_wav(&tone(900.0, 10)));
        let place = place.env("DATABASE_URL", url).brief();
        place
            .env("SSL_CERT_FILE", &certificates)
            .env("RUST_LOG", "warn,songbird=error,glyphoxa=debug")
    }

    /// A folder of a process that reaches the database directly and asks no model.
    fn home(&self) -> Place {
        self.place(&self.database.url("postgres"), "", "")
    }

    /// How often processes have asked how often they may identify.
    fn asked(&self) -> usize {
        let requests = self.discord.requests();
        requests.iter().filter(|it| it.path == "/gateway/bot").count()
    }

    /// Waits until a process that was started has asked; `before`: how often others had.
    fn is_up(&self, program: &mut Live, before: usize) {
        let is_there = || {
            assert!(!program.has_ended(), "it has ended: {:#?}", program.said());
            self.asked() > before
        };
        block_in_place(|| wait_until("the process asks for the gateway", is_there));
    }

    /// Waits until each shard has one session.
    async fn has_all_shards(&self) {
        let bot = self.discord.bot();
        let all: Vec<u64> = (0..self.shards).collect();
        self.discord.wait_shards(bot, BOUND, |it| it == all).await.expect("one of each shard");
    }

    /// A player at each table: the owner of its server.
    async fn seats(&self) -> Vec<Player> {
        let discord = &self.discord;
        let seats = self.guilds.iter().map(|guild| async move {
            discord.join_voice(&guild.owner(), guild.voice).await.expect("a seat")
        });
        join_all(seats).await
    }

    /// All that a server's owner reads of an answer.
    async fn asks(&self, guild: &Guild, slash: Slash) -> String {
        let answer = self.discord.command(&guild.owner(), guild.text, slash).await;
        let answer = answer.expect("a command");
        self.used.borrow_mut().push(answer.id);
        answer.wait_final(BOUND).await.expect("an answer").text()
    }

    /// Begins a session with music.
    async fn open(&self, guild: &Guild) {
        let began = self.asks(guild, Slash::new("session start")).await;
        assert!(began.contains("I listen"), "{began}");
        let plays = self.asks(guild, Slash::new("music play").option("mood", "gulls")).await;
        assert!(plays.contains("gulls"), "{plays}");
    }

    /// Begins sessions with music at all tables, and waits until they sound.
    async fn open_all(&self) {
        join_all(self.guilds.iter().map(|guild| self.open(guild))).await;
        for guild in &self.guilds {
            self.wait_for_sound(guild, HEARD, |_| true);
        }
    }

    /// The owner types a line, and reads that it was said: the answer.
    async fn types(&self, guild: &Guild, line: &str) -> String {
        let say = Slash::new("say").option("text", line).option("npc", "Bartok");
        let shown = self.asks(guild, say).await;
        assert!(shown.contains(line) && !shown.contains("paused"), "{shown}");
        shown
    }

    /// Waits until so many frames of a server's sound count.
    fn wait_for_sound(&self, guild: &Guild, frames: u64, counts: impl Fn(&Sound) -> bool) {
        let sounds = || {
            let sound = self.sound(guild);
            let counted = sound.iter().filter(|it| counts(it));
            counted.map(|it| it.frames).sum::<u64>() >= frames
        };
        block_in_place(|| wait_until(&format!("server {} sounds", guild.id), sounds));
    }

    /// All sound of the bot in a server.
    fn sound(&self, guild: &Guild) -> Vec<Sound> {
        self.discord.voice().sound(guild.id, self.discord.bot())
    }

    /// The connection that the bot's latest sound in a server came from.
    fn source(&self, guild: &Guild) -> u32 {
        self.sound(guild).iter().max_by_key(|it| it.last).expect("there was sound").source
    }

    /// Waits until tables sound since `began`, each from a connection other than the one named with
    /// it, and all shards are served; their longest silences.
    async fn go_on(&self, tables: &[(&Guild, u32)], began: Instant) -> Vec<Duration> {
        for (guild, old) in tables {
            self.wait_for_sound(guild, HEARD, |it| it.source != *old && it.first > began);
        }
        self.has_all_shards().await;
        tables.iter().map(|(guild, _)| longest(&self.sound(guild), began)).collect()
    }

    /// No command was answered twice or by none.
    fn assert_answered_once(&self) {
        let answers = |id: &u64| {
            let (path, requests) = (format!("/interactions/{id}/"), self.discord.requests());
            let answers = requests.into_iter().filter(|it| it.path.starts_with(&path));
            answers.map(|it| it.status).collect::<Vec<u16>>()
        };
        for id in self.used.borrow().iter() {
            // A request is noted behind what it did.
            block_in_place(|| wait_until("an answer", || !answers(id).is_empty()));
            let answers = answers(id);
            assert!(matches!(answers[..], [200 | 204]), "answers to {id}: {answers:?}");
        }
    }
}

/// Faults that never happen.
impl Cluster {
    /// Moments at which two processes sent sound into one server.
    fn at_once(&self) -> Vec<(Sound, Sound)> {
        let (voice, bot) = (self.discord.voice(), self.discord.bot());
        let pairs = self.guilds.iter().flat_map(|it| voice.sounds_at_once(it.id, bot));
        // A frame that was mixed before a halt leaves after it, and reaches no listener.
        pairs.filter(|(one, other)| one.frames.min(other.frames) > 1).collect()
    }

    /// No two processes send sound into one server, no shard identifies too early, and each command is
    /// answered once.
    fn assert_in_order(&self) {
        let at_once = self.at_once();
        assert!(at_once.is_empty(), "{at_once:#?}");
        assert_eq!(self.discord.identify_breaches(self.discord.bot()), 0);
        self.assert_answered_once();
    }
}

/// Records of the processes.
impl Cluster {
    fn rows(&self, asked: &str) -> Vec<Row> {
        let url = self.database.url("postgres");
        let rows = async {
            let (client, connection) =
                tokio_postgres::connect(&url, NoTls).await.expect("a database");
            tokio::spawn(connection);
            client.query(asked, &[]).await.expect("rows")
        };
        block_in_place(|| Handle::current().block_on(rows))
    }

    fn shard_of(&self, guild: &Guild) -> u64 {
        (guild.id >> 22) % self.shards
    }

    /// Servers that a process serves now.
    fn served_by(&self, name: &str) -> Vec<&Guild> {
        let rows = self.rows(LEASES);
        let own = rows.iter().filter(|row| row.get::<_, &str>(0) == name);
        let shards: Vec<u64> = own.map(|row| row.get::<_, i64>(1).cast_unsigned()).collect();
        let is_served = |it: &&Guild| shards.contains(&self.shard_of(it));
        self.guilds.iter().filter(is_served).collect()
    }

    /// Waits until a line is in a transcript. It is there once.
    fn assert_written_once(&self, line: &str) {
        let times = || {
            let rows = self.rows("SELECT text FROM utterance");
            rows.iter().filter(|it| it.get::<_, &str>(0) == line).count()
        };
        block_in_place(|| wait_until("the line is written", || times() > 0));
        assert_eq!(times(), 1, "{line}");
    }
}

/// Texts of a server's transcript that have `word`.
fn lines_with(word: &str, place: &Place, guild: &Guild) -> Vec<String> {
    let id = guild.id.to_string();
    let search = ["memory", "search", word, "--json", "--limit", "1000", "--guild", &*id];
    let lines = place.run(&search).ends_with(0).lines();
    lines.iter().filter_map(|it| it["text"].as_str().map(str::to_owned)).collect()
}
