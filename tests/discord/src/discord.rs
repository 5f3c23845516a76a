//! The whole of it: start, addresses, guilds, messages, voice, faults.
//!
//! Entry type: [`Discord`]. Never: protocol.

use crate::{
    clock::Clock,
    gateway,
    options::{Limit, Options},
    player::{Player, Seat},
    rest::{self, Fault, Request},
    state::{Inner, Shared, State},
    stream,
    tls::Certificates,
    voice::Voice,
    world::{Guild, Member, Message, model::VoiceState},
};
use anyhow::Context as _;
use serde_json::Value;
use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// A Discord on this machine. Everything ends when it is dropped.
pub struct Discord {
    /// Everything.
    pub(crate) inner: Shared,
    stop: CancellationToken,
}

impl Drop for Discord {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Discord {
    /// Starts REST, gateway and voice on free ports of 127.0.0.1, with one bot and no guild.
    ///
    /// # Errors
    /// Fails if no port is free or no certificate can be made.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        let certificates = Certificates::new().context("making certificates")?;
        let (rest_listener, rest) = stream::listen().await?;
        let (gateway_listener, gateway) = stream::listen().await?;
        let voice = Voice::start(certificates.acceptor(), options.voice.clone()).await?;
        let inner = Arc::new(Inner {
            options,
            clock: Clock::default(),
            certificates,
            rest,
            gateway,
            voice,
            state: Mutex::new(State::default()),
            bell: watch::Sender::new(()),
        });
        let bot = inner.new_user(&inner.options.bot_name, true);
        inner.change(|state| state.world.bot = bot);
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(rest::run(inner.clone(), rest_listener, tasks.clone(), stop.clone()));
        tasks.spawn(gateway::run(inner.clone(), gateway_listener, tasks.clone(), stop.clone()));
        Ok(Self { inner, stop })
    }

    /// Address of REST, over TLS: `https://127.0.0.1:PORT`. The certificate is also good for
    /// `discord.com`, for clients that resolve that name to this address.
    #[must_use]
    pub fn api_base(&self) -> String {
        format!("https://{}", self.inner.rest)
    }

