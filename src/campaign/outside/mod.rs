//! What programs outside do at a table: an NPC speaks, answers, and what is said is listened to.
//!
//! Entry type: [`Outside`], which the MCP server calls. With a running table everything happens
//! there; without one, an NPC's words are synthesised and returned. **Never**: decides who may call
//! it, or ends an X-card.

mod error;
mod lines;
mod listen;
mod sound;
mod speak;
#[cfg(test)]
mod tests;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

pub use error::OutsideError;
pub use lines::OutsideLine;
pub use listen::{ListenFor, ListenUntil};
pub use sound::{TableSound, Utterance48};
pub use speak::OutsideSpoken;

use super::{
    factory::Factory,
    guilds::GuildStore,
    sessions::{Sessions, TableHere},
    settings::SharedSettings,
    spend::Accounts,
};
use crate::domain::{Owner, SessionId};

pub struct OutsideParts {
    pub settings: SharedSettings,
    /// Makes voices for words without a table.
    pub factory: Arc<dyn Factory>,
    pub sessions: Sessions,
    /// Pay for words without a table.
    pub accounts: Accounts,
    pub guilds: GuildStore,
}

/// How to get a table for a token of `owner`.
pub const fn way_to_table(owner: Owner) -> &'static str {
    match owner {
        Owner::Guild(_) => "use /session start in Discord",
        Owner::Local => "run glyphoxa serve; for tables on Discord, make a token with --guild ID",
    }
}

/// Serves programs outside. Cloning shares it.
#[derive(Clone)]
pub struct Outside {
    parts: Arc<OutsideParts>,
    /// Tables whose sound is returned as data.
    returned: Arc<Mutex<Vec<(SessionId, TableSound)>>>,
    /// What is said may be listened to.
    listens: Arc<AtomicBool>,
}

impl Outside {
    pub fn new(parts: OutsideParts) -> Self {
        Self { parts: Arc::new(parts), returned: Arc::default(), listens: Arc::default() }
    }

    /// Sets whether [`Self::listen`] is allowed; it is not at first.
    pub fn set_listens(&self, listens: bool) {
        self.listens.store(listens, Ordering::Relaxed);
    }

    /// True if programs outside may read what is said.
    pub fn listens(&self) -> bool {
        self.listens.load(Ordering::Relaxed)
    }

    /// Returns the sound of the table of `session` with each answer from now on.
    pub fn returns(&self, session: &SessionId, sound: TableSound) {
        self.returned().push((session.clone(), sound));
    }

    /// Tells the table of a call by a program outside: the panel shows the tool and the token's id.
    /// Without a table it does nothing.
    pub fn announce(&self, owner: Owner, table: Option<&str>, tool: &str, by: &str) {
        if let Ok(Some(here)) = self.table(owner, table) {
            here.link.tell(format!("outside: {tool} by {by}"));
        }
    }

    /// The table named `table` of `owner`; without a name the newest, if any runs.
    fn table(&self, owner: Owner, table: Option<&str>) -> Result<Option<TableHere>, OutsideError> {
        let mut tables = self.parts.sessions.tables(owner);
        let Some(wanted) = table else { return Ok(tables.pop()) };
        match tables.iter().position(|it| it.link.session.0 == wanted) {
            Some(found) => Ok(Some(tables.swap_remove(found))),
            None => {
                let known: Vec<&str> = tables.iter().map(|it| it.link.session.0.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(OutsideError::UnknownTable { table: wanted.to_owned(), known })
            }
        }
    }

    /// Like [`Self::table`], for what needs one.
    fn running(&self, owner: Owner, table: Option<&str>) -> Result<TableHere, OutsideError> {
        self.table(owner, table)?.ok_or(OutsideError::NoTable(way_to_table(owner)))
    }

    fn sound_of(&self, session: &SessionId) -> Option<TableSound> {
        let returned = self.returned();
        returned.iter().find(|(of, _)| of == session).map(|(_, sound)| sound.clone())
    }

    fn returned(&self) -> MutexGuard<'_, Vec<(SessionId, TableSound)>> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
