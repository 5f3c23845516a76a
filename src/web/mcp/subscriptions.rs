//! `subscriptions/listen` of revision 2026-07-28. Entry functions: [`accepted`], [`listen`].

use std::sync::Arc;

use rmcp::{ErrorData, model::SubscriptionFilter, service::SubscriptionContext};

use super::{
    resources::{ResourceChange, ResourceUri, refused},
    server::{McpServer, holder_of},
    watch::{ResourceWatch, WatchError},
};

/// Most resources of one subscription.
const URIS_MAX: usize = 100;

/// The part of `requested` that is listened for: addresses of other programs are left out.
pub fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| ResourceUri::read(uri).is_some());
        uris.truncate(URIS_MAX);
    }
    accepted
}

/// Notifies the client of changes that the holder of the token may read, until the client cancels,
/// or the listener or the token ends: the client then gets a final result.
pub async fn listen(server: &McpServer, context: SubscriptionContext) -> Result<(), ErrorData> {
    let holder = holder_of(context.request_context())?;
    let begun = ResourceWatch::begin(Arc::clone(&server.parts), &server.watches, holder).await;
    let mut watch = begun.map_err(|error| match error {
        WatchError::TooMany => ErrorData::invalid_request(error.to_string(), None),
        WatchError::Read(error) => refused(error),
    })?;
    let filter = context.accepted().clone();
    loop {
        let changes = tokio::select! {
            biased;
            () = context.cancelled() => return Ok(()),
            () = server.stop.cancelled() => return Ok(()),
            changes = watch.next() => changes,
        };
        let Some(changes) = changes else { return Ok(()) };
        for change in changes {
            let sent = match wanted(&filter, &change) {
                None => continue,
                Some(Notification::List) => context.sink().notify_resource_list_changed().await,
                Some(Notification::Updated(uri)) => {
                    context.sink().notify_resource_updated(uri).await
                }
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "a program outside no longer listens");
                return Ok(());
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Notification<'a> {
    List,
    /// The address as the client wrote it.
    Updated(&'a str),
}

/// The notification of `change` that `filter` asks for.
fn wanted<'a>(filter: &'a SubscriptionFilter, change: &ResourceChange) -> Option<Notification<'a>> {
    match change {
        ResourceChange::List => {
            (filter.resources_list_changed == Some(true)).then_some(Notification::List)
        }
        ResourceChange::Updated(uri) => {
            let mut uris = filter.resource_subscriptions.iter().flatten();
            let found = uris.find(|it| ResourceUri::read(it).as_ref() == Some(uri))?;
            Some(Notification::Updated(found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_sent() {
        let asked = ["glyphoxa://npc/Bartok%20the%20Barkeep", "file:///etc/passwd"];
        let requested = SubscriptionFilter::builder().resource_subscriptions(asked).build();
        let filter = accepted(&requested);
        assert_eq!(filter.resource_subscriptions.as_deref(), Some(&[asked[0].to_owned()][..]));
        let npc = |name: &str| ResourceChange::Updated(ResourceUri::Npc(name.to_owned()));
        let updated = Some(Notification::Updated(asked[0]));
        assert_eq!(wanted(&filter, &npc("Bartok the Barkeep")), updated);
        assert_eq!(wanted(&filter, &npc("Mira")), None);
        assert_eq!(wanted(&filter, &ResourceChange::List), None);
        let lists = SubscriptionFilter::builder().resources_list_changed().build();
        assert_eq!(wanted(&accepted(&lists), &ResourceChange::List), Some(Notification::List));
    }
}
