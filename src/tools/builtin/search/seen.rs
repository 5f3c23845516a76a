//! Addresses returned by searches, by session, in memory only. **Never**: lets one session read
//! results of another.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use reqwest::Url;

use crate::{
    domain::{Scope, SessionId},
    tools::CallContext,
};

/// Most addresses of one session; the oldest are dropped.
const ADDRESSES_MAX: usize = 200;
/// Most sessions; the least recently searching one is dropped.
const SESSIONS_MAX: usize = 100;

/// Cloning shares them.
#[derive(Clone, Default)]
pub struct SeenAddresses(Arc<Mutex<VecDeque<Session>>>);

struct Session {
    scope: Scope,
    id: SessionId,
    addresses: VecDeque<Url>,
}

impl SeenAddresses {
    /// Adds valid `urls` to the session's addresses.
    pub fn add<'a>(&self, context: &CallContext, urls: impl Iterator<Item = &'a str>) {
        let mut sessions = self.sessions();
        let at = sessions.iter().position(|it| it.is_of(context));
        let known = at.and_then(|at| sessions.remove(at));
        let mut session = known.unwrap_or_else(|| {
            let (scope, id) = (context.scope.clone(), context.session.clone());
            Session { scope, id, addresses: VecDeque::new() }
        });
        for url in urls.filter_map(|url| Url::parse(url).ok()).map(without_fragment) {
            session.addresses.retain(|known| *known != url);
            session.addresses.push_back(url);
            if session.addresses.len() > ADDRESSES_MAX {
                session.addresses.pop_front();
            }
        }
        if sessions.len() >= SESSIONS_MAX {
            sessions.pop_front();
        }
        sessions.push_back(session);
    }

    /// True if a search of the session returned `url`, ignoring fragments; http:// also matches
    /// https://.
    pub fn has(&self, context: &CallContext, url: &Url) -> bool {
        let url = without_fragment(url.clone());
        let plain = unencrypted(&url);
        let sessions = self.sessions();
        let session = sessions.iter().find(|it| it.is_of(context));
        session.is_some_and(|session| {
            session.addresses.iter().any(|known| *known == url || Some(known) == plain.as_ref())
        })
    }

    fn sessions(&self) -> MutexGuard<'_, VecDeque<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn is_of(&self, context: &CallContext) -> bool {
        self.id == context.session && self.scope == context.scope
    }
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

/// The http:// form an https:// address may have been upgraded from.
fn unencrypted(url: &Url) -> Option<Url> {
    let mut plain = url.clone();
    (url.scheme() == "https" && plain.set_scheme("http").is_ok()).then_some(plain)
}
