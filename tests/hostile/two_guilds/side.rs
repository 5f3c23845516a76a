//! One of the two servers: its game master, a seat there, and what the bot answers.
//!
//! Entry types: [`Side`], [`Order`].

use std::time::Duration;

use discord_loopback::{AUDIBLE, Guild, Member, Player, Slash};
use serde_json::Value;

use crate::bot::hall::{BOUND, Hall};

/// A slash command and what it is called.
pub struct Order {
    pub path: &'static str,
    slash: Slash,
}

impl Order {
    pub fn new(path: &'static str) -> Self {
        Self { path, slash: Slash::new(path) }
    }

    /// Fills in an option.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.slash = self.slash.option(name, value);
        self
    }

    /// Fills in an option with a file of the world.
    pub fn file(mut self, text: &str) -> Self {
        let slash = self.slash;
        self.slash = slash.file("file", "world.yaml", "application/yaml", text.as_bytes());
        self
    }
}

/// A server, its game master and a seat there.
pub struct Side<'a> {
    pub hall: &'a Hall,
    pub guild: Guild,
    dm: Member,
    seat: Player,
}

impl<'a> Side<'a> {
    pub async fn sit_down(hall: &'a Hall, guild: Guild, dm: Member) -> Self {
        let seat = hall.discord.join_voice(&dm, guild.voice).await.expect("a seat");
        Self { hall, guild, dm, seat }
    }

    /// All that its game master reads of an answer.
    pub async fn asks(&self, order: Order) -> String {
        self.asks_as(&self.dm, order).await
    }

    /// All that `member` reads of an answer.
    pub async fn asks_as(&self, member: &Member, order: Order) -> String {
        let answer = self.hall.asks_in(member, self.guild.text, order.slash).await;
        let mut read = format!("/{}: {}", order.path, answer.text());
        for (name, address) in answer.message.iter().flat_map(|it| it.files()) {
            let bytes = self.hall.discord.file(&address).expect("a file that was sent");
            read.push_str(&format!("\n{name}: {}", String::from_utf8_lossy(&bytes)));
        }
        read + &answer.modal().map(|it| it.to_string()).unwrap_or_default()
    }

    /// Component ids of its game master's answer.
    pub async fn ids(&self, order: Order) -> Vec<String> {
        let answer = self.hall.asks_in(&self.dm, self.guild.text, order.slash).await;
        let message = answer.message.expect("a message");
        let used = message.components();
        used.iter().filter_map(|it| it["custom_id"].as_str().map(str::to_owned)).collect()
    }

    /// Answer to its game master, or to `by`, who uses a component of another server's message.
    pub async fn forges(&self, by: Option<&Member>, id: &str) -> String {
        let by = by.unwrap_or(&self.dm);
        let used = self.hall.discord.forge(by, self.guild.text, id).await.expect("it is sent");
        let answer = used.wait_final(BOUND).await.expect("an answer");
        assert!(answer.ephemeral(), "{id}: {}", answer.text());
        format!("{id}: {}", answer.text())
    }

    /// Choices offered while `order`'s `option` is typed.
    pub async fn typing(&self, order: Order, option: &str) -> String {
        let (dm, text) = (&self.dm, self.guild.text);
        let typed = self.hall.discord.autocomplete(dm, text, order.slash, option).await;
        let choices = typed.expect("it is completed").wait_first(BOUND).await.expect("choices");
        let choices: Vec<String> = choices.choices().into_iter().map(|(name, _)| name).collect();
        format!("/{} {option}: {}", order.path, choices.join(", "))
    }

    /// Begins a session that hears its game master.
    pub async fn starts(&self) {
        let started = self.asks(Order::new("session start")).await;
        assert!(started.contains("I listen"), "{started}");
        let heard = self.hall.discord.wait_for_message(self.guild.text, BOUND, |it| {
            it.content().split("Heard:").nth(1).is_some_and(|rest| !rest.contains("no one"))
        });
        heard.await.expect("somebody is heard");
        self.hall.has_greeted(&self.seat).await;
    }

    /// Says something to Tessa and waits until she has answered.
    pub async fn says(&self, text: &str) {
        let (bot, quiet) = (self.hall.discord.bot(), Duration::from_millis(700));
        self.seat.wait_for_silence(bot, quiet, BOUND).await.expect("it is quiet");
        self.seat.forget();
        self.asks(Order::new("say").with("text", text).with("npc", "Tessa")).await;
        self.seat.wait_for_voice(bot, AUDIBLE, BOUND).await.expect("she answers");
        self.seat.wait_for_silence(bot, quiet, BOUND).await.expect("she comes to an end");
    }

    /// All texts in its text channel.
    pub fn channel(&self) -> String {
        let messages = self.hall.discord.messages(self.guild.text);
        messages.iter().map(|it| it.text()).collect::<Vec<_>>().join("\n")
    }
}
