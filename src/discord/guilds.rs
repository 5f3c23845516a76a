//! The tasks of a shard's guilds, each with its mailbox.
//!
//! Entry type: [`Guilds`]. **Never**: opens a guild once the shard's tenure is over.

use std::{sync::Arc, time::Duration};

use dashmap::{DashMap, Entry};
use futures::future::join_all;
use serenity::all::GuildId;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    guild::{self, GuildEvent, Shared},
    tenure::Tenure,
};

/// Longest wait for guilds to hand over their sessions.
const HAND_OVER: Duration = Duration::from_secs(9);

type Mailbox = mpsc::Sender<GuildEvent>;

pub struct Guilds {
    open: DashMap<GuildId, (Mailbox, AbortOnDropHandle<()>)>,
    stop: CancellationToken,
    /// Cancelled once no guild may be opened any more.
    closing: CancellationToken,
    tenure: Tenure,
}

impl Guilds {
    /// `tenure`: of their shard.
    pub fn new(tenure: Tenure) -> Self {
        let (stop, closing) = (CancellationToken::new(), CancellationToken::new());
        Self { open: DashMap::new(), stop, closing, tenure }
    }

    pub fn has(&self, id: GuildId) -> bool {
        self.open.contains_key(&id)
    }

    /// Sends an event to the task of `id`, opened on first use.
    pub async fn tell(&self, id: GuildId, event: GuildEvent, shared: impl FnOnce() -> Arc<Shared>) {
        if self.tenure.holds(Instant::now()) && !self.closing.is_cancelled() {
            // A guild that is closing needs no events.
            let _ = self.mailbox(id, shared).send(event).await;
        }
    }

    /// The mailbox of `id`. Holds its entry, so that of two concurrent events only one opens it.
    fn mailbox(&self, id: GuildId, shared: impl FnOnce() -> Arc<Shared>) -> Mailbox {
        let opened = || {
            let (mailbox, task) = guild::open(id, shared(), self.stop.clone());
            (mailbox, AbortOnDropHandle::new(task))
        };
        match self.open.entry(id) {
            Entry::Vacant(new) => new.insert(opened()).0.clone(),
            Entry::Occupied(open) if !open.get().0.is_closed() => open.get().0.clone(),
            Entry::Occupied(mut failed) => {
                tracing::error!(guild = id.get(), "restarting a guild that had failed");
                drop(failed.insert(opened()));
                failed.get().0.clone()
            }
        }
    }

    /// Ends the task of a server that the bot has left.
    pub async fn end(&self, id: GuildId) {
        let Some((_, (mailbox, task))) = self.open.remove(&id) else { return };
        // A closed one needs no events.
        let _ = mailbox.send(GuildEvent::Gone).await;
        if let Err(error) = task.await {
            tracing::error!(%error, "a guild has failed");
        }
    }

    /// Ends all sessions in order.
    pub async fn close(&self) {
        self.closing.cancel();
        self.stop.cancel();
        for id in self.ids() {
            if let Some((_, (_, task))) = self.open.remove(&id)
                && let Err(error) = task.await
            {
                tracing::error!(%error, "a guild has failed");
            }
        }
    }

    /// Ends all tasks; another process goes on with their sessions.
    pub async fn hand_over(&self) {
        self.closing.cancel();
        let mut tasks = Vec::new();
        for id in self.ids() {
            if let Some((_, (mailbox, task))) = self.open.remove(&id) {
                // A guild with a full mailbox hangs.
                let _ = mailbox.try_send(GuildEvent::HandOver);
                tasks.push(task);
            }
        }
        if timeout(HAND_OVER, join_all(tasks)).await.is_err() {
            tracing::error!("some sessions are cut off: they are not handed over in time");
        }
    }

    /// Ends all tasks where they are: they say, write and leave nothing. Call it once the tenure is
    /// over. Returns their guilds.
    pub async fn abandon(&self) -> Vec<GuildId> {
        let ids = self.ids();
        for id in &ids {
            if let Some((_, (_, task))) = self.open.remove(id) {
                task.abort();
                // An aborted task is an error.
                let _ = task.await;
            }
        }
        ids
    }

    fn ids(&self) -> Vec<GuildId> {
        self.open.iter().map(|guild| *guild.key()).collect()
    }
}
