//! What the guild has set, and whether it is kept.
//!
//! Entry type: [`KeptSettings`]. **Never**: keeps them itself; the guild hands them to the program.

use crate::campaign::{GuildError, GuildSettings};

/// What was set, as it is in memory.
pub struct KeptSettings {
    values: GuildSettings,
    /// They were changed since they were kept last.
    changed: bool,
    /// Why they could not be read: nothing is done until they can.
    unread: Option<String>,
}

impl Default for KeptSettings {
    fn default() -> Self {
        Self {
            values: GuildSettings::default(),
            changed: false,
            unread: Some("what was set here is not read yet".to_owned()),
        }
    }
}

impl KeptSettings {
    /// What is set.
    pub fn values(&self) -> &GuildSettings {
        &self.values
    }

    /// Why they could not be read; `None`: they could.
    pub fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// Goes by what was read.
    pub fn take(&mut self, read: Result<GuildSettings, GuildError>) {
        match read {
            Ok(values) => (self.values, self.unread) = (values, None),
            Err(why) => self.unread = Some(why.to_string()),
        }
    }

    /// Changes them; they are to be kept.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut GuildSettings) -> T) -> T {
        self.values.revision += 1;
        self.changed = true;
        change(&mut self.values)
    }

    /// What is to be kept, where anything was changed; it counts as kept then.
    pub fn take_changed(&mut self) -> Option<GuildSettings> {
        std::mem::take(&mut self.changed).then(|| self.values.clone())
    }
}
