//! The message of the panel: when it is written, and the notes on it.
//!
//! Entry types: [`PanelMessage`], [`MessagePlace`]. **Never**: writes faster than Discord takes.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use serenity::{
    all::{ChannelId, Message, MessageId},
    http::Http,
};
use tokio::time::Instant;

use crate::discord::{rest, ui::panel::Rendered};

/// Between two edits, unless what the table does has changed.
const EDIT_EVERY: Duration = Duration::from_secs(5);
/// Between two edits at least; Discord takes five in five seconds.
const EDIT_MIN: Duration = Duration::from_millis(1_500);
/// The newest notes that are kept; older ones go.
const NOTES_MAX: usize = 4;

/// Place of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePlace {
    /// The channel it is in.
    pub channel: ChannelId,
    /// Its own id.
    pub message: MessageId,
}

/// While it lives the panel is being written; it goes with whatever becomes of that.
#[must_use]
pub struct Writing(#[expect(dead_code, reason = "only whether it lives counts")] Arc<()>);

/// The message and when it was written.
#[derive(Debug, Default)]
pub struct PanelMessage {
    message: Option<MessageId>,
    /// Held by what writes it, for as long as it does.
    writing: Weak<()>,
    /// Something has changed that is to be seen soon.
    urgent: bool,
    written: Option<Instant>,
    shown: String,
    notes: Vec<String>,
}

impl PanelMessage {
    /// Adds something the game master should know, unless it is the last word already.
    pub fn note(&mut self, text: String) {
        if self.notes.last() == Some(&text) {
            return;
        }
        if self.notes.len() >= NOTES_MAX {
            self.notes.remove(0);
        }
        self.notes.push(text);
        self.urgent = true;
    }

    /// Notes for the game master, newest last.
    pub fn notes(&self) -> Vec<&str> {
        self.notes.iter().map(String::as_str).collect()
    }

    /// Has it written soon, for something has changed.
    pub fn refresh_soon(&mut self) {
        self.urgent = true;
    }

    /// Returns a permit if it is time to write it; it counts as being written while the permit lives.
    pub fn begins(&mut self, now: Instant) -> Option<Writing> {
        let since = self.written.map_or(EDIT_EVERY, |at| now.duration_since(at));
        let is_due = since >= EDIT_EVERY || (self.urgent && since >= EDIT_MIN);
        if !is_due || self.writing.strong_count() > 0 {
            return None;
        }
        let writing = Arc::new(());
        self.writing = Arc::downgrade(&writing);
        Some(Writing(writing))
    }

    /// True if `text` is news; then it counts as shown now.
    pub fn takes(&mut self, now: Instant, text: &str) -> bool {
        self.urgent = false;
        self.written = Some(now);
        if self.message.is_some() && self.shown == text {
            return false;
        }
        text.clone_into(&mut self.shown);
        true
    }

    /// The message, once it is there.
    pub fn message(&self) -> Option<MessageId> {
        self.message
    }

    /// Records the written message; `None`: it could not be written.
    pub fn written(&mut self, message: Option<MessageId>) {
        self.message = message.or(self.message);
    }
}

/// Edits the message, or writes a new one when there is none any more; which it is.
///
/// # Errors
/// Discord's own.
pub async fn write(
    http: &Http,
    channel: ChannelId,
    message: Option<MessageId>,
    rendered: &Rendered,
) -> serenity::Result<MessageId> {
    if let Some(message) = message {
        match channel.edit_message(http, message, rendered.edit()).await {
            Ok(_) => return Ok(message),
            // Somebody has deleted it.
            Err(error) if rest::status(&error) == Some(404) => {}
            Err(error) => return Err(error),
        }
    }
    channel.send_message(http, rendered.message()).await.map(|it: Message| it.id)
}