    /// Like [`Discord::api_base`], without TLS: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn http_base(&self) -> String {
        format!("http://{}", self.inner.rest)
    }

    /// Address of the gateway.
    #[must_use]
    pub fn gateway_url(&self) -> String {
        self.inner.gateway_url()
    }

    /// The certificate authority, PEM: for `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS`.
    #[must_use]
    pub fn ca_file(&self) -> &Path {
        self.inner.certificates.authority()
    }

    /// The bot's user id, which is its application's too.
    #[must_use]
    pub fn bot(&self) -> u64 {
        self.inner.read(|state| state.world.bot)
    }

    /// The bot's token.
    #[must_use]
    pub fn token(&self) -> String {
        self.inner.read(|state| {
            let bot = state.world.users.get(&state.world.bot);
            bot.map(|user| user.token.clone()).unwrap_or_default()
        })
    }

    /// A new guild with the bot in it, a text channel, a voice channel and an owner.
    #[must_use]
    pub fn guild(&self, name: &str) -> Guild {
        self.new_guild(name, true, (0, 1))
    }

    /// A new guild to which the bot was not invited.
    #[must_use]
    pub fn guild_without_bot(&self, name: &str) -> Guild {
        self.new_guild(name, false, (0, 1))
    }

    /// Like [`Discord::guild`], on shard `number` of `total`: its id says so.
    #[must_use]
    pub fn guild_on(&self, name: &str, number: u64, total: u64) -> Guild {
        self.new_guild(name, true, (number, total))
    }

    /// A new guild.
    fn new_guild(&self, name: &str, with_bot: bool, shard: (u64, u64)) -> Guild {
        let new = self.inner.new_guild(name, with_bot, shard);
        Guild {
            inner: self.inner.clone(),
            id: new.id,
            text: new.text,
            voice: new.voice,
            bot_role: new.bot_role,
            owner: new.owner,
        }
    }

    /// The registered commands of a guild, or the global ones.
    #[must_use]
    pub fn commands(&self, guild: Option<u64>) -> Vec<Value> {
        self.inner.read(|state| state.commands.get(&guild).cloned().unwrap_or_default())
    }

    /// Number of successful requests that changed commands.
    #[must_use]
    pub fn command_writes(&self) -> usize {
        let writes = |one: &&Request| {
            one.path.contains("/commands")
                && one.method != "GET"
                && (200..300).contains(&one.status)
        };
        self.inner.read(|state| state.requests.iter().filter(writes).count())
    }

    /// All REST requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.inner.read(|state| state.requests.clone())
    }

    /// Messages that everyone sees in a channel, the oldest first.
    #[must_use]
    pub fn messages(&self, channel: u64) -> Vec<Message> {
        self.inner.read(|state| state.messages(channel))
    }

    /// The bytes of a file by its address, as [`Message::files`] has it.
    #[must_use]
    pub fn file(&self, address: &str) -> Option<Vec<u8>> {
        let id = address.rsplit('/').nth(1)?.parse().ok()?;
        self.inner.read(|state| state.uploads.get(&id).map(|upload| upload.bytes.clone()))
    }

    /// Waits for a message of a channel, new or edited, ephemeral ones too; `wanted` may ask the
    /// message alone, not this Discord. Cancel safe.
    ///
    /// # Errors
    /// Fails if none is as wanted within `limit`; says what there was.
    pub async fn wait_for_message(
        &self,
        channel: u64,
        limit: Duration,
        mut wanted: impl FnMut(&Message) -> bool,
    ) -> anyhow::Result<Message> {
        let look = |state: &State| {
            let mut all = state.world.channels.get(&channel)?.messages.iter();
            all.find(|message| !message.deleted && wanted(message)).cloned()
        };
        let found = self.inner.wait(limit, look).await;
        found.with_context(|| {
            let all: Vec<String> = self.messages(channel).iter().map(Message::text).collect();
            format!("waiting {limit:?} for a message in {channel}; there are {all:?}")
        })
    }

    /// A moderator deletes a message.
    pub fn delete_message(&self, channel: u64, message: u64) {
        self.inner.change(|state| rest::erase(state, channel, message));
    }

    /// A member writes into a channel; the message's id.
    ///
    /// # Errors
    /// Fails if Discord would not take it.
    pub fn say(&self, member: &Member, channel: u64, content: &str) -> anyhow::Result<u64> {
        let body = serde_json::json!({"content": content});
        let draft = rest::Draft {
            channel,
            author: member.id,
            body: &body,
            files: &[],
            interaction: None,
            ephemeral_for: None,
        };
        let written = self.inner.change(|state| draft.write(&self.inner, state));
        written.map_err(|refusal| anyhow::anyhow!("{}", refusal.message))
    }

    /// A member sits down in a voice channel with a client of its own.
    ///
    /// # Errors
    /// Fails if Discord would not seat the member there, or its client cannot connect.
    pub async fn join_voice(&self, member: &Member, channel: u64) -> anyhow::Result<Player> {
        let session_id = format!("{:032x}", rand::random::<u128>());
        let state = VoiceState { channel, session: session_id.clone(), ..VoiceState::default() };
        let seat = self.inner.seat(member.guild, member.id, state);
        let seat = seat.map_err(|why| anyhow::anyhow!("no seat in {channel}: {why:?}"))?;
        let (token, endpoint) = seat.context("the member has only changed its flags")?;
        let (guild, user) = (member.guild, member.id);
        let seat = Seat { endpoint, token, guild, channel, user, session_id };
        Player::connect(seat, self.ca_file()).await
    }

    /// A member leaves its voice channel.
    pub fn leave_voice(&self, member: &Member) {
        member.disconnect();
    }

    /// The voice servers: their faults and what went through them.
    #[must_use]
    pub fn voice(&self) -> &Voice {
        &self.inner.voice
    }

    /// Moves a guild's voice to another server. Gateway clients are notified; the new seats of
    /// native players are returned, for them to connect to.
    pub fn migrate_voice(&self, guild: u64) -> Vec<Seat> {
        let mut players = Vec::new();
        for (user, token, endpoint) in self.inner.voice.migrate(guild) {
            let voice = self.inner.change(|state| {
                state.tell_server(guild, user, &token, &endpoint);
                let voice = state.world.guilds.get(&guild)?.voice.get(&user)?;
                (!state.gateway.sessions.contains_key(&voice.session)).then(|| voice.clone())
            });
            let seat = |voice: VoiceState| Seat {
                endpoint,
                token,
                guild,
                channel: voice.channel,
                user,
                session_id: voice.session,
            };
            players.extend(voice.map(seat));
        }
        players
    }

    /// Acts of clients that Discord would not have taken: bodies it refuses, answers to interactions that
    /// came late, twice or never, broken gateway and voice protocol. Refusals that depend on the world (403,
    /// 404, 429) are in [`Discord::requests`] alone.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        let (now, within) = (self.inner.clock.now(), self.inner.options.answer_within);
        let mut all = self.inner.read(|state| {
            let late = state.interactions.by_id.values().filter_map(|it| it.violation(now, within));
            state.violations.iter().cloned().chain(late).collect::<Vec<_>>()
        });
        all.extend(self.inner.voice.violations());
        all
    }

    /// Lets time pass at once, for interactions' tokens and rate limits.
    pub fn advance(&self, by: Duration) {
        self.inner.clock.advance(by);
        self.inner.change(|_| ());
    }

    /// The next `times` requests with `method` whose path contains `path` go wrong.
    pub fn fail(&self, method: &str, path: &str, fault: Fault, times: usize) {
        self.inner.change(|state| state.faults.plan(method, path, fault, times));
    }

    /// Another rate limit for one route, such as `PATCH /channels/{channel_id}/messages/{message_id}`.
    pub fn set_limit(&self, route: &str, limit: Limit) {
        self.inner.change(|state| state.limits.set(route, limit));
    }

    /// Every request that needs a token is answered with a global 429 during `time`.
    pub fn limit_globally(&self, time: Duration) {
        let until = self.inner.clock.now() + time;
        self.inner.change(|state| state.limits.global_until = Some(until));
    }

    /// Nothing passes the network to REST and gateway during `time`; nothing is lost either.
    pub fn freeze_network(&self, time: Duration) {
        let until = Instant::now() + time;
        self.inner.change(|state| state.frozen_until = Some(until));
    }
}
