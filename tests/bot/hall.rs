//! A Discord with a guild, and the program in it.
//!
//! Entry type: [`Hall`]. Every wait is bounded by [`BOUND`].

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use discord_loopback::{
    AUDIBLE, Discord, Guild, Member, Message, Options, Player, Response, Slash,
};
use glyphoxa::measure::{Registry, TOOL_IDENTITIES, load_config};
use rusqlite::Connection;
use serde_json::Value;

use crate::support::{
    ears::Ears,
    hearing::hear,
    program::{Live, Place, repository},
    speech::speech,
    weights::weights,
};

/// Longest wait for anything: a session begins in five seconds, and in one minute where a build beside
/// the tests leaves them a tenth of the machine.
pub const BOUND: Duration = Duration::from_secs(180);
/// A role of game masters.
pub const DM: &str = "Game Master";

/// A Discord with one guild, its game master, and the program.
pub struct Hall {
    pub discord: Discord,
    pub inn: Guild,
    pub dm: Member,
    pub place: Place,
    pub program: Option<Live>,
    more: String,
    /// Hears what is said; without it, whatever the configuration says does.
    ears: Option<Ears>,
}

impl Hall {
    /// A guild that the bot is in; it is not started yet. `more` goes into the configuration. A
    /// recogniser of the test hears the players, if `more` names none.
    pub async fn new(options: Options, more: &str) -> Self {
        let ears = (!more.contains("stt:")).then(Ears::start);
        Self::heard_by(ears, options, more).await
    }

    /// Like `new`, without a recogniser.
    pub async fn unheard(options: Options) -> Self {
        Self::heard_by(None, options, "").await
    }

    async fn heard_by(ears: Option<Ears>, options: Options, more: &str) -> Self {
        let discord = Discord::start(options).await.expect("a discord");
        let inn = discord.guild("The Tilted Tankard");
        let role = inn.add_role(DM, 0);
        let dm = inn.add_member("Dora", &[role]);
        let certificates = discord.ca_file().display().to_string();
        let place = Place::new()
            .env("SSL_CERT_FILE", &certificates)
            .env("RUST_LOG", "warn,songbird=error,glyphoxa=debug");
        let hall = Self { discord, inn, dm, place, program: None, more: more.to_owned(), ears };
        hall.configure(role);
        hall
    }

    fn configure(&self, role: u64) {
        let address: SocketAddr =
            self.discord.api_base().trim_start_matches("https://").parse().expect("an address");
        let (npcs, campaign) = (repository("npcs"), repository("campaigns/ravenford.yaml"));
        // Tests about admission set the served guilds themselves.
        let says = ["guilds:", "guild_id:", "# let in"].iter().any(|it| self.more.contains(it));
        let guilds = if says { "" } else { "  guilds: any\n" };
        let is_own = self.more.contains("# own cast");
        let cast = if is_own { String::new() } else { format!("npc_dir: {}\n", npcs.display()) };
        let mut more = self.more.clone();
        if let Some(ears) = &self.ears {
            if !more.contains("providers:\n") {
                more.push_str("\nproviders:\n");
            }
            more = more.replace("providers:\n", &format!("providers:\n{}", ears.entry()));
        }
        let text = format!(
            "campaign: {}\n{cast}data_dir: data\nlog: {{ level: debug }}\n\
             discord:\n  token: \"{}\"\n  api_base: https://{address}\n  dm_role: \"{role}\"\n{guilds}{}\n",
            campaign.display(),
            self.discord.token(),
            more,
        );
        self.place.write("glyphoxa.yaml", text);
    }

    /// Starts the program and waits until its gateway stands.
    pub async fn start(&mut self) {
        let bot = self.discord.bot();
        let before = self.discord.identifies(bot);
        let (mut program, began) = (self.place.start(&["run"]), Instant::now());
        let look = Duration::from_secs(1);
        while self.discord.wait_identified(bot, before + 1, look).await.is_err() {
            assert!(!program.has_ended(), "the bot has ended: {:#?}", program.said());
            assert!(began.elapsed() < BOUND, "the bot does not connect: {:#?}", program.said());
        }
        self.program = Some(program);
    }

    /// A hall whose bot listens in the voice channel, with the game master in it.
    pub async fn in_session(options: Options, more: &str) -> (Self, Player) {
        let mut hall = Self::new(options, more).await;
        let dora = hall.listens().await;
        (hall, dora)
    }

    /// Like `in_session`, with a player of this name in the channel. Both have heard the notice to its end.
    pub async fn with_player(options: Options, more: &str, name: &str) -> (Self, [Player; 2]) {
        let mut hall = Self::new(options, more).await;
        let players = hall.listens_with(name).await;
        (hall, players)
    }

    /// Like `with_player`, with Whisper as the recogniser; `None`, after a report: its files are missing.
    pub async fn heard_by_whisper(name: &str) -> Option<(Self, [Player; 2])> {
        let models = weights()?.display().to_string();
        let mut hall = Self::heard_by(None, Options::default(), "").await;
        hall.place.set_env("GLYPHOXA_MODELS", &models);
        let players = hall.listens_with(name).await;
        Some((hall, players))
    }

