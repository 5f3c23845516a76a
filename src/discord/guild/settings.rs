//! Settings of the guild, and whether they are stored.
//!
//! Entry type: [`KeptSettings`]. The guild stores them.

use std::sync::Arc;

use crate::campaign::{GuildError, GuildSettings};

/// Settings in memory.
pub struct KeptSettings {
    values: GuildSettings,
    /// Changed since the last store.
    changed: bool,
    /// Reason they could not be read; until they are, nothing is done.
    unread: Option<Unread>,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum Unread {
    /// The store has not answered yet.
    #[error("the settings of this server are not loaded yet")]
    NotYet,
    #[error(transparent)]
    Failed(Arc<GuildError>),
}

impl Default for KeptSettings {
    fn default() -> Self {
        Self { values: GuildSettings::default(), changed: false, unread: Some(Unread::NotYet) }
    }
}

impl KeptSettings {
    pub fn values(&self) -> &GuildSettings {
        &self.values
    }

    /// Reason they could not be read; `None`: they were.
    pub fn unread(&self) -> Option<&Unread> {
        self.unread.as_ref()
    }

    pub fn take(&mut self, read: Result<GuildSettings, GuildError>) {
        match read {
            Ok(values) => (self.values, self.unread) = (values, None),
            Err(why) => self.unread = Some(Unread::Failed(Arc::new(why))),
        }
    }

    /// Changes them; the caller stores them.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut GuildSettings) -> T) -> T {
        self.values.revision += 1;
        self.changed = true;
        change(&mut self.values)
    }

    /// Values to store, if changed; they then count as stored.
    pub fn take_changed(&mut self) -> Option<GuildSettings> {
        std::mem::take(&mut self.changed).then(|| self.values.clone())
    }
}
