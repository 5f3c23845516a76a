//! The connection to Discord: the token, the gateway, and each guild's mailbox.
//!
//! Entry function: [`run`]. Gives up only on faults that need its owner.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use dashmap::{DashMap, Entry};
use serenity::{
    all::{
        Client, ClientBuilder, ConnectionStage, Context, CreateAutocompleteResponse,
        CreateInteractionResponse, EventHandler, GatewayError, GatewayIntents, Guild as GuildData,
        GuildId, Interaction, Ready, ResumedEvent, ShardStageUpdateEvent, UnavailableGuild, UserId,
        VoiceState,
    },
    http::Http,
};
use songbird::{SerenityInit, Songbird};
use tokio::{
    sync::{broadcast::Receiver, mpsc},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    admission::{Access, Admission},
    deletions,
    guild::{self, Guild, GuildEvent, Shared},
    interactions, invite,
    options::Options,
    registration,
    responder::{Interacted, Responder},
    rest::{self, Fatal},
    schedules,
    ui::reply::Reply,
    voice,
};
use crate::{
    campaign::{Deleted, Drives, Handles},
    domain::Owner,
    figures::{Figures, Gateway},
    panics::caught,
};

/// Wait after a panic before the bot tries again to leave unapproved servers.
const LEAVE_AGAIN: Duration = Duration::from_secs(60);
/// Longest wait for the gateway to close.
const LEAVE_PATIENCE: Duration = Duration::from_secs(5);
/// Wait before Discord is tried again, at first and at most.
const RETRY: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Runs the bot until `stop` is cancelled, then ends every session. Fails only on faults that need
/// the bot's owner.
pub async fn run(options: Options, handles: Handles, stop: CancellationToken) -> Result<(), Fatal> {
    let privacy = handles.privacy.clone();
    let finished = privacy.finished();
    // Before deletions, which need the same files.
    handles.sessions.take_over().await;
    privacy.resume();
    let ended = serve(options, handles, finished, stop).await;
    privacy.close().await;
    ended
}

/// Serves Discord; notifies people of `finished` deletions.
async fn serve(
    options: Options,
    handles: Handles,
    finished: Receiver<Deleted>,
    stop: CancellationToken,
) -> Result<(), Fatal> {
    let http = rest::http(&options)?;
    let figures = handles.figures.clone();
    figures.set_gateway(Gateway::Down);
    let me = tokio::select! {
        me = introduce(&http) => me?,
        () = stop.cancelled() => return Ok(()),
    };
    registration::register(&http, &options).await;
    let songbird = Songbird::serenity_from_config(voice::config());
    let guilds = Arc::new(Guilds { open: DashMap::new(), stop: stop.child_token() });
    let admission = Admission::new(options.clone(), handles.guilds.clone());
    let planned = handles.clone();
    let handler = Handler {
        guilds: Arc::clone(&guilds),
        admission: admission.clone(),
        songbird: Arc::clone(&songbird),
        handles,
        options,
        me,
        was_ready: AtomicBool::new(false),
    };
    let intents = GatewayIntents::GUILDS | GatewayIntents::GUILD_VOICE_STATES;
    let client = ClientBuilder::new_with_http(http, intents)
        .event_handler(handler)
        .register_songbird_with(songbird)
        .await
        .map_err(|error| Fatal::SetUp(error.to_string()))?;
    let shards = Arc::clone(&client.shard_manager);
    let notifying = deletions::notify(finished, Arc::clone(&client.http));
    let _notifying = AbortOnDropHandle::new(tokio::spawn(notifying));
    let here = Arc::clone(&guilds);
    let _scheduling = fire_schedules(&planned, here, Arc::clone(&client.http), &stop);
    let leaving = leave_strangers(admission, Arc::clone(&client.http), stop.clone());
    let _leaving = AbortOnDropHandle::new(tokio::spawn(leaving));
    let mut running = tokio::spawn(stay(client, figures, stop.clone()));
    let ended = tokio::select! {
        ended = &mut running => Some(ended),
        () = stop.cancelled() => None,
    };
    // Leaving channels needs the gateway, so it closes last.
    guilds.close().await;
    let ended = match ended {
        Some(ended) => ended,
        None => {
            let left = async {
                shards.shutdown_all().await;
                (&mut running).await
            };
            let Ok(ended) = tokio::time::timeout(LEAVE_PATIENCE, left).await else {
                // An unreachable gateway cannot be closed.
                running.abort();
                return Ok(());
            };
            ended
        }
    };
    match ended {
        Ok(ended) => ended,
        Err(lost) => Err(Fatal::SetUp(lost.to_string())),
    }
}

