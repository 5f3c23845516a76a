//! One shard of the gateway: its client, its voice and its guilds.
//!
//! Entry function: [`serve`]. A shard ends in order when it is asked to. When its tenure is over,
//! another node may serve it, as the same Discord user: then it falls silent, writes nothing,
//! and leaves no voice channel.

use std::{
    pin::pin,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use serenity::{
    all::{Client, ClientBuilder, ConnectionStage, GatewayError, GatewayIntents},
    cache::Cache,
    gateway::ShardManager,
    http::Http,
};
use songbird::{Driver, SerenityInit, Songbird};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    bot_state::Bot,
    gateway_events::Handler,
    guilds::Guilds,
    rest::{self, Fatal},
    shards::IdentifySlot,
    tenure::Tenure,
    ui::node::node_line,
};
use crate::campaign::Lease;

/// Longest wait for the gateway to close.
const LEAVE_PATIENCE: Duration = Duration::from_secs(5);
/// Likewise when sessions are handed over, whose guilds have all the time before.
const HAND_OVER_LEAVE: Duration = Duration::from_secs(1);
/// Servers that a shard may have, by Discord's rule.
const GUILDS_MAX: usize = 2_500;
/// Wait for a shard to be ready before Discord is asked for the reason.
const READY_PATIENCE: Duration = Duration::from_secs(20);

/// A connected shard.
struct Shard {
    bot: Arc<Bot>,
    index: u32,
    tenure: Tenure,
    guilds: Arc<Guilds>,
    songbird: Arc<Songbird>,
    manager: Arc<ShardManager>,
    http: Arc<Http>,
    cache: Arc<Cache>,
    ready: CancellationToken,
}

/// Serves the shard of `lease` from its `slot` to identify until `close` is cancelled or `tenure` is
/// over. Fails only on faults that need the bot's owner.
pub async fn serve(
    bot: Arc<Bot>,
    lease: Lease,
    tenure: Tenure,
    close: CancellationToken,
    slot: IdentifySlot,
) -> Result<(), Fatal> {
    let songbird = Songbird::serenity_from_config(bot.voice.clone());
    let guilds = Arc::new(Guilds::new(tenure.clone()));
    let (index, ready) = (lease.shard, CancellationToken::new());
    let node = bot.node.as_deref().map(|name| node_line(name, lease, bot.served.count).into());
    let handler = Handler {
        shard: index,
        node,
        guilds: Arc::clone(&guilds),
        tenure: tenure.clone(),
        songbird: Arc::clone(&songbird),
        bot: Arc::clone(&bot),
        ready: ready.clone(),
        was_ready: AtomicBool::new(false),
    };
    let http = rest::http_over(bot.client.clone(), &bot.options);
    http.set_application_id(bot.application);
    let intents = GatewayIntents::GUILDS | GatewayIntents::GUILD_VOICE_STATES;
    let client = ClientBuilder::new_with_http(http, intents)
        .event_handler(handler)
        .register_songbird_with(Arc::clone(&songbird));
    let mut client = tokio::select! {
        client = client.into_future() => client.map_err(|error| Fatal::SetUp(error.to_string()))?,
        () = tenure.over() => return Ok(()),
        () = close.cancelled() => return Ok(()),
    };
    // What serenity would do at the start, with a request that may have to wait: then the shard would
    // identify after its slot, and too soon before the next one.
    songbird.initialise_client_data(bot.served.count.into(), bot.me);
    client.voice_manager = None;
    if !slot.await {
        return Ok(());
    }
    let (manager, http) = (Arc::clone(&client.shard_manager), Arc::clone(&client.http));
    let cache = Arc::clone(&client.cache);
    let shard = Shard { bot, index, tenure, guilds, songbird, manager, http, cache, ready };
    let served = &shard.bot.served;
    shard.bot.admission.forget_strangers(|guild| served.of(guild) == index);
    served.begin(index, Arc::clone(&shard.guilds));
    let ended = shard.run(client, &close).await;
    // Its last events say nothing about the shard any more.
    shard.tenure.end();
    shard.bot.served.end(index);
    ended
}