    /// Like `listens`, with a player of this name, who is there before the bot: one notice is for both.
    pub async fn listens_with(&mut self, name: &str) -> [Player; 2] {
        let member = self.inn.add_member(name, &[]);
        let player = self.discord.join_voice(&member, self.inn.voice).await.expect("a seat");
        let dora = self.listens().await;
        self.listens_to(name).await;
        self.has_greeted(&player).await;
        [dora, player]
    }

    /// Starts the program, and the session that the game master is in.
    pub async fn listens(&mut self) -> Player {
        self.start().await;
        let dora = self.discord.join_voice(&self.dm, self.inn.voice).await.expect("a seat");
        let answer = self.asks(&self.dm, Slash::new("session start")).await;
        assert!(answer.text().contains("I listen"), "{}", answer.text());
        dora
    }

    /// The bot's final answer.
    pub async fn asks(&self, member: &Member, slash: Slash) -> Response {
        self.asks_in(member, self.inn.text, slash).await
    }

    /// Like `asks`, in a channel of any guild.
    pub async fn asks_in(&self, member: &Member, channel: u64, slash: Slash) -> Response {
        let answer = self.discord.command(member, channel, slash).await.expect("a command");
        answer.wait_final(BOUND).await.expect("an answer")
    }

    /// The ephemeral answer in a channel of any guild.
    pub async fn told_in(&self, member: &Member, channel: u64, slash: Slash) -> String {
        let answer = self.asks_in(member, channel, slash).await;
        assert!(answer.ephemeral(), "{}", answer.text());
        answer.text()
    }

    /// The ephemeral answer, deferred or not.
    pub async fn told(&self, member: &Member, slash: Slash) -> String {
        let answer = self.asks(member, slash).await;
        assert!(answer.ephemeral(), "{}", answer.text());
        answer.text()
    }

    /// Asks until the answer, which only the asker reads, is as wanted; that answer.
    pub async fn until_told(
        &self,
        member: &Member,
        slash: Slash,
        wanted: impl Fn(&str) -> bool,
    ) -> String {
        let asked = Instant::now();
        loop {
            let told = self.told(member, slash.clone()).await;
            if wanted(&told) {
                return told;
            }
            assert!(asked.elapsed() < BOUND, "not as wanted after {BOUND:?}: {told}");
        }
    }

    /// A member presses the button of this label; what they read then.
    pub async fn presses(&self, member: &Member, message: &Message, label: &str) -> Response {
        let button =
            message.button(label).unwrap_or_else(|| panic!("no {label}: {}", message.text()));
        let id = button["custom_id"].as_str().expect("buttons have ids");
        let answer = self.discord.press(member, self.inn.text, message.id, id).await;
        answer.expect("a press").wait_final(BOUND).await.expect("an answer")
    }

    /// The panel, or any other message of the text channel, once it is as wanted.
    pub async fn reads(&self, mut wanted: impl FnMut(&Message) -> bool) -> Message {
        let channel = self.inn.text;
        self.discord.wait_for_message(channel, BOUND, |it| wanted(it)).await.expect("a message")
    }

    /// Waits until the bot hears `name` in the session that runs; the panel of one that is over
    /// still says whom it heard.
    pub async fn listens_to(&self, name: &str) {
        let heard = |it: &Message| {
            let runs = !it.content().contains("The session is over");
            it.content().split("Heard:").nth(1).filter(|_| runs).is_some_and(|rest| {
                rest.split("Not heard").next().is_some_and(|heard| heard.contains(name))
            })
        };
        self.reads(heard).await;
    }

    /// Ends the program as a system does, and checks that Discord has nothing to complain about.
    pub fn ends(mut self) {
        self.end();
    }

    /// Like `ends`; returns what is stored of sessions as text: their states, and their calls.
    pub fn ends_keeping(mut self) -> String {
        self.end();
        let states = kept_states(&self.place).into_iter().map(|(_, state)| state);
        let files = std::fs::read_dir(self.place.path("data/sessions")).into_iter().flatten();
        let files = files.map(|file| file.expect("a file").path());
        states.chain(files.map(|file| std::fs::read_to_string(file).expect("text"))).collect()
    }

    fn end(&mut self) {
        let program = self.program.take().expect("it was started");
        let ended = program.terminate();
        assert_eq!(ended, 0, "it ends well");
        assert_eq!(self.discord.violations(), Vec::<String>::new());
    }
}

/// The sessions of servers in the memory, and their states as JSON.
pub fn kept_states(place: &Place) -> Vec<(String, String)> {
    let memory = Connection::open(place.path("data/memory.db")).expect("a memory");
    let select = "SELECT session, state FROM kept_table ORDER BY session";
    let mut states = memory.prepare(select).expect("a table of states");
    let states = states.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("states");
    states.collect::<Result<_, _>>().expect("texts")
}

impl Drop for Hall {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(program) = &self.program
        {
            eprintln!("the program said:\n{}", program.said().join("\n"));
        }
    }
}