/// Fires the schedules of servers that the bot is in until `stop`, and tells game masters of missed
/// ones.
fn fire_schedules(
    handles: &Handles,
    here: Arc<Guilds>,
    http: Arc<Http>,
    stop: &CancellationToken,
) -> [AbortOnDropHandle<()>; 2] {
    let notices = handles.schedules.notices();
    let (schedules, guilds) = (handles.schedules.clone(), handles.guilds.clone());
    let telling = schedules::notify(notices, schedules::Post { schedules, guilds, http });
    let starts = Arc::new(handles.workflows.clone());
    // An id of 0 is in no server's key.
    let serves = move |guild: u64| guild > 0 && here.open.contains_key(&GuildId::new(guild));
    let drives = Drives::Guilds(Box::new(serves));
    let firing = handles.schedules.clone().run(drives, starts, stop.child_token());
    [tokio::spawn(telling), tokio::spawn(firing)].map(AbortOnDropHandle::new)
}

/// Leaves unapproved servers until `stop`, even after panics.
async fn leave_strangers(admission: Admission, http: Arc<Http>, stop: CancellationToken) {
    let leave = || caught(admission.clone().leave_strangers(Arc::clone(&http), stop.child_token()));
    while let Err(fault) = leave().await {
        tracing::error!(%fault, "cannot leave servers that are not approved; trying again");
        tokio::time::sleep(LEAVE_AGAIN).await;
    }
}

async fn introduce(http: &Http) -> Result<UserId, Fatal> {
    let mut wait = RETRY;
    loop {
        let error = match rest::introduce(http).await {
            Ok((_, me)) => return Ok(me.id),
            Err(error) => error,
        };
        if rest::is_bad_token(&error) {
            return Err(Fatal::Token);
        }
        wait = pause(&error, wait).await;
    }
}

/// Logs that Discord does not answer and waits; returns the next wait.
async fn pause(error: &serenity::Error, wait: Duration) -> Duration {
    let reason = rest::reason(error);
    tracing::warn!(reason, "discord does not answer; trying again in {} s", wait.as_secs());
    tokio::time::sleep(wait).await;
    (wait * 2).min(RETRY_MAX)
}

/// Stays connected until the shards shut down, or `stop` is cancelled while disconnected.
async fn stay(mut client: Client, figures: Figures, stop: CancellationToken) -> Result<(), Fatal> {
    let mut wait = RETRY;
    loop {
        let ended = client.start().await;
        figures.set_gateway(Gateway::Down);
        let Err(error) = ended else { return Ok(()) };
        if let Some(fatal) = fatal(&error) {
            return Err(fatal);
        }
        wait = tokio::select! {
            longer = pause(&error, wait) => longer,
            () = stop.cancelled() => return Ok(()),
        };
    }
}

