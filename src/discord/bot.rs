//! The connection to Discord: the token, the gateway, and each guild's mailbox.
//!
//! Entry function: [`run`]. **Never**: gives up because of anything but what only its owner can put
//! right.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use dashmap::{DashMap, Entry};
use serenity::{
    all::{
        ClientBuilder, Context, EventHandler, GatewayError, GatewayIntents, Guild as GuildData,
        GuildId, HttpBuilder, Interaction, Ready, UnavailableGuild, UserId, VoiceState,
    },
    http::{Http, HttpError},
};
use songbird::{SerenityInit, Songbird};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    guild::{self, GuildEvent, Shared},
    house::House,
    options::Options,
    registration,
    reply::{Asked, Reply, Sender},
    voice,
};

/// Waited before Discord is tried again, at first and at most.
const RETRY: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// What only the bot's owner can put right.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    /// Discord does not know the token.
    #[error(
        "discord does not accept the token (make a new one at https://discord.com/developers/applications, under Bot, and put it into discord.token)"
    )]
    Token,
    /// The gateway refuses for good.
    #[error("discord's gateway refuses this bot: {0}")]
    Refused(String),
    /// The connection cannot be set up.
    #[error("discord cannot be reached as configured: {0}")]
    SetUp(String),
}

/// Runs the bot until `stop` is cancelled, then ends every session.
///
/// # Errors
/// What only its owner can put right.
pub async fn run(
    options: Options,
    house: Arc<dyn House>,
    stop: CancellationToken,
) -> Result<(), Fatal> {
    let http = http(&options).map_err(Fatal::SetUp)?;
    let me = tokio::select! {
        me = introduce(&http) => me?,
        () = stop.cancelled() => return Ok(()),
    };
    registration::register(&http, &options).await;
    let songbird = Songbird::serenity_from_config(voice::config());
    let guilds = Arc::new(Guilds { open: DashMap::new(), stop: stop.child_token() });
    let handler = Handler {
        guilds: Arc::clone(&guilds),
        songbird: Arc::clone(&songbird),
        house,
        options,
        me,
    };
    let intents = GatewayIntents::GUILDS | GatewayIntents::GUILD_VOICE_STATES;
    let mut client = ClientBuilder::new_with_http(http, intents)
        .event_handler(handler)
        .register_songbird_with(songbird)
        .await
        .map_err(|error| Fatal::SetUp(error.to_string()))?;
    let shards = Arc::clone(&client.shard_manager);
    let mut running = tokio::spawn(async move { client.start().await });
    let ended = tokio::select! {
        ended = &mut running => Some(ended),
        () = stop.cancelled() => None,
    };
    // Channels are left over the gateway, so it goes last.
    guilds.close().await;
    shards.shutdown_all().await;
    let ended = match ended {
        Some(ended) => ended,
        None => running.await,
    };
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(fatal(&error)),
        Err(lost) => Err(Fatal::SetUp(lost.to_string())),
    }
}

/// Discord's REST, at its own address or where the options say.
fn http(options: &Options) -> Result<Http, String> {
    let mut builder = HttpBuilder::new(&options.token.0);
    if let Some(address) = options.api {
        builder = builder.client(client_at(address)?);
    }
    Ok(builder.build())
}

/// A client that finds `discord.com` at `address`.
fn client_at(address: SocketAddr) -> Result<discord_http::Client, String> {
    discord_http::Client::builder()
        .resolve("discord.com", address)
        .build()
        .map_err(|error| error.to_string())
}

