//! The panel's message: when it is written, and its notes.
//!
//! Entry types: [`PanelMessage`], [`MessagePlace`]. **Never**: writes faster than Discord allows.

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

/// Between two edits, unless the table's activity changed.
const EDIT_EVERY: Duration = Duration::from_secs(5);
/// Shortest time between two edits; Discord allows five in five seconds.
const EDIT_MIN: Duration = Duration::from_millis(1_500);
/// Notes kept; the oldest go first.
const NOTES_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePlace {
    pub channel: ChannelId,
    pub message: MessageId,
}

/// Marks that the panel is being written until dropped.
#[must_use]
pub struct Writing(#[expect(dead_code, reason = "only whether it lives counts")] Arc<()>);

#[derive(Debug, Default)]
pub struct PanelMessage {
    message: Option<MessageId>,
    /// Alive while a task writes it.
    writing: Weak<()>,
    /// A change must be shown soon.
    urgent: bool,
    written: Option<Instant>,
    shown: String,
    notes: Vec<String>,
}

impl PanelMessage {
    /// Adds a note for the game master, unless it repeats the last one.
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

    pub fn notes(&self) -> Vec<&str> {
        self.notes.iter().map(String::as_str).collect()
    }

    /// Writes it soon because something has changed.
    pub fn refresh_soon(&mut self) {
        self.urgent = true;
    }

    /// A permit if it is time to write; it counts as being written while the permit lives.
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

    /// True if `text` is new, which then counts as shown at `now`.
    pub fn takes(&mut self, now: Instant, text: &str) -> bool {
        self.urgent = false;
        self.written = Some(now);
        if self.message.is_some() && self.shown == text {
            return false;
        }
        text.clone_into(&mut self.shown);
        true
    }

    pub fn message(&self) -> Option<MessageId> {
        self.message
    }

    pub fn written(&mut self, message: Option<MessageId>) {
        self.message = message.or(self.message);
    }
}

/// Edits the message, or writes a new one if it is gone; returns its id.
pub async fn write(
    http: &Http,
    channel: ChannelId,
    message: Option<MessageId>,
    rendered: &Rendered,
) -> serenity::Result<MessageId> {
    if let Some(message) = message {
        match channel.edit_message(http, message, rendered.edit()).await {
            Ok(_) => return Ok(message),
            // It was deleted.
            Err(error) if rest::status(&error) == Some(404) => {}
            Err(error) => return Err(error),
        }
    }
    channel.send_message(http, rendered.message()).await.map(|it: Message| it.id)
}