/// The fault if only the bot's owner can fix it; `None`: temporary.
fn fatal(error: &serenity::Error) -> Option<Fatal> {
    match error {
        error if rest::is_bad_token(error) => Some(Fatal::Token),
        serenity::Error::Http(_) => None,
        serenity::Error::Gateway(
            GatewayError::InvalidAuthentication | GatewayError::NoAuthentication,
        ) => Some(Fatal::Token),
        serenity::Error::Gateway(GatewayError::DisallowedGatewayIntents) => Some(Fatal::Refused(
            "an intent is not allowed (turn it on at https://discord.com/developers/applications, \
             under Bot, Privileged Gateway Intents)"
                .to_owned(),
        )),
        error => {
            Some(Fatal::Refused(format!("{error} (start it again; report it if it happens again)")))
        }
    }
}

struct Guilds {
    open: DashMap<GuildId, (mpsc::Sender<GuildEvent>, JoinHandle<()>)>,
    stop: CancellationToken,
}

impl Guilds {
    /// The mailbox of `id`, opened on first use. Holds its entry, so that of two concurrent events
    /// only one opens it.
    fn mailbox(&self, id: GuildId, shared: impl FnOnce() -> Arc<Shared>) -> Mailbox {
        let opened = || guild::open(id, shared(), self.stop.clone());
        match self.open.entry(id) {
            Entry::Vacant(new) => new.insert(opened()).0.clone(),
            Entry::Occupied(open) if !open.get().0.is_closed() => open.get().0.clone(),
            Entry::Occupied(mut failed) => {
                tracing::error!(guild = id.get(), "restarting a guild that had failed");
                let (_, task) = failed.insert(opened());
                task.abort();
                failed.get().0.clone()
            }
        }
    }

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

/// Receives gateway events. serenity calls it on one task per event.
struct Handler {
    guilds: Arc<Guilds>,
    admission: Admission,
    songbird: Arc<Songbird>,
    handles: Handles,
    options: Options,
    me: UserId,
    /// The gateway was connected before.
    was_ready: AtomicBool,
}

impl Handler {
    /// Counts a connection of the gateway.
    fn connected(&self) {
        let figures = &self.handles.figures;
        if self.was_ready.swap(true, Ordering::Relaxed) {
            figures.gateway_reconnected();
        }
        figures.set_gateway(Gateway::Up);
    }

    /// Sends an event to an approved guild.
    async fn tell(&self, ctx: &Context, guild: GuildId, event: GuildEvent) {
        let standing = self.admission.standing(guild, Instant::now()).await;
        if matches!(standing, Access::Served) {
            self.hand_over(ctx, guild, event).await;
        }
    }

    /// Passes an interaction to the guild's task, or answers with the reason for refusing it.
    async fn used(&self, ctx: &Context, guild: GuildId, interaction: Interaction) {
        let refusal = match self.admission.standing(guild, Instant::now()).await {
            Access::Served => None,
            Access::Stranger if self.admission.takes(guild, &interaction) => None,
            Access::Stranger => Some(Admission::refusal(guild)),
            Access::Unknown(why) => Some(format!("I can't do anything here yet: {why}")),
        };
        match refusal {
            None => {
                let job = Box::new(|guild: &mut Guild| interactions::take(guild, interaction));
                self.hand_over(ctx, guild, GuildEvent::Job(job)).await;
            }
            Some(why) => refuse(ctx, interaction, why).await,
        }
    }

    async fn hand_over(&self, ctx: &Context, guild: GuildId, event: GuildEvent) {
        let shared = || {
            Arc::new(Shared {
                http: Arc::clone(&ctx.http),
                cache: Arc::clone(&ctx.cache),
                songbird: Arc::clone(&self.songbird),
                handles: self.handles.clone(),
                options: self.options.clone(),
                me: self.me,
            })
        };
        // A guild that is closing needs no events.
        let _ = self.guilds.mailbox(guild, shared).send(event).await;
    }

    /// Ends the task of a server that the bot has left.
    async fn close(&self, guild: GuildId) {
        let Some((_, (mailbox, task))) = self.guilds.open.remove(&guild) else { return };
        // Nor does a closed one.
        let _ = mailbox.send(GuildEvent::Gone).await;
        if let Err(error) = task.await {
            tracing::error!(%error, "a guild has failed");
        }
    }

