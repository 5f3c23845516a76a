//! Direct messages about deletions that completed late.
//!
//! Entry function: [`notify`]. **Never**: posts about a deletion where others can read it.

use std::sync::Arc;

use serenity::{
    all::{CreateMessage, UserId},
    http::Http,
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::rest;
use crate::campaign::Deleted;

const DONE: &str = "I couldn't delete what you asked me to delete at that time. Now it's done: the \
                    lines and everything derived from them are deleted.";

pub async fn notify(mut finished: Receiver<Deleted>, http: Arc<Http>) {
    loop {
        let deleted = match finished.recv().await {
            Ok(deleted) => deleted,
            Err(RecvError::Lagged(missed)) => {
                tracing::error!(missed, "people were not told that their deletion is done");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        // Only people on a server have a Discord user id.
        let id = deleted
            .asker
            .0
            .parse::<u64>()
            .ok()
            .filter(|id| *id > 0 && deleted.owner.guild().is_some());
        let Some(user) = id.map(UserId::new) else { continue };
        let sent = user.direct_message(&http, CreateMessage::new().content(DONE));
        if let Err(error) = sent.await {
            // The user may not accept direct messages.
            let reason = rest::reason(&error);
            tracing::warn!(reason, "cannot tell a person that their deletion is done");
        }
    }
}
