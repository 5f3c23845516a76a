//! Several processes of one bot on one PostgreSQL: each shard of the gateway has one owner, and when that
//! is killed, halted or ended, another takes it over.
//!
//! Entry type: [`Cluster`]. How long a take-over may take is asked in `./dev proof` alone, which also plays
//! a whole evening of faults (`evening.rs`).

mod evening;
mod silence;
mod verdict;
mod wire;

use std::{cell::RefCell, time::Duration};

use discord_loopback::{AUDIBLE, Discord, Guild, Options, Player, Slash, Sound};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::{block_in_place, spawn_blocking};

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

/// Shards of the bot, with a server each.
const SHARDS: u64 = 4;
/// Buckets of identifies: no shard waits for another.
const BUCKETS: u64 = 16;
/// Longest silence after the kill of a process.
const AFTER_KILL: Duration = Duration::from_secs(10);
/// Longest silence after the end of a process: less than a lease lasts.
const AFTER_END: Duration = Duration::from_secs(6);
/// Packets of five seconds.
const A_WHILE: usize = 250;
/// A line that is typed at the table whose owner is halted.
const LINE: &str = "the zyxkey is under the mill";

/// A Discord with a server on each shard, and the memory that all processes share.
struct Cluster {
    discord: Discord,
    guilds: Vec<Guild>,
    database: Server,
    ears: Ears,
    /// Ids of all commands that were used.
    used: RefCell<Vec<u64>>,
    shards: u64,
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
    /// With so many servers, dealt out to the shards; `None`, after a report: there is no PostgreSQL here.
    async fn new(shards: u64, guilds: u64) -> Option<Self> {
        let database = block_in_place(Server::start)?;
        let options = Options { max_concurrency: BUCKETS, ..Options::default() };
        let discord = Discord::start(options).await.expect("a discord");
        let guild = |it: u64| discord.guild_on(&format!("Server {it}"), it % shards, shards);
        let guilds = (0..guilds).map(guild).collect();
        let (ears, used) = (Ears::start(), RefCell::default());
        Some(Self { discord, guilds, database, ears, used, shards })
    }