    /// Revokes the access tokens of a server that the bot has left.
    async fn revoke_tokens(&self, guild: GuildId) {
        let guild = guild.get();
        match self.handles.access.revoke_all(Owner::Guild(guild)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(guild, count, "revoked the tokens of a server left"),
            Err(error) => tracing::error!(
                guild,
                %error,
                "cannot revoke the tokens of a server left (use glyphoxa token revoke)"
            ),
        }
    }
}

#[async_trait]
impl EventHandler for Handler {
    async fn ready(&self, _: Context, ready: Ready) {
        self.connected();
        tracing::info!(guilds = ready.guilds.len(), "ready as {}", ready.user.name);
        let link = invite::link(ready.application.id, self.options.guild);
        match self.options.guild {
            None if ready.guilds.is_empty() => {
                tracing::warn!(invite = %link, "the bot has joined no server yet (open the link)");
            }
            Some(id) if ready.guilds.iter().all(|it| it.id.get() != id) => {
                tracing::warn!(
                    guild = id,
                    invite = %link,
                    "the bot is not in the server of discord.guild_id (open the link)"
                );
            }
            _ => {}
        }
    }

    async fn resume(&self, _: Context, _: ResumedEvent) {
        self.connected();
    }

    async fn shard_stage_update(&self, _: Context, event: ShardStageUpdateEvent) {
        // Its first event says that it is up.
        if event.new != ConnectionStage::Connected {
            self.handles.figures.set_gateway(Gateway::Down);
        }
    }

    async fn guild_create(&self, ctx: Context, guild: GuildData, _: Option<bool>) {
        self.tell(&ctx, guild.id, GuildEvent::VoiceStates).await;
    }

    async fn guild_delete(&self, _: Context, gone: UnavailableGuild, _: Option<GuildData>) {
        if !gone.unavailable {
            self.admission.left(gone.id);
        }
        if gone.unavailable {
            tracing::warn!(
                guild = gone.id.get(),
                "discord reports a server as unavailable for now"
            );
        } else {
            tokio::join!(self.close(gone.id), self.revoke_tokens(gone.id));
        }
    }

    async fn voice_state_update(&self, ctx: Context, _: Option<VoiceState>, new: VoiceState) {
        if let Some(guild) = new.guild_id {
            let event = match (new.user_id == self.me, new.channel_id) {
                (true, None) => GuildEvent::Disconnected,
                _ => GuildEvent::VoiceStates,
            };
            self.tell(&ctx, guild, event).await;
        }
    }

    async fn interaction_create(&self, ctx: Context, interaction: Interaction) {
        let guild = match &interaction {
            Interaction::Command(it) | Interaction::Autocomplete(it) => it.guild_id,
            Interaction::Component(it) => it.guild_id,
            Interaction::Modal(it) => it.guild_id,
            _ => None,
        };
        match guild {
            Some(guild) => self.used(&ctx, guild, interaction).await,
            None => {
                let elsewhere = "I only work on servers: use this command there.".to_owned();
                refuse(&ctx, interaction, elsewhere).await;
            }
        }
    }
}

async fn refuse(ctx: &Context, interaction: Interaction, why: String) {
    let used = match interaction {
        Interaction::Command(it) => Interacted::Command(Box::new(it)),
        Interaction::Component(it) => Interacted::Component(Box::new(it)),
        Interaction::Modal(it) => Interacted::Modal(Box::new(it)),
        Interaction::Autocomplete(it) => {
            let nothing =
                CreateInteractionResponse::Autocomplete(CreateAutocompleteResponse::new());
            let responder =
                Responder::new(Arc::clone(&ctx.http), Interacted::Command(Box::new(it)));
            return responder.respond(nothing).await;
        }
        _ => return,
    };
    Responder::new(Arc::clone(&ctx.http), used).answer(&Reply::private(why)).await;
}