impl Shard {
    async fn run(&self, client: Client, close: &CancellationToken) -> Result<(), Fatal> {
        let mut running = pin!(self.stay(client, close));
        let by_itself = tokio::select! {
            biased;
            () = self.lost() => None,
            ended = &mut running => Some(ended),
            fatal = self.refused() => Some(Err(fatal)),
            () = close.cancelled() => None,
        };
        // Leaving channels needs the gateway, so it closes last.
        let mut closing = pin!(self.close_guilds());
        tokio::select! {
            biased;
            // Then guilds end by themselves.
            () = self.lost() => closing.as_mut().await,
            () = closing.as_mut() => {}
        }
        if !self.tenure.holds(Instant::now()) {
            self.abandon().await;
            return Ok(());
        }
        if let Some(ended) = by_itself {
            return ended;
        }
        let left = async {
            self.manager.shutdown_all().await;
            running.as_mut().await
        };
        let patience = Instant::now() + LEAVE_PATIENCE;
        let until = self.bot.hand_over_by.get().map_or(patience, |by| patience.min(*by));
        match timeout_at(until, left).await {
            Ok(ended) => ended,
            Err(_) => {
                // An unreachable gateway cannot be closed yet.
                tokio::spawn(close_later(Arc::clone(&self.manager)));
                Ok(())
            }
        }
    }

    async fn close_guilds(&self) {
        match self.bot.hand_over_by.get() {
            Some(by) => self.guilds.hand_over(*by - HAND_OVER_LEAVE).await,
            None => self.guilds.close().await,
        }
    }

    /// Stays connected until the shard shuts down, or `close` is cancelled while disconnected.
    async fn stay(&self, mut client: Client, close: &CancellationToken) -> Result<(), Fatal> {
        let served = &self.bot.served;
        let mut wait = rest::RETRY;
        loop {
            let ended = client.start_shard(self.index, served.count).await;
            served.set_up(self.index, false);
            let Err(error) = ended else { return Ok(()) };
            if let Some(fatal) = fatal(&error) {
                return Err(fatal);
            }
            wait = tokio::select! {
                longer = rest::pause(&error, wait) => longer,
                () = close.cancelled() => return Ok(()),
            };
        }
    }

    /// Waits until Discord refuses the bot for being on too many servers (close code 4011), which
    /// serenity only logs: a shard that has connected is not ready, and Discord wants more shards.
    async fn refused(&self) -> Fatal {
        let shards = self.bot.served.count;
        loop {
            sleep(READY_PATIENCE).await;
            if self.may_be_refused().await
                && let Ok(gateway) = self.http.get_bot_gateway().await
                && gateway.shards > shards
            {
                return Fatal::TooFewShards { shards, wanted: gateway.shards };
            }
        }
    }

    async fn may_be_refused(&self) -> bool {
        let stages: Vec<ConnectionStage> =
            self.manager.runners.lock().await.values().map(|it| it.stage).collect();
        is_refused(&stages, self.ready.is_cancelled(), self.cache.guild_count())
    }

    /// Waits until the tenure is over, or is ended here because the store refuses a line. Cancel safe.
    async fn lost(&self) {
        tokio::select! {
            () = self.tenure.over() => {}
            () = self.bot.handles.served().refused(self.index) => self.tenure.end(),
        }
    }

    /// Ends everything where it is, because the tenure is over.
    async fn abandon(&self) {
        tracing::warn!(shard = self.index, "lost a shard: another process may serve it now");
        let calls: Vec<_> = self.songbird.iter().map(|(_, call)| call).collect();
        for call in calls {
            let mut call = call.lock().await;
            // Ends the sound alone; a call's own `leave` leaves the channel too.
            let driver: &mut Driver = &mut call;
            driver.leave();
        }
        tokio::spawn(close_later(Arc::clone(&self.manager)));
    }
}

/// True if Discord may have refused a shard on `guilds` servers for their number. One that was ready
/// before must have grown to the limit; otherwise it is only slow to return.
fn is_refused(stages: &[ConnectionStage], was_ready: bool, guilds: usize) -> bool {
    // serenity counts a shard that has connected as disconnected until it is ready.
    stages.contains(&ConnectionStage::Disconnected) && (!was_ready || guilds >= GUILDS_MAX)
}

/// Closes the gateway of a dropped client. serenity keeps trying to start its shard, and can be
/// stopped only after it has.
async fn close_later(manager: Arc<ShardManager>) {
    while manager.shards_instantiated().await.is_empty() {
        sleep(rest::RETRY).await;
    }
    manager.shutdown_all().await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grown_shard_may_be_refused_while_it_runs() {
        let (out, up) = (ConnectionStage::Disconnected, ConnectionStage::Connected);
        for (stages, was_ready, guilds, expected) in [
            (vec![], false, 0, false),
            (vec![out], false, 0, true),
            (vec![out], true, GUILDS_MAX - 1, false),
            (vec![out], true, GUILDS_MAX, true),
            (vec![up], true, GUILDS_MAX, false),
            (vec![], true, GUILDS_MAX, false),
        ] {
            let refused = is_refused(&stages, was_ready, guilds);
            assert_eq!(refused, expected, "{stages:?}, {was_ready}, {guilds}");
        }
    }
}
