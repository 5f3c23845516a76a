//! Changes of resources that the holder of a token may read, for `GET /mcp` and for subscriptions.
//!
//! Entry type: [`ResourceWatch`]. It looks every [`INTERVAL`] and compares with what it saw before, so
//! changes that follow each other become one and nothing queues: a slow reader is notified
//! later, and less. A watch ends with its token.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    resources::{ReadError, ResourceChange, ResourceReader, ResourceSnapshot},
    watches::{ALL_MAX, OWNER_MAX, TOKEN_MAX, WatchPermit, Watches},
};
use crate::{campaign::Holder, web::WebParts};

/// Time between two looks: soon enough for a reader, and cheap.
const INTERVAL: Duration = Duration::from_secs(3);

/// Reasons that nothing is watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error(
        "too many open streams (up to {TOKEN_MAX} of a token, {OWNER_MAX} of a server and {ALL_MAX} \
         in all; close one)"
    )]
    TooMany,
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Changes from its beginning on.
pub struct ResourceWatch {
    parts: Arc<WebParts>,
    holder: Arc<Holder>,
    seen: ResourceSnapshot,
    _permit: WatchPermit,
}

impl ResourceWatch {
    pub async fn begin(
        parts: Arc<WebParts>,
        watches: &Watches,
        holder: Arc<Holder>,
    ) -> Result<Self, WatchError> {
        let permit = watches.admit(holder.owner, &holder.id).ok_or(WatchError::TooMany)?;
        let reader = ResourceReader { handles: &parts.handles, holder: &holder };
        let seen = ResourceSnapshot::take(&reader, &ResourceSnapshot::default()).await?;
        Ok(Self { parts, holder, seen, _permit: permit })
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
        if !self.parts.handles.access.is_valid(&self.holder).await? {
            return Ok(None);
        }
        let reader = ResourceReader { handles: &self.parts.handles, holder: &self.holder };
        let seen = ResourceSnapshot::take(&reader, &self.seen).await?;
        let changes = seen.changes(&self.seen);
        self.seen = seen;
        Ok(Some(changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AccessRole, Owner},
        memory::Visibility,
        web::{
            WebOptions,
            mcp::resources::{ResourceUri, stand_in},
        },
    };

    #[tokio::test(start_paused = true)]
    async fn watch_ends_with_its_token() {
        let folder = tempfile::tempdir().unwrap();
        let handles = stand_in::handles(folder.path());
        let owner = Owner::Guild(1);
        let holder = stand_in::holder(&handles, owner, AccessRole::Player).await;
        let token = holder.id.clone();
        let scope = handles.scope(owner, None);
        stand_in::session(&handles, &scope, "evening", None).await;
        stand_in::session(&handles, &scope, "earlier", Some(9_000)).await;
        let (options, watches) = (WebOptions::default(), Watches::default());
        let shared = handles.clone();
        let parts = WebParts { options, handles: shared, is_heard: true, rehearsal: None };
        let begun = ResourceWatch::begin(Arc::new(parts), &watches, holder);
        let mut watch = begun.await.unwrap_or_else(|error| panic!("{error}"));

        // Nothing that a player may read changes here.
        for session in ["evening", "earlier"] {
            stand_in::line(&handles, &scope, session, "A trap.", Visibility::Dm).await;
        }
        stand_in::session(&handles, &handles.scope(Owner::Guild(2), None), "theirs", None).await;
        assert_eq!(watch.look().await.unwrap(), Some(Vec::new()));

        stand_in::line(&handles, &scope, "evening", "A door.", Visibility::Everyone).await;
        let transcript = ResourceUri::Transcript("evening".to_owned());
        assert_eq!(watch.next().await, Some(vec![ResourceChange::Updated(transcript)]));
        stand_in::line(&handles, &scope, "earlier", "A gate.", Visibility::Everyone).await;
        let of_earlier = ["transcript", "recap"].map(|kind| {
            let uri = ResourceUri::read(&format!("glyphoxa://session/earlier/{kind}")).unwrap();
            ResourceChange::Updated(uri)
        });
        assert_eq!(watch.next().await, Some(of_earlier.to_vec()));
        stand_in::session(&handles, &scope, "another", None).await;
        assert_eq!(watch.next().await, Some(vec![ResourceChange::List]));

        handles.access.revoke(&token).await.unwrap();
        assert_eq!(watch.next().await, None);
    }
}
