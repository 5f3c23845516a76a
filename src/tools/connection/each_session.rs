//! A server whose headers name the session: one connection per running session, used for all its
//! requests, lists and resources included. **Never**: mixes the requests or tools of two guilds.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::Notify, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    facts::SessionFacts, options::ServerOptions, server::Server, shared::Shared,
    shared_status::SharedStatus, status::State,
};
use crate::domain::{Owner, SessionId};

pub struct EachSession {
    pub options: ServerOptions,
    pub shared: Arc<Shared>,
    /// Status shown while no session runs.
    pub known: Arc<SharedStatus>,
    /// A name in its headers or `resource_vars` that only a session provides.
    pub needs: &'static str,
    pub seed: u64,
    pub stop: CancellationToken,
    /// One per session.
    pub connections: Arc<Connections>,
    pub tasks: TaskTracker,
}

/// The connections of one server, by the session's owner.
#[derive(Default)]
pub struct Connections {
    all: Mutex<BTreeMap<Owner, Connection>>,
    again: Notify,
}

struct Connection {
    /// `None`: it ends or has ended.
    session: Option<SessionId>,
    known: Arc<SharedStatus>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Connections {
    /// Status of the connection for the session of `owner`, while one runs.
    pub fn of(&self, owner: Owner) -> Option<Arc<SharedStatus>> {
        let all = self.lock();
        let found = all.get(&owner).filter(|it| it.session.is_some());
        found.map(|it| Arc::clone(&it.known))
    }

    pub fn restart(&self, owner: Owner) {
        if let Some(it) = self.lock().get_mut(&owner) {
            it.session = None;
            self.again.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Owner, Connection>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EachSession {
    /// Keeps a connection per session until `stop`, then waits for their ends.
    pub async fn run(self) {
        self.known.state.send_replace(State::NoSession { needs: self.needs });
        let mut sessions = self.shared.facts.sessions();
        loop {
            let running = sessions.borrow_and_update().clone();
            self.apply(running);
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = self.connections.again.notified() => {}
                changed = sessions.changed() => if changed.is_err() { break },
            }
        }
        let all = std::mem::take(&mut *self.connections.lock());
        for it in all.values() {
            it.stop.cancel();
        }
        for it in all.into_values() {
            // Withdraw the old connections' tools before a changed server offers.
            let _ = it.task.await;
        }
        self.known.state.send_replace(State::Stopped);
    }

    /// Reconciles connections with `sessions`; the newest per owner wins.
    fn apply(&self, sessions: Vec<Arc<SessionFacts>>) {
        let wanted: BTreeMap<Owner, Arc<SessionFacts>> =
            sessions.into_iter().map(|it| (it.owner, it)).collect();
        let mut all = self.connections.lock();
        for (owner, it) in all.iter_mut() {
            if wanted.get(owner).map(|it| &it.session) != it.session.as_ref() {
                it.stop.cancel();
                it.session = None;
            }
        }
        all.retain(|_, it| it.session.is_some() || !it.task.is_finished());
        for (owner, session) in wanted {
            if all.get(&owner).is_none_or(|it| it.session.is_none()) {
                let old = all.remove(&owner);
                all.insert(owner, self.start(session, old));
            }
        }
    }

    fn start(&self, session: Arc<SessionFacts>, old: Option<Connection>) -> Connection {
        let known = Arc::new(SharedStatus::new(&self.options));
        let stop = CancellationToken::new();
        let id = session.session.clone();
        let server = Server {
            options: self.options.clone(),
            owner: Some(session.owner),
            session: Some(session),
            shared: Arc::clone(&self.shared),
            known: Arc::clone(&known),
            seed: self.seed,
            stop: stop.clone(),
        };
        let task = self.tasks.spawn(async move {
            if let Some(old) = old {
                let _ = old.task.await;
            }
            server.run().await;
        });
        Connection { session: Some(id), known, stop, task }
    }
}
