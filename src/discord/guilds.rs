//! The tasks of a shard's guilds, each with its mailbox.
//!
//! Entry type: [`Guilds`]. Once the shard's tenure is over, all tasks end where they are, also those
//! that were closing. **Never**: opens a guild after that.

use std::{pin::pin, sync::Arc};

use dashmap::{DashMap, Entry};
use futures::future::join_all;
use serenity::all::GuildId;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    guild::{self, GuildEvent, Shared},
    tenure::Tenure,
};

type Mailbox = mpsc::Sender<GuildEvent>;
type Task = AbortOnDropHandle<()>;

pub struct Guilds {
    open: DashMap<GuildId, (Mailbox, Task)>,
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
        ended(task).await;
    }

    /// Ends all sessions in order.
    pub async fn close(&self) {
        let guilds = self.take_all();
        self.stop.cancel();
        for (_, task) in guilds {
            ended(task).await;
        }
    }

    /// Ends all tasks; another node goes on with their sessions. Ends the tenure at `until`, which
    /// drops the guilds that have not ended yet.
    pub async fn hand_over(&self, until: Instant) {
        let (mailboxes, tasks): (Vec<Mailbox>, Vec<Task>) = self.take_all().into_iter().unzip();
        for mailbox in mailboxes {
            // A guild with a full mailbox hangs.
            let _ = mailbox.try_send(GuildEvent::HandOver);
        }
        // Dropping it aborts tasks, which drop their guild in full once the tenure is over.
        let mut ended = pin!(join_all(tasks));
        if timeout_at(until, ended.as_mut()).await.is_err() {
            tracing::error!("some sessions are cut off: they are not handed over in time");
            self.tenure.end();
        }
    }

    /// All guilds; no further one is opened.
    fn take_all(&self) -> Vec<(Mailbox, Task)> {
        self.closing.cancel();
        let ids: Vec<GuildId> = self.open.iter().map(|guild| *guild.key()).collect();
        ids.iter().filter_map(|id| self.open.remove(id)).map(|(_, guild)| guild).collect()
    }
}

/// Waits for the end of a guild's task.
async fn ended(task: Task) {
    if let Err(error) = task.await {
        tracing::error!(%error, "a guild has failed");
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, future::pending, path::Path, time::Duration};

    use tokio::{sync::oneshot, task::yield_now};

    use super::*;
    use crate::{
        discord::guild::{Guild, stand_in_shared},
        domain::Owner,
        tools::connection::{Auth, Reach, ServerOptions, Trust},
    };

    const HERE: GuildId = GuildId::new(3);
    const OWNER: Owner = Owner::Guild(3);

    fn server() -> ServerOptions {
        // Nothing listens there.
        let url = "http://127.0.0.1:9/".to_owned();
        ServerOptions {
            name: "home".to_owned(),
            prefix: None,
            reach: Reach::Http { url, may_be_inside: true, headers: Vec::new(), auth: Auth::None },
            required: false,
            connect_timeout: Duration::from_secs(1),
            reconnect: None,
            resources: false,
            resource_vars: BTreeMap::new(),
            tools: BTreeMap::new(),
            trust: Trust::Auto,
            allow_sampling: false,
            debug: false,
        }
    }

    /// A guild with work that never ends, and with an added server.
    async fn hanging(folder: &Path) -> (Guilds, Arc<Shared>) {
        let shared = stand_in_shared(folder);
        let guilds = Guilds::new(shared.tenure.clone());
        let (done, hangs) = oneshot::channel();
        let job = move |guild: &mut Guild| {
            guild.send(pending());
            _ = done.send(());
        };
        guilds.tell(HERE, GuildEvent::Job(Box::new(job)), || Arc::clone(&shared)).await;
        hangs.await.unwrap();
        shared.handles.servers.add(OWNER, server()).unwrap();
        (guilds, shared)
    }

    #[tokio::test]
    async fn guilds_are_dropped_however_they_end() {
        let (now, never) = (Duration::ZERO, Duration::from_secs(86_400));
        // The hand-over takes too long, or the shard is lost meanwhile.
        for (patience, is_lost) in [(now, false), (never, true)] {
            let folder = tempfile::tempdir().unwrap();
            let (guilds, shared) = hanging(folder.path()).await;
            let servers = shared.handles.servers.clone();
            assert_eq!(servers.status(OWNER).len(), 1);
            let losing = async {
                if is_lost {
                    shared.tenure.end();
                }
            };
            tokio::join!(guilds.hand_over(Instant::now() + patience), losing);
            assert!(!shared.tenure.holds(Instant::now()));
            // Its task has this state until it is gone.
            while Arc::strong_count(&shared) > 1 {
                yield_now().await;
            }
            assert!(servers.status(OWNER).is_empty(), "lost: {is_lost}");
            servers.close().await;
        }
    }
}