/// Every throw of dice that was shown so far: message and total, oldest first.
pub fn throws(hall: &Hall) -> Vec<(u64, i64)> {
    hall.discord.messages(hall.inn.text).iter().filter_map(throw).collect()
}

fn throw(message: &Message) -> Option<(u64, i64)> {
    let (_, shown) = message.content().split_once(" rolls")?;
    Some((message.id, shown.rsplit("= ").next()?.parse().ok()?))
}

/// Answers that an NPC whose name begins so remembers, in the states of sessions.
pub fn answers_of(npc: &str, kept: &str) -> Vec<String> {
    let mut files = serde_json::Deserializer::from_str(kept).into_iter::<Value>().flatten();
    let kept = files.find(|file| file["histories"].is_object()).expect("a saved session");
    let histories = kept["histories"].as_object().expect("conversations");
    let (_, history) = histories.iter().find(|(name, _)| name.starts_with(npc)).expect("a history");
    let messages = history.as_array().expect("messages").iter();
    messages.filter_map(|it| Some(it["assistant"]["text"].as_str()?.to_owned())).collect()
}

/// True if `heard` has `number`, in digits or as a word.
pub fn is_in(heard: &str, number: i64) -> bool {
    const WORDS: [&str; 16] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve", "thirteen", "fourteen", "fifteen",
    ];
    let word = WORDS[usize::try_from(number).expect("a small total")];
    let mut words = heard.split(|c: char| !c.is_alphanumeric());
    words.any(|it| it.eq_ignore_ascii_case(word) || it == number.to_string())
}

impl Hall {
    /// `player` has heard the spoken notice to its end. Nothing was forgotten since it came.
    pub async fn has_greeted(&self, player: &Player) {
        let bot = self.discord.bot();
        player.wait_until_heard(bot, BOUND).await.expect("the notice");
        player.wait_for_silence(bot, Duration::from_millis(700), BOUND).await.expect("its end");
    }

    /// Audible packets of the bot that `player` has heard since it forgot the rest; 20 ms each.
    pub fn audible(&self, player: &Player) -> usize {
        player.packets(self.discord.bot()).iter().filter(|it| it.rms >= AUDIBLE).count()
    }

    /// Waits until `player` has heard `packets` audible packets of the bot.
    pub async fn is_heard_for(&self, player: &Player, packets: usize) {
        while self.audible(player) < packets {
            let voice = player.wait_for_voice(self.discord.bot(), AUDIBLE, BOUND).await;
            voice.expect("the bot goes on");
        }
    }

    /// `player`, whom the bot hears, asks for dice until Bartok has answered, and hears him; the total.
    pub async fn rolls_for(&self, player: &Player) -> i64 {
        let bot = self.discord.bot();
        let quiet = Duration::from_millis(500);
        player.wait_for_silence(bot, quiet, BOUND).await.expect("the bot falls silent");
        player.forget();
        let before = throws(self);
        player.say(&said("slt", "Bartok, roll two d six plus three")).await.expect("it is said");
        player.wait_until_heard(bot, BOUND).await.expect("Bartok answers");
        let new = |it: &Message| throw(it).filter(|thrown| !before.contains(thrown));
        let shown = self.reads(|it| new(it).is_some()).await;
        player.wait_for_silence(bot, quiet, BOUND).await.expect("Bartok comes to an end");
        new(&shown).expect("a throw of dice").1
    }
}

/// `text` as a player says it: flite's voice at 48 kHz, with a little silence around it.
pub fn said(voice: &str, text: &str) -> Vec<i16> {
    at_48k(&speech(voice, text))
}

/// 16 kHz to 48 kHz, by repetition between which it is interpolated.
fn at_48k(samples: &[i16]) -> Vec<i16> {
    let next = |index: usize| samples.get(index + 1).copied().unwrap_or(0);
    let between = |(index, sample): (usize, &i16)| {
        let (from, to) = (i32::from(*sample), i32::from(next(index)));
        [0, 1, 2].map(|step| i16::try_from(from + (to - from) * step / 3).expect("between"))
    };
    samples.iter().enumerate().flat_map(between).collect()
}

/// Whisper's transcript of 48 kHz sound.
pub async fn understood(pcm48: &[i16]) -> String {
    let file: PathBuf = repository("glyphoxa.yaml");
    let models = weights().expect("the caller has checked for them").display().to_string();
    let environment = |name: &str| (name == "GLYPHOXA_MODELS").then(|| models.clone());
    let config = load_config(Some(&file), &environment, TOOL_IDENTITIES).expect("shipped files");
    let recognisers = Registry::default().recognisers(&config.services);
    let recognisers = recognisers.expect("it needs no address");
    let whisper = recognisers.iter().next().expect("one is configured").service();
    let thirds: Vec<i16> = pcm48
        .chunks_exact(3)
        .map(|it| i16::try_from(it.iter().map(|s| i32::from(*s)).sum::<i32>() / 3).expect("a mean"))
        .collect();
    hear(&**whisper, &thirds).await
}
