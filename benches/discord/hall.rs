//! A Discord, the bot in it, and a player in each guild.
//!
//! Entry types: [`Hall`] and [`Room`]. Every wait is bounded by [`BOUND`].

use std::{
    env,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use discord_loopback::{Discord, Guild, Options, Player, Slash};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::{Mutex as AsyncMutex, watch},
    time::timeout,
};

use crate::bot::BOT;

/// Longest wait for anything.
pub const BOUND: Duration = Duration::from_secs(60);
/// Words of the bot about speech that it lost.
const LOST: &str = "dropped speech";

/// A Discord and the bot.
pub struct Hall {
    /// The Discord.
    pub discord: Discord,
    /// The bot.
    pub bot: Arc<Bot>,
    _folder: TempDir,
}

/// The bot's process.
pub struct Bot {
    process: AsyncMutex<Child>,
    stdin: AsyncMutex<ChildStdin>,
    news: Mutex<News>,
    changed: watch::Sender<()>,
    /// One moment by this process's clock and by the system's.
    clocks: (Instant, SystemTime),
    /// Its process's id.
    pub id: String,
}

/// Reports of the bot.
#[derive(Default)]
struct News {
    /// Guild, what and when.
    events: Vec<(u64, String, Instant)>,
    /// Complaints about lost speech.
    lost: usize,
}

/// A guild whose table listens to one player.
pub struct Room {
    /// The guild.
    pub inn: Guild,
    /// The player.
    pub player: Player,
    /// The bot's user.
    pub npc: u64,
    bot: Arc<Bot>,
}

impl Hall {
    /// Starts both; NPCs' sentences take `sentence`, and every table plays `music`.
    #[expect(clippy::disallowed_methods, reason = "two processes have this clock in common")]
    pub async fn open(sentence: Duration, music: Option<PathBuf>) -> Self {
        let discord = Discord::start(Options::default()).await.expect("a discord");
        let folder = TempDir::new().expect("a folder");
        let api = discord.api_base();
        let mut process = Command::new(env::current_exe().expect("this bench"))
            .args([BOT, api.trim_start_matches("https://"), &discord.token()])
            .arg(folder.path())
            .arg(sentence.as_millis().to_string())
            .args(music)
            .env("SSL_CERT_FILE", discord.ca_file())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the same program again");
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        let bot = Arc::new(Bot {
            id: process.id().expect("it runs").to_string(),
            stdin: AsyncMutex::new(process.stdin.take().expect("piped")),
            process: AsyncMutex::new(process),
            news: Mutex::default(),
            changed: watch::Sender::new(()),
            clocks: (Instant::now(), SystemTime::now()),
        });
        tokio::spawn(Arc::clone(&bot).listen(BufReader::new(stdout.expect("piped"))));
        tokio::spawn(Arc::clone(&bot).complaints(BufReader::new(stderr.expect("piped"))));
        Self { discord, bot, _folder: folder }
    }

    /// A guild with a table that listens to its player.
    pub async fn room(&self, name: &str) -> Room {
        let inn = self.discord.guild(name);
        let npc = self.discord.bot();
        self.discord.wait_connected(npc, BOUND).await.expect("the bot connects");
        let member = inn.add_member("Anna", &[]);
        let player = self.discord.join_voice(&member, inn.voice).await.expect("a seat");
        let start = Slash::new("session start").option("channel", inn.voice.to_string());
        let answer = self.discord.command(&inn.owner(), inn.text, start).await.expect("a command");
        let answer = answer.wait_final(BOUND).await.expect("an answer");
        assert!(answer.text().contains("I listen"), "{}", answer.text());
        let heard = |line: &str| {
            let rest = line.split("Heard:").nth(1).and_then(|rest| rest.split("Not heard").next());
            rest.is_some_and(|heard| heard.contains("Anna"))
        };
        let panel = self.discord.wait_for_message(inn.text, BOUND, |it| heard(it.content())).await;
        panel.expect("the bot hears the player");
        player.in_call_with(&[npc], BOUND).await.expect("keys");
        Room { inn, player, npc, bot: Arc::clone(&self.bot) }
    }

