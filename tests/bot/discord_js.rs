//! A client made elsewhere sits at the table: discord.js with its voice and DAVE packages, through
//! `discord_js.mjs` beside this file.
//!
//! `./dev test` installs it into `target/third-party`; where it could not, this says SKIPPED.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use discord_loopback::{Member, Options, Slash};
use serde_json::{Value, json};

use super::hall::{BOUND, Hall, is_in, said, throws, understood};
use crate::{
    support::program::{Live, repository},
    third_party::{installed, node},
};

/// Attempts of the guest. The recogniser of tests takes flite's "eight" for "it" in most of
/// Bartok's answers, and a few others for something else: about one in six.
const ATTEMPTS: usize = 4;

/// A player on discord.js.
struct Guest {
    node: Live,
    member: Member,
}

/// The packages, and the Node.js that runs them.
fn packages() -> Option<(PathBuf, PathBuf)> {
    Some((installed("discord-js")?, node("discord-js")?))
}

impl Guest {
    /// A member whose client has logged in.
    fn new(hall: &Hall, name: &str, (packages, node): &(PathBuf, PathBuf)) -> Self {
        let member = hall.inn.add_member(name, &[]);
        let settings = json!({
            "packages": packages, "api": format!("{}/api", hall.discord.http_base()),
            "token": member.token(), "guild": hall.inn.id.to_string(),
            "channel": hall.inn.voice.to_string(), "hears": hall.discord.bot().to_string(),
        });
        let mut command = Command::new(node);
        command.arg(repository("tests/bot/discord_js.mjs")).arg(settings.to_string());
        command.env("NODE_EXTRA_CA_CERTS", hall.discord.ca_file());
        let guest = Self { node: Live::of(command), member };
        assert_eq!(guest.has_done("login")["user"], guest.member.id.to_string());
        guest
    }

    /// Waits until an order has been followed; what it brought.
    fn has_done(&self, order: &str) -> Value {
        let line = self.node.says(&json!({"done": order}).to_string().replace('}', ""));
        serde_json::from_str(&line).expect("a line of JSON")
    }

    /// Types an order, and waits for its result.
    fn does(&mut self, order: &str) -> Value {
        self.node.types(order);
        self.has_done(order.split(' ').next().unwrap_or_default())
    }

    /// Asks Bartok for dice, `turn` being the how manieth question, and listens until he has
    /// answered: the total, and what was heard.
    async fn rolls(&mut self, hall: &Hall, turn: usize) -> (i64, Vec<i16>) {
        let (line, answer) = (hall.place.path("line.pcm"), hall.place.path("answer.pcm"));
        let samples = said("slt", "Bartok, roll two d six plus three");
        fs::write(&line, samples.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>())
            .expect("a file");
        self.does("quiet");
        self.does("forget");
        self.does(&format!("say {}", line.display()));
        self.does("hears");
        let answered = format!("{turn}: {turn} answered");
        hall.reads(|it| it.text().contains(&answered)).await;
        self.does("quiet");
        let kept = self.does(&format!("keep {}", answer.display()));
        eprintln!("discord.js heard {kept}");
        let bytes = fs::read(&answer).expect("what was heard");
        let sound = bytes.chunks_exact(2).map(|it| i16::from_le_bytes([it[0], it[1]])).collect();
        let thrown = throws(hall);
        assert_eq!(thrown.len(), turn, "{thrown:?}");
        (thrown[turn - 1].1, sound)
    }
}

impl Hall {
    /// The game master, who does not sit in the channel, has the bot join it.
    async fn begins_from_elsewhere(&self) {
        let start = Slash::new("session start").option("channel", self.inn.voice.to_string());
        let answer = self.asks(&self.dm, start).await;
        assert!(answer.text().contains("I listen"), "{}", answer.text());
    }

    /// Waits until the bot and the guest are in one group of DAVE, which one commit has made.
    async fn encrypts_for(&self, guest: &Guest) {
        let both = [self.discord.bot(), guest.member.id].into();
        let until = Instant::now() + BOUND;
        loop {
            let group = self.discord.voice().group(self.inn.id, self.inn.voice);
            if group.members == both && group.transitions == 1 {
                assert_eq!((group.epoch, group.refused), (1, 0), "{group:?}");
                return;
            }
            assert!(Instant::now() < until, "not in one group: {group:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The guest asks and is answered, all of it encrypted end to end, and both leave.
    async fn serves(self, mut guest: Guest) {
        self.encrypts_for(&guest).await;
        self.listens_to("Anna").await;
        // Every newcomer hears this notice aloud.
        guest.does("hears");
        let mut misheard = Vec::new();
        while misheard.len() < ATTEMPTS {
            let (total, sound) = guest.rolls(&self, misheard.len() + 1).await;
            let heard = understood(&sound).await;
            if is_in(&heard, total) {
                break;
            }
            misheard.push((total, heard));
        }
        assert!(misheard.len() < ATTEMPTS, "{misheard:?}");
        for user in [self.discord.bot(), guest.member.id] {
            let counts = self.discord.voice().counts(self.inn.id, user);
            assert!(counts.dave_frames > 50 && counts.plain_frames == 0, "{user}: {counts:?}");
        }
        assert_eq!(guest.node.leave(), 0);
        self.ends();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn discord_js_player_joins_bot_and_is_answered() {
    let Some(packages) = packages() else { return };
    let mut hall = Hall::new(Options::default(), "").await;
    hall.start().await;
    hall.begins_from_elsewhere().await;
    // Alone there, it is the bot that lets the guest into the group.
    let mut guest = Guest::new(&hall, "Anna", &packages);
    guest.does("join");
    hall.serves(guest).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn discord_js_player_admits_bot_and_is_answered() {
    let Some(packages) = packages() else { return };
    let mut hall = Hall::new(Options::default(), "").await;
    let mut guest = Guest::new(&hall, "Anna", &packages);
    guest.does("join");
    hall.start().await;
    hall.begins_from_elsewhere().await;
    hall.serves(guest).await;
}