/// Learns who the bot is; tries until Discord answers. Cancel safe.
async fn introduce(http: &Http) -> Result<UserId, Fatal> {
    let mut wait = RETRY;
    loop {
        let error = match http.get_current_application_info().await {
            Ok(application) => {
                http.set_application_id(application.id);
                match http.get_current_user().await {
                    Ok(me) => return Ok(me.id),
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        if is_unauthorized(&error) {
            return Err(Fatal::Token);
        }
        tracing::warn!(%error, "discord does not answer; trying again in {} s", wait.as_secs());
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(RETRY_MAX);
    }
}

fn is_unauthorized(error: &serenity::Error) -> bool {
    matches!(error, serenity::Error::Http(HttpError::UnsuccessfulRequest(answer))
        if answer.status_code.as_u16() == 401)
}

fn fatal(error: &serenity::Error) -> Fatal {
    let serenity::Error::Gateway(error) = error else {
        return if is_unauthorized(error) { Fatal::Token } else { Fatal::SetUp(error.to_string()) };
    };
    match error {
        GatewayError::InvalidAuthentication | GatewayError::NoAuthentication => Fatal::Token,
        GatewayError::DisallowedGatewayIntents => {
            Fatal::Refused("an intent is not enabled in the developer portal, under Bot".to_owned())
        }
        error => Fatal::Refused(error.to_string()),
    }
}

/// Every guild's mailbox.
struct Guilds {
    open: DashMap<GuildId, (mpsc::Sender<GuildEvent>, JoinHandle<()>)>,
    stop: CancellationToken,
}

impl Guilds {
    /// The mailbox of `id`, opened when it is new. Its entry is held meanwhile: of two events that
    /// come at once, one opens it.
    fn mailbox(&self, id: GuildId, shared: impl FnOnce() -> Arc<Shared>) -> Mailbox {
        let opened = || guild::open(id, shared(), self.stop.clone());
        match self.open.entry(id) {
            Entry::Vacant(new) => new.insert(opened()).0.clone(),
            Entry::Occupied(open) if !open.get().0.is_closed() => open.get().0.clone(),
            Entry::Occupied(mut failed) => {
                tracing::error!(guild = id.get(), "a guild had failed and begins anew");
                let (_, task) = failed.insert(opened());
                task.abort();
                failed.get().0.clone()
            }
        }
    }

    /// Ends every session.
    async fn close(&self) {
        self.stop.cancel();
        let ids: Vec<GuildId> = self.open.iter().map(|guild| *guild.key()).collect();
        for id in ids {
            if let Some((_, (_, task))) = self.open.remove(&id)
                && let Err(error) = task.await
            {
                tracing::error!(%error, "a guild has failed");
            }
        }
    }
}

type Mailbox = mpsc::Sender<GuildEvent>;

/// Takes what the gateway says. serenity calls it on a task an event.
struct Handler {
    guilds: Arc<Guilds>,
    songbird: Arc<Songbird>,
    house: Arc<dyn House>,
    options: Options,
    me: UserId,
}

impl Handler {
    async fn tell(&self, ctx: &Context, guild: GuildId, event: GuildEvent) {
        let shared = || {
            Arc::new(Shared {
                http: Arc::clone(&ctx.http),
                cache: Arc::clone(&ctx.cache),
                songbird: Arc::clone(&self.songbird),
                house: Arc::clone(&self.house),
                options: self.options.clone(),
                me: self.me,
            })
        };
        // A guild that is closing wants to know nothing.
        let _ = self.guilds.mailbox(guild, shared).send(event).await;
    }
}

#[async_trait]
impl EventHandler for Handler {
    async fn ready(&self, _: Context, ready: Ready) {
        tracing::info!(guilds = ready.guilds.len(), "ready as {}", ready.user.name);
    }

    async fn guild_create(&self, ctx: Context, guild: GuildData, _: Option<bool>) {
        self.tell(&ctx, guild.id, GuildEvent::VoiceStates).await;
    }

    async fn guild_delete(&self, _: Context, gone: UnavailableGuild, _: Option<GuildData>) {
        if gone.unavailable {
            tracing::warn!(guild = gone.id.get(), "discord has lost sight of a server for now");
        } else if let Some((_, (mailbox, task))) = self.guilds.open.remove(&gone.id) {
            // A guild that has ended need not be told.
            let _ = mailbox.send(GuildEvent::Gone).await;
            if let Err(error) = task.await {
                tracing::error!(%error, "a guild has failed");
            }
        }
    }

    async fn voice_state_update(&self, ctx: Context, _: Option<VoiceState>, new: VoiceState) {
        if let Some(guild) = new.guild_id {
            self.tell(&ctx, guild, GuildEvent::VoiceStates).await;
        }
    }

    async fn interaction_create(&self, ctx: Context, interaction: Interaction) {
        let guild = match &interaction {
            Interaction::Command(it) | Interaction::Autocomplete(it) => it.guild_id,
            Interaction::Component(it) => it.guild_id,
            Interaction::Modal(it) => it.guild_id,
            _ => None,
        };
        if let Some(guild) = guild {
            self.tell(&ctx, guild, GuildEvent::Interaction(Box::new(interaction))).await;
        } else if let Interaction::Command(used) = interaction {
            let elsewhere = Reply::private("I sit at the tables of servers: use this in one.");
            Sender::new(Arc::clone(&ctx.http), Asked::Command(Box::new(used)))
                .answer(&elsewhere)
                .await;
        }
    }
}
