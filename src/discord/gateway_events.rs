//! Events of one shard of the gateway, on their way to its guilds.
//!
//! Entry type: [`Handler`]. serenity calls it on one task per event.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serenity::all::{
    ConnectionStage, Context, CreateAutocompleteResponse, CreateInteractionResponse, EventHandler,
    Guild as GuildData, GuildId, Interaction, Ready, ResumedEvent, ShardStageUpdateEvent,
    UnavailableGuild, VoiceState,
};
use songbird::Songbird;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{
    admission::{Access, Admission},
    bot_state::Bot,
    guild::{Guild, GuildEvent, Shared},
    guilds::Guilds,
    interactions, invite,
    responder::{Interacted, Responder},
    tenure::Tenure,
    ui::reply::Reply,
};
use crate::domain::Owner;

/// Delay before it is read again whether a server is approved.
const AGAIN: Duration = Duration::from_secs(1);

/// Receives the events of a shard.
pub struct Handler {
    pub shard: u32,
    /// This node and its lease, for the panel; `None`: the process serves alone.
    pub node: Option<Arc<str>>,
    pub guilds: Arc<Guilds>,
    pub tenure: Tenure,
    pub songbird: Arc<Songbird>,
    pub bot: Arc<Bot>,
    /// Cancelled once the shard was connected.
    pub ready: CancellationToken,
    /// The shard was connected before.
    pub was_ready: AtomicBool,
}

impl Handler {
    /// Counts a connection of the gateway.
    fn connected(&self) {
        if self.was_ready.swap(true, Ordering::Relaxed) {
            self.bot.handles.figures.gateway_reconnected();
        }
        self.set_up(true);
        self.ready.cancel();
    }

    fn set_up(&self, is_up: bool) {
        // A client that is being closed may still report to its successor.
        if self.tenure.holds(Instant::now()) {
            self.bot.served.set_up(self.shard, is_up);
        }
    }

    /// Sends an event to an approved guild.
    async fn tell(&self, ctx: &Context, guild: GuildId, event: GuildEvent) {
        let standing = self.bot.admission.standing(guild, Instant::now()).await;
        if matches!(standing, Access::Served) {
            self.deliver(ctx, guild, event).await;
        }
    }

    /// Passes an interaction to the guild's task, or answers with the reason for refusing it.
    async fn used(&self, ctx: &Context, guild: GuildId, interaction: Interaction) {
        let refusal = match self.bot.admission.standing(guild, Instant::now()).await {
            Access::Served => None,
            Access::Stranger if self.bot.admission.takes(guild, &interaction) => None,
            Access::Stranger => Some(Admission::refusal(guild)),
            Access::Unknown(why) => Some(format!("I can't do anything here yet: {why}")),
        };
        match refusal {
            None => {
                let job = Box::new(|guild: &mut Guild| interactions::take(guild, interaction));
                self.deliver(ctx, guild, GuildEvent::Job(job)).await;
            }
            Some(why) => refuse(ctx, interaction, why).await,
        }
    }

    async fn deliver(&self, ctx: &Context, guild: GuildId, event: GuildEvent) {
        let shared = || {
            Arc::new(Shared {
                http: Arc::clone(&ctx.http),
                cache: Arc::clone(&ctx.cache),
                songbird: Arc::clone(&self.songbird),
                tenure: self.tenure.clone(),
                shards: self.bot.served.count,
                node: self.node.clone(),
                capacity: self.bot.capacity.clone(),
                handles: self.bot.handles.clone(),
                options: self.bot.options.clone(),
                me: self.bot.me,
            })
        };
        self.guilds.tell(guild, event, shared).await;
    }

    /// Revokes the access tokens of a server that the bot has left.
    async fn revoke_tokens(&self, guild: GuildId) {
        let guild = guild.get();
        match self.bot.handles.access.revoke_all(Owner::Guild(guild)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(guild, count, "revoked the tokens of a server left"),
            Err(error) => tracing::error!(
                guild,
                %error,
                "cannot revoke the tokens of a server left (use glyphoxa token revoke)"
            ),
        }
    }

    /// Warns of a server without the bot; a shard sees only its own.
    fn check_servers(&self, ready: &Ready) {
        let link = invite::link(ready.application.id, self.bot.options.guild);
        match self.bot.options.guild {
            None if self.bot.served.count == 1 && ready.guilds.is_empty() => {
                tracing::warn!(invite = %link, "the bot has joined no server yet (open the link)");
            }
            Some(id)
                if self.bot.served.of(id) == self.shard
                    && ready.guilds.iter().all(|it| it.id.get() != id) =>
            {
                tracing::warn!(
                    guild = id,
                    invite = %link,
                    "the bot is not in the server of discord.guild_id (open the link)"
                );
            }
            _ => {}
        }
    }
}

#[async_trait]
impl EventHandler for Handler {
    async fn ready(&self, _: Context, ready: Ready) {
        self.connected();
        tracing::info!(guilds = ready.guilds.len(), "ready as {}", ready.user.name);
        self.check_servers(&ready);
    }

    async fn resume(&self, _: Context, _: ResumedEvent) {
        self.connected();
    }

    async fn shard_stage_update(&self, _: Context, event: ShardStageUpdateEvent) {
        // Its first event says that it is up.
        if event.new != ConnectionStage::Connected {
            self.set_up(false);
        }
    }

    async fn guild_create(&self, ctx: Context, guild: GuildData, _: Option<bool>) {
        // Its session may wait to go on, and Discord may have nothing more to say about it.
        while let Access::Unknown(why) = self.bot.admission.standing(guild.id, Instant::now()).await
        {
            tracing::warn!(guild = guild.id.get(), %why, "cannot read if a server is approved yet");
            tokio::select! {
                () = self.tenure.over() => return,
                () = sleep(AGAIN) => {}
            }
        }
        self.tell(&ctx, guild.id, GuildEvent::VoiceStates).await;
    }

    async fn guild_delete(&self, _: Context, gone: UnavailableGuild, _: Option<GuildData>) {
        let guild = gone.id;
        if gone.unavailable {
            tracing::warn!(guild = guild.get(), "discord reports a server as unavailable for now");
            return;
        }
        self.bot.admission.left(guild);
        tokio::join!(self.guilds.end(guild), self.revoke_tokens(guild));
    }

    async fn voice_state_update(&self, ctx: Context, _: Option<VoiceState>, new: VoiceState) {
        if let Some(guild) = new.guild_id {
            let event = match (new.user_id == self.bot.me, new.channel_id) {
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
