//! Settings of the guild, and whether they are kept.
//!
//! Entry type: [`KeptSettings`]. **Never**: keeps them itself; the guild hands them to the program.

use std::sync::Arc;

use crate::campaign::{GuildError, GuildSettings};

/// Settings, as they are in memory.
pub struct KeptSettings {
    values: GuildSettings,
    /// They were changed since they were kept last.
    changed: bool,
    /// Reason they could not be read: nothing is done until they can.
    unread: Option<Unread>,
}

/// Reason the settings are unknown.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unread {
    /// The store has not answered yet.
    #[error("the settings of this server are not loaded yet")]
    NotYet,
    /// It cannot be read.
    #[error(transparent)]
    Failed(Arc<GuildError>),
}

impl Default for KeptSettings {
    fn default() -> Self {
        Self { values: GuildSettings::default(), changed: false, unread: Some(Unread::NotYet) }
    }
}

impl KeptSettings {
    /// The current values.
    pub fn values(&self) -> &GuildSettings {
        &self.values
    }

    /// Reason they could not be read; `None`: they were.
    pub fn unread(&self) -> Option<&Unread> {
        self.unread.as_ref()
    }

    /// Goes by what was read.
    pub fn take(&mut self, read: Result<GuildSettings, GuildError>) {
        match read {
            Ok(values) => (self.values, self.unread) = (values, None),
            Err(why) => self.unread = Some(Unread::Failed(Arc::new(why))),
        }
    }

    /// Changes them; they are to be kept.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut GuildSettings) -> T) -> T {
        self.values.revision += 1;
        self.changed = true;
        change(&mut self.values)
    }

    /// Values to be kept, where any was changed; they count as kept then.
    pub fn take_changed(&mut self) -> Option<GuildSettings> {
        std::mem::take(&mut self.changed).then(|| self.values.clone())
    }
}