    /// A folder of a process that reaches the memory at `url`; `providers` and `more` go into its
    /// configuration.
    fn place(&self, url: &str, providers: &str, more: &str) -> Place {
        let certificates = self.discord.ca_file().display().to_string();
        let place = Place::with_config(&format!(
            "data_dir: data\nlog: {{ level: debug }}\n\
             npcs: [{{ name: Bartok, voice: {{ voice_id: rms }} }}]\n\
             memory: {{ url: \"${{DATABASE_URL}}\", consolidate: false }}\ncluster: {{ shards: {} }}\n\
             providers:\n{}{providers}discord:\n  token: \"{}\"\n  api_base: {}\n  guilds: any\n{more}",
            self.shards,
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

    /// How often processes have asked how often they may identify.
    fn asked(&self) -> usize {
        let requests = self.discord.requests();
        requests.iter().filter(|it| it.path == "/gateway/bot").count()
    }

    /// Starts a process, and waits until it has asked how often it may identify.
    fn start(&self, name: &str) -> Node {
        let place = self.place(&self.database.url("postgres"), "", "");
        let before = self.asked();
        let mut program = place.start(&["run", "--node", name]);
        self.is_up(&mut program, before);
        Node { place, program: Some(program) }
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

    /// All that a server's owner reads of an answer.
    async fn asks(&self, guild: &Guild, slash: Slash) -> String {
        let answer = self.discord.command(&guild.owner(), guild.text, slash).await;
        let answer = answer.expect("a command");
        self.used.borrow_mut().push(answer.id);
        answer.wait_final(BOUND).await.expect("an answer").text()
    }

    /// Every server is served.
    async fn answers_everywhere(&self) {
        for guild in &self.guilds {
            let cast = self.asks(guild, Slash::new("npc list")).await;
            assert!(cast.contains("Bartok"), "{}: {cast}", guild.id);
        }
    }

    /// A session with music, which `player` hears.
    async fn plays(&self, player: &Player) {
        self.open(self.table()).await;
        self.hears(player).await;
    }

    /// Begins a session with music.
    async fn open(&self, guild: &Guild) {
        let began = self.asks(guild, Slash::new("session start")).await;
        assert!(began.contains("I listen"), "{began}");
        let plays = self.asks(guild, Slash::new("music play").option("mood", "gulls")).await;
        assert!(plays.contains("gulls"), "{plays}");
    }

    /// Waits for music from now on.
    async fn hears(&self, player: &Player) {
        player.forget();
        player.wait_for_voice(self.discord.bot(), AUDIBLE, BOUND).await.expect("music");
    }

    /// The server with a session.
    fn table(&self) -> &Guild {
        &self.guilds[0]
    }

    /// Waits until the session goes on in a process other than the one whose sound was `old`; the
    /// silence between.
    async fn goes_on(&self, player: &Player, old: u32) -> Duration {
        self.hears(player).await;
        let sound = self.sound(self.table());
        let is_new = |it: &&Sound| it.source != old;
        let last = sound.iter().filter(|it| it.source == old).map(|it| it.last).max();
        let next = sound.iter().filter(is_new).map(|it| it.first).filter(|it| Some(*it) > last);
        let (last, next) = (last.expect("old sound"), next.min().expect("new sound"));
        next.duration_since(last)
    }

    /// All sound of the bot in a server.
    fn sound(&self, guild: &Guild) -> Vec<Sound> {
        self.discord.voice().sound(guild.id, self.discord.bot())
    }

    /// The connection that the bot's latest sound in a server came from.
    fn source(&self, guild: &Guild) -> u32 {
        self.sound(guild).iter().max_by_key(|it| it.last).expect("there was sound").source
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

/// The parts of the evening, one after the other.
impl Cluster {
    /// Two processes share the shards, and the first has a session.
    async fn begins(&self, player: &Player) -> [Node; 2] {
        let first = self.start("first");
        self.has_all_shards().await;
        self.answers_everywhere().await;
        self.plays(player).await;
        let second = self.start("second");
        self.has_all_shards().await;
        self.answers_everywhere().await;
        self.assert_answered_once();
        [first, second]
    }

    /// One is killed; the silence until the other goes on with its session.
    async fn outlives_a_kill(&self, mut first: Node, player: &Player) -> Duration {
        let (bot, program) = (self.discord.bot(), first.program.take().expect("it runs"));
        let old = self.source(self.table());
        block_in_place(|| program.kill());
        let all = self.guilds.len();
        let fewer = |it: &[u64]| it.len() < all;
        self.discord.wait_shards(bot, BOUND, fewer).await.expect("its sessions are gone");
        let silence = self.goes_on(player, old).await;
        self.has_all_shards().await;
        self.answers_everywhere().await;
        self.assert_answered_once();
        silence
    }

    /// The owner of the session is halted past its leases while it plays, and wakes up beside the new
    /// one, which is returned.
    async fn outlives_a_halt(&self, second: &Node, player: &Player) -> Node {
        let (guild, bot) = (self.table(), self.discord.bot());
        let old = self.source(guild);
        // Not asked for afterwards: a halted one is silent, and tries its old seat when it wakes up.
        assert_eq!(self.discord.violations(), Vec::<String>::new());
        let third = self.start("third");
        second.halt();
        self.goes_on(player, old).await;

        // This waits for the halted one too: its sessions are still open.
        let say = Slash::new("say").option("text", LINE).option("npc", "Bartok");
        self.asks(guild, say).await;
        let new = self.source(guild);
        assert_ne!(old, new);
        let woken = tokio::time::Instant::now();
        second.signal(Signal::CONT);
        self.has_all_shards().await;
        for _ in 0..A_WHILE {
            player.wait_for_voice(bot, 0.0, BOUND).await.expect("the music goes on");
        }

        self.assert_answered_once();
        assert_eq!(self.source(guild), new, "the new owner plays");
        let sound = self.sound(guild);
        let leaked = sound.iter().filter(|it| it.source == old && it.first > woken);
        // A frame that was mixed before the halt leaves after it, and reaches no listener.
        assert!(leaked.map(|it| it.frames).sum::<u64>() <= 1, "{sound:#?}");
        let at_once = self.discord.voice().sounds_at_once(guild.id, bot);
        assert!(at_once.iter().all(|(a, b)| a.frames.min(b.frames) <= 1), "{at_once:#?}");
        self.assert_written_once(guild, &third);
        third
    }

    /// The line that was typed is in the transcript once.
    fn assert_written_once(&self, guild: &Guild, node: &Node) {
        let found = || {
            let lines = lines_with("zyxkey", &node.place, guild);
            lines.iter().filter(|it| *it == LINE).count()
        };
        block_in_place(|| {
            wait_until("the line is written", || found() > 0);
            assert_eq!(found(), 1);
        });
    }

    /// One is ended; the silence until the other goes on with its session.
    async fn outlives_an_end(&self, mut third: Node, player: &Player) -> Duration {
        let program = third.program.take().expect("it runs");
        let old = self.source(self.table());
        let ended = spawn_blocking(move || program.terminate());
        assert_eq!(ended.await.expect("it ends"), 0);
        let silence = self.goes_on(player, old).await;
        self.has_all_shards().await;
        self.answers_everywhere().await;
        self.assert_answered_once();
        silence
    }

    /// No shard has identified too early.
    fn ends(self, mut second: Node) {
        let program = second.program.take().expect("it runs");
        assert_eq!(block_in_place(|| program.terminate()), 0);
        assert_eq!(self.discord.identify_breaches(self.discord.bot()), 0);
    }
}

/// Texts of a server's transcript that have `word`.
fn lines_with(word: &str, place: &Place, guild: &Guild) -> Vec<String> {
    let id = guild.id.to_string();
    let search = ["memory", "search", word, "--json", "--limit", "1000", "--guild", &*id];
    let lines = place.run(&search).ends_with(0).lines();
    lines.iter().filter_map(|it| it["text"].as_str().map(str::to_owned)).collect()
}

/// An evening with a kill, a halt and an end; the silences after a kill and an end.
async fn taken_over() -> Option<[Duration; 2]> {
    let cluster = Cluster::new(SHARDS, SHARDS).await?;
    let table = cluster.table();
    let player = cluster.discord.join_voice(&table.owner(), table.voice).await.expect("a seat");
    let [first, second] = cluster.begins(&player).await;
    let killed = cluster.outlives_a_kill(first, &player).await;
    let third = cluster.outlives_a_halt(&second, &player).await;
    let ended = cluster.outlives_an_end(third, &player).await;
    cluster.ends(second);
    eprintln!("a session goes on {killed:.1?} after a kill, {ended:.1?} after an end");
    Some([killed, ended])
}

#[tokio::test(flavor = "multi_thread")]
async fn shards_move_to_the_process_that_lives() {
    taken_over().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shards_move_within_ten_seconds_in_time() {
    let Some([killed, ended]) = taken_over().await else { return };
    assert!(killed <= AFTER_KILL, "{killed:?}");
    assert!(ended < AFTER_END, "{ended:?}");
}
