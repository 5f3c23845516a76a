//! Changes of what the holder of a token may read, for `GET /mcp` and for subscriptions.
//!
//! Entry type: [`ResourceWatch`]. It looks every [`INTERVAL`] and compares with what it saw before, so
//! changes that follow each other become one and nothing queues: a reader that is slow is told
//! later, and less. A watch ends with its token. [`TOKEN_MAX`] and [`ALL_MAX`] bound the queries
//! that programs outside can cause.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::sleep;

use super::resources::{ReadError, ResourceChange, ResourceReader, ResourceSnapshot};
use crate::{
    campaign::{Access, Handles, Holder},
    web::WebParts,
};

/// Time between two looks: soon enough for a reader, and cheap.
const INTERVAL: Duration = Duration::from_secs(3);
/// Most watches of one token.
const TOKEN_MAX: usize = 4;
/// Most watches of all tokens.
const ALL_MAX: usize = 32;

/// Why nothing is watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("too many open streams (up to {TOKEN_MAX} of a token, {ALL_MAX} in all; close one)")]
    TooMany,
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Changes from its beginning on.
pub struct ResourceWatch {
    handles: Handles,
    access: Access,
    holder: Arc<Holder>,
    seen: ResourceSnapshot,
    _permit: WatchPermit,
}

impl ResourceWatch {
    pub async fn begin(parts: &WebParts, holder: Arc<Holder>) -> Result<Self, WatchError> {
        Self::over(parts.handles.clone(), parts.access.clone(), holder).await
    }

    async fn over(
        handles: Handles,
        access: Access,
        holder: Arc<Holder>,
    ) -> Result<Self, WatchError> {
        let permit = WATCHES.admit(&holder.id).ok_or(WatchError::TooMany)?;
        let seen =
            ResourceSnapshot::take(&ResourceReader { handles: &handles, holder: &holder }).await?;
        Ok(Self { handles, access, holder, seen, _permit: permit })
    }

    /// The next changes, at least one. `None`: the token has ended, or the store fails for good.
    /// Cancel safe: changes are then returned by the next call.
    pub async fn next(&mut self) -> Option<Vec<ResourceChange>> {
        loop {
            sleep(INTERVAL).await;
            match self.look().await {
                Ok(None) => return None,
                Ok(Some(changes)) if changes.is_empty() => {}
                Ok(Some(changes)) => return Some(changes),
                Err(error) if error.is_passing() => {
                    tracing::debug!(%error, "cannot look for changes now");
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot look for changes for a program outside");
                    return None;
                }
            }
        }
    }

    /// Changes since the last look. `None`: the token has ended.
    async fn look(&mut self) -> Result<Option<Vec<ResourceChange>>, ReadError> {
        if !self.access.is_valid(&self.holder).await? {
            return Ok(None);
        }
        let reader = ResourceReader { handles: &self.handles, holder: &self.holder };
        let seen = ResourceSnapshot::take(&reader).await?;
        let changes = seen.changes(&self.seen);
        self.seen = seen;
        Ok(Some(changes))
    }
}

/// Open watches by token id.
struct Watches(Mutex<BTreeMap<String, usize>>);

static WATCHES: Watches = Watches::new();

impl Watches {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// `None`: as many are open as may be.
    fn admit(&'static self, token: &str) -> Option<WatchPermit> {
        let mut open = self.open();
        let own = open.get(token).copied().unwrap_or_default();
        if own >= TOKEN_MAX || open.values().sum::<usize>() >= ALL_MAX {
            return None;
        }
        open.insert(token.to_owned(), own + 1);
        Some(WatchPermit { watches: self, token: token.to_owned() })
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a watch as open until it is dropped.
struct WatchPermit {
    watches: &'static Watches,
    token: String,
}

impl Drop for WatchPermit {
    fn drop(&mut self) {
        let mut open = self.watches.open();
        match open.get_mut(&self.token) {
            Some(own) if *own > 1 => *own -= 1,
            _ => _ = open.remove(&self.token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        campaign::NewToken,
        domain::{AccessRole, Owner},
        memory::Visibility,
        web::mcp::resources::{ResourceUri, stand_in},
    };

    #[tokio::test(start_paused = true)]
    async fn watch_ends_with_its_token() {
        let folder = tempfile::tempdir().unwrap();
        let handles = stand_in::handles(folder.path());
        let access = Access::new(handles.sessions.transcripts().store());
        let (owner, role) = (Owner::Guild(1), AccessRole::Player);
        let wanted = NewToken { owner, role, tools: None, days: None };
        let (secret, token) = access.create(wanted).await.unwrap();
        let holder = Arc::new(access.holder(&secret).await.unwrap().unwrap());
        let scope = handles.scope(owner, None);
        stand_in::session(&handles, &scope, "evening", None).await;
        let begun = ResourceWatch::over(handles.clone(), access.clone(), holder);
        let mut watch = begun.await.unwrap_or_else(|error| panic!("{error}"));

        // Nothing that a player may read changes here.
        stand_in::line(&handles, &scope, "evening", "A trap.", Visibility::Dm).await;
        stand_in::session(&handles, &handles.scope(Owner::Guild(2), None), "theirs", None).await;
        assert_eq!(watch.look().await.unwrap(), Some(Vec::new()));

        stand_in::line(&handles, &scope, "evening", "A door.", Visibility::Everyone).await;
        let transcript = ResourceUri::Transcript("evening".to_owned());
        assert_eq!(watch.next().await, Some(vec![ResourceChange::Updated(transcript)]));
        stand_in::session(&handles, &scope, "another", None).await;
        assert_eq!(watch.next().await, Some(vec![ResourceChange::List]));

        access.revoke(&token.id).await.unwrap();
        assert_eq!(watch.next().await, None);
    }

    #[test]
    fn watches_are_bounded_and_given_back() {
        static OPEN: Watches = Watches::new();
        let own: Vec<_> = (0..TOKEN_MAX).map(|_| OPEN.admit("a").unwrap()).collect();
        assert!(OPEN.admit("a").is_none());
        let others: Vec<_> =
            (TOKEN_MAX..ALL_MAX).map(|other| OPEN.admit(&other.to_string()).unwrap()).collect();
        assert!(OPEN.admit("b").is_none());
        drop(own);
        assert!(OPEN.admit("b").is_some());
        drop(others);
        assert!(OPEN.open().is_empty());
    }
}
