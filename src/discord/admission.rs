//! Admission of servers: a user who invites the bot is not its owner yet.
//!
//! Entry type: [`Admission`]. **Never**: reveals more to an unapproved server than its owner's
//! contact.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dashmap::DashSet;
use serenity::{
    all::{CommandDataOptionValue, GuildId, Interaction},
    http::Http,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::options::Options;
use crate::campaign::{GuildError, GuildStore};

/// How long the bot stays on an unapproved server.
const STAY: Duration = Duration::from_secs(3_600);
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Attempts at the code per server.
const TRIES: u32 = 5;
/// Letters of a code, without lookalikes.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

pub fn code(random: u64) -> String {
    let letter = |at: u32| char::from(LETTERS[(random >> (at * 5) & 31) as usize]);
    let (first, last) = ((0..4).map(letter), (4..8).map(letter));
    first.chain(['-']).chain(last).collect()
}

/// Standing of a server with the bot.
pub enum Access {
    Served,
    Stranger,
    /// Its settings could not be read.
    Unknown(GuildError),
}

/// Admission of servers. Clones share state.
#[derive(Clone)]
pub struct Admission(Arc<State>);

struct State {
    options: Options,
    kept: GuildStore,
    served: DashSet<GuildId>,
    strangers: Mutex<BTreeMap<GuildId, Stranger>>,
}

struct Stranger {
    since: Instant,
    tries: u32,
}

impl Admission {
    pub fn new(options: Options, kept: GuildStore) -> Self {
        let (served, strangers) = (DashSet::new(), Mutex::default());
        Self(Arc::new(State { options, kept, served, strangers }))
    }

    pub async fn standing(&self, guild: GuildId, now: Instant) -> Access {
        if self.0.served.contains(&guild) {
            return Access::Served;
        }
        if self.strangers().contains_key(&guild) {
            return Access::Stranger;
        }
        let is_served = match self.0.options.serves(guild.get()) {
            Some(is_served) => is_served,
            None => match self.0.kept.is_kept(guild.get()).await {
                Ok(is_kept) => is_kept,
                Err(why) => return Access::Unknown(why),
            },
        };
        if is_served {
            self.let_in(guild);
            return Access::Served;
        }
        let fresh = || {
            tracing::warn!(
                guild = guild.get(),
                "someone invited the bot to a server that is not approved; it leaves in an hour \
                 (to approve the server, add it to discord.guilds, or type /setup there with the \
                 code above)"
            );
            Stranger { since: now, tries: 0 }
        };
        self.strangers().entry(guild).or_insert_with(fresh);
        Access::Stranger
    }

    /// True if `interaction` admits its server: `/setup` with the code, from a member who may
    /// manage the server. Counts as an attempt.
    pub fn takes(&self, guild: GuildId, interaction: &Interaction) -> bool {
        let Interaction::Command(used) = interaction else { return false };
        let may = used.member.as_ref().and_then(|it| it.permissions).unwrap_or_default();
        let given = used.data.options.iter().find(|it| it.name == "code").map(|it| &it.value);
        let Some(CommandDataOptionValue::String(given)) = given else { return false };
        if used.data.name != "setup" || !may.manage_guild() || !self.is_code(guild, given) {
            return false;
        }
        tracing::info!(guild = guild.get(), "a server gave the code and is approved");
        self.let_in(guild);
        true
    }

    /// True if `given` is the code, within the first [`TRIES`] attempts of the server.
    fn is_code(&self, guild: GuildId, given: &str) -> bool {
        let Some(code) = &self.0.options.code else { return false };
        let mut strangers = self.strangers();
        let Some(stranger) = strangers.get_mut(&guild) else { return false };
        stranger.tries += 1;
        let letters = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_uppercase()
        };
        stranger.tries <= TRIES && letters(given) == letters(code)
    }

    fn let_in(&self, guild: GuildId) {
        self.0.served.insert(guild);
        self.strangers().remove(&guild);
    }

    /// Forgets a server that removed the bot.
    pub fn left(&self, guild: GuildId) {
        self.0.served.remove(&guild);
        self.strangers().remove(&guild);
    }

    /// Forgets the strangers that `is_meant`: another node may have approved them meanwhile.
    pub fn forget_strangers(&self, is_meant: impl Fn(u64) -> bool) {
        self.strangers().retain(|guild, _| !is_meant(guild.get()));
    }

    pub fn refusal(guild: GuildId) -> String {
        format!(
            "I'm not approved for this server yet: ask the bot's owner to approve it (they add \
             {guild} to `discord.guilds`, or give you a code for `/setup code`)."
        )
    }

    fn due(&self, now: Instant, serves: impl Fn(u64) -> bool) -> Vec<GuildId> {
        let strangers = self.strangers();
        let due = strangers.iter().filter(|(_, it)| now.duration_since(it.since) >= STAY);
        due.map(|(guild, _)| *guild).filter(|guild| serves(guild.get())).collect()
    }

    /// Leaves unapproved servers an hour after they were first seen, until `stop`; those for which
    /// `serves` is false are left to the node that serves their shard.
    pub async fn leave_strangers(
        self,
        http: Arc<Http>,
        serves: impl Fn(u64) -> bool,
        stop: CancellationToken,
    ) {
        while stop.run_until_cancelled(sleep(LOOK_EVERY)).await.is_some() {
            for guild in self.due(Instant::now(), &serves) {
                match http.leave_guild(guild).await {
                    Ok(()) => {
                        tracing::warn!(guild = guild.get(), "left a server that is not approved");
                        self.left(guild);
                    }
                    Err(error) => {
                        tracing::warn!(guild = guild.get(), %error, "cannot leave a server");
                    }
                }
            }
        }
    }

    /// Held for a look-up, never across an await.
    fn strangers(&self) -> MutexGuard<'_, BTreeMap<GuildId, Stranger>> {
        self.0.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        net::TcpListener,
    };

    use serenity::http::HttpBuilder;

    use super::*;
    use crate::campaign::{GuildSettings, ServedGuilds, stand_in_guild_store};

    const STRANGE: GuildId = GuildId::new(8);

    fn admission(folder: &std::path::Path, served: ServedGuilds) -> Admission {
        let code = Some(code(0x1234_5678_9abc));
        let options = Options { guild: Some(7), served, code, ..Options::plain() };
        Admission::new(options, stand_in_guild_store(folder))
    }

    async fn serves(admission: &Admission, guild: u64) -> bool {
        let standing = admission.standing(GuildId::new(guild), Instant::now()).await;
        matches!(standing, Access::Served)
    }

    #[tokio::test]
    async fn servers_not_let_in_are_not_served() {
        let folder = tempfile::tempdir().unwrap();
        let listed = admission(folder.path(), ServedGuilds::Listed([9].into()));
        assert!(serves(&listed, 7).await && serves(&listed, 9).await);
        assert!(!serves(&listed, 8).await);
        assert!(serves(&admission(folder.path(), ServedGuilds::Any), 8).await);
        let let_in = admission(folder.path(), ServedGuilds::LetIn);
        assert!(serves(&let_in, 7).await && !serves(&let_in, 8).await);
        let_in.0.kept.clone().keep(8, GuildSettings::default()).await.unwrap();
        let later = admission(folder.path(), ServedGuilds::LetIn);
        assert!(serves(&later, 8).await, "something was set there before");
        let listed = admission(folder.path(), ServedGuilds::Listed([9].into()));
        assert!(!serves(&listed, 8).await, "a list is the whole of it");
    }

    #[tokio::test]
    async fn code_is_tried_a_few_times() {
        let folder = tempfile::tempdir().unwrap();
        let here = admission(folder.path(), ServedGuilds::LetIn);
        let right = here.0.options.code.clone().unwrap();
        assert_eq!(right.len(), 9);
        assert!(!here.is_code(STRANGE, &right), "who was never seen tries nothing");
        assert!(!serves(&here, 8).await);
        assert!(here.is_code(STRANGE, &right.to_lowercase().replace('-', " ")));
        for _ in 1..TRIES {
            assert!(!here.is_code(STRANGE, "ABCD-EFGH"));
        }
        assert!(!here.is_code(STRANGE, &right), "it has guessed too often");
    }

    #[tokio::test]
    async fn stranger_is_left_after_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let here = admission(folder.path(), ServedGuilds::LetIn);
        let now = Instant::now();
        let standing = here.standing(STRANGE, now).await;
        assert!(matches!(standing, Access::Stranger));
        // Asking again does not extend the stay.
        here.standing(STRANGE, now + STAY / 2).await;
        assert!(here.due(now + STAY - Duration::from_secs(1), |_| true).is_empty());
        assert_eq!(here.due(now + STAY, |_| true), [STRANGE]);
        here.left(STRANGE);
        assert!(here.due(now + STAY, |_| true).is_empty());
    }

    #[tokio::test]
    async fn stranger_approved_elsewhere_is_not_left() {
        let folder = tempfile::tempdir().unwrap();
        let here = admission(folder.path(), ServedGuilds::LetIn);
        assert!(!serves(&here, 8).await);
        // Its shard moves, and it gives the code there.
        here.0.kept.clone().keep(8, GuildSettings::default()).await.unwrap();
        assert!(here.due(Instant::now() + STAY, |guild| guild != 8).is_empty());
        here.forget_strangers(|guild| guild == 8);
        assert!(serves(&here, 8).await, "its shard is back");
    }

    #[tokio::test(start_paused = true)]
    async fn discord_is_asked_to_leave_server_after_hour() {
        let folder = tempfile::tempdir().unwrap();
        let here = admission(folder.path(), ServedGuilds::LetIn);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, asked) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
            let asked = lines.next().unwrap();
            lines.find(String::is_empty).unwrap();
            (&stream).write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n").unwrap();
            sender.send(asked).unwrap();
        });
        let http = HttpBuilder::new("MTIz.a.b").proxy(format!("http://{address}"));
        let http = Arc::new(http.ratelimiter_disabled(true).build());
        let began = Instant::now();
        assert!(!serves(&here, 8).await);
        assert!(serves(&here, 7).await);
        let leaving =
            tokio::spawn(here.clone().leave_strangers(http, |_| true, CancellationToken::new()));
        let in_real_time = std::time::Instant::now();
        while !here.strangers().is_empty() {
            assert!(in_real_time.elapsed() < Duration::from_secs(60), "it stays there");
            sleep(LOOK_EVERY).await;
        }
        leaving.abort();
        assert!(began.elapsed() >= STAY);
        let asked = asked.recv_timeout(Duration::from_secs(60)).expect("Discord is asked");
        assert_eq!(asked, "DELETE /api/v10/users/@me/guilds/8 HTTP/1.1");
        assert!(serves(&here, 7).await);
    }
}