    /// Ends the bot; Discord must have nothing to complain about.
    pub async fn close(self, rooms: Vec<Room>) {
        for room in &rooms {
            room.player.leave();
        }
        assert_eq!(self.discord.violations(), Vec::<String>::new());
        self.bot.process.lock().await.kill().await.expect("it runs");
    }
}

impl Bot {
    async fn listen(self: Arc<Self>, stdout: BufReader<tokio::process::ChildStdout>) {
        let mut lines = stdout.lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let words: Vec<&str> = line.split(' ').collect();
            let [guild, what, at] = words[..] else { continue };
            let (Ok(guild), Ok(at)) = (guild.parse(), at.parse()) else { continue };
            let event = (guild, what.to_owned(), self.here(Duration::from_nanos(at)));
            self.news.lock().unwrap_or_else(PoisonError::into_inner).events.push(event);
            self.changed.send_replace(());
        }
    }

    /// A time of the system's clock by this process's.
    fn here(&self, since_epoch: Duration) -> Instant {
        let (instant, system) = self.clocks;
        let at = UNIX_EPOCH + since_epoch;
        let later = at.duration_since(system).map(|by| instant.checked_add(by));
        later.unwrap_or_else(|early| instant.checked_sub(early.duration())).unwrap_or(instant)
    }

    #[expect(clippy::print_stderr, reason = "what the bot complains about is to be seen")]
    async fn complaints(self: Arc<Self>, stderr: BufReader<tokio::process::ChildStderr>) {
        let mut lines = stderr.lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let lost = usize::from(line.contains(LOST));
            self.news.lock().unwrap_or_else(PoisonError::into_inner).lost += lost;
            eprintln!("bot: {line}");
        }
    }

    /// Number of times speech was lost.
    pub fn lost(&self) -> usize {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).lost
    }
}

impl Room {
    /// From now on the recogniser reads `words`, also after `frames` frames of an utterance.
    pub async fn cue(&self, frames: usize, words: &str) {
        let since = Instant::now();
        let line = format!("{} {frames} {words}\n", self.inn.id);
        self.bot.stdin.lock().await.write_all(line.as_bytes()).await.expect("the bot reads");
        self.news("cued", since).await;
    }

    /// Waits for the first report of `what` that happened after `since`, and returns its time.
    pub async fn news(&self, what: &str, since: Instant) -> Instant {
        let mut changes = self.bot.changed.subscribe();
        let waiting = async {
            loop {
                changes.borrow_and_update();
                if let Some(at) = self.reported(what, since).first() {
                    return *at;
                }
                changes.changed().await.expect("the bot runs");
            }
        };
        timeout(BOUND, waiting).await.unwrap_or_else(|_| {
            unreachable!("the bot did not report {what:?} ({})", self.history())
        })
    }

    /// All reports of this guild, for a message.
    pub fn history(&self) -> String {
        let (id, now) = (self.inn.id, Instant::now());
        let news = self.bot.news.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = news.events.iter().filter(|(guild, ..)| *guild == id);
        let ours: Vec<_> = ours.map(|(_, name, at)| (name, now - *at)).collect();
        format!("reports of guild {id}, and how long ago: {ours:?}")
    }

    /// Whenever something was reported that happened after `since`.
    pub fn reported(&self, what: &str, since: Instant) -> Vec<Instant> {
        let news = self.bot.news.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = |(guild, name, at): &&(u64, String, Instant)| {
            *guild == self.inn.id && name == what && *at >= since
        };
        news.events.iter().filter(ours).map(|(_, _, at)| *at).collect()
    }

    /// Waits until the NPC has been silent for `time`.
    pub async fn silence(&self, time: Duration) {
        self.player.wait_for_silence(self.npc, time, BOUND).await.expect("the npc falls silent");
    }
}
