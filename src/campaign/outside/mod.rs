//! Programs outside at a table: they make NPCs speak and answer, and listen.
//!
//! Entry type: [`Outside`], which the MCP server calls. With a running table everything happens
//! there; without one, an NPC's words are synthesised and returned. **Never**: decides who may call
//! it, or ends an X-card.

mod error;
mod lines;
mod listen;
mod ongoing;
mod paces;
mod sound;
mod speak;
#[cfg(test)]
mod tests;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

pub use error::OutsideError;
pub use listen::{ListenFor, ListenUntil};
pub use sound::{TableSound, Utterance48};
pub use speak::{OutsideSpoken, WantedLine};

use ongoing::{Ongoing, OngoingSlot};
use paces::{Paced, Paces};
use tokio::{sync::Semaphore, time::Instant};

use super::{
    factory::Factory,
    guilds::{GuildError, GuildStore},
    played::key_of,
    sessions::{Sessions, TableHere},
    settings::SharedSettings,
    spend::Accounts,
};
use crate::{
    domain::{Owner, Scope, SessionId},
    session::SpeakerId,
};

/// Speaker of what programs outside order; no person has this id, or one of the 2^32 below it.
const PROGRAM: SpeakerId = SpeakerId(u64::MAX - 1);
/// Texts that are synthesised without a table at the same time; others wait. Each may become 29 MB
/// of sound.
const SYNTHESES_MAX: usize = 4;

pub struct OutsideParts {
    pub settings: SharedSettings,
    /// Makes voices for words without a table.
    pub factory: Arc<dyn Factory>,
    pub sessions: Sessions,
    /// Pay for words without a table.
    pub accounts: Accounts,
    pub guilds: GuildStore,
}

/// Tells a program with a token of `owner` how to get a table.
pub const fn way_to_table(owner: Owner) -> &'static str {
    match owner {
        Owner::Guild(_) => "a game master starts one in Discord: /session start",
        Owner::Local => "run glyphoxa serve; for tables on Discord, make a token with --guild ID",
    }
}

/// Serves programs outside. Cloning shares it.
#[derive(Clone)]
pub struct Outside {
    parts: Arc<OutsideParts>,
    /// Tables whose sound is returned as data.
    returned: Arc<Mutex<Vec<(SessionId, TableSound)>>>,
    /// [`Self::listen`] is allowed.
    listens: Arc<AtomicBool>,
    paces: Arc<Paces>,
    syntheses: Arc<Semaphore>,
    ongoing: Ongoing,
    /// Speaker of the program's lines and questions.
    speaker: SpeakerId,
}

impl Outside {
    pub fn new(parts: OutsideParts) -> Self {
        Self {
            parts: Arc::new(parts),
            returned: Arc::default(),
            listens: Arc::default(),
            paces: Arc::default(),
            syntheses: Arc::new(Semaphore::new(SYNTHESES_MAX)),
            ongoing: Ongoing::default(),
            speaker: PROGRAM,
        }
    }

    /// Serves the program with the token `by`: a table limits the questions of each program
    /// separately, like those of players.
    pub fn for_program(&self, by: &str) -> Self {
        // Ids of tokens have eight hexadecimal digits.
        let id = u32::from_str_radix(by, 16).unwrap_or_default();
        let speaker = SpeakerId(PROGRAM.0.saturating_sub(id.into()));
        Self { speaker, ..self.clone() }
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

    /// Tells the table of a call by a program outside: the panel shows the tool and the token's id,
    /// once for calls in quick succession. Without a table it does nothing.
    pub fn announce(&self, owner: Owner, table: Option<&str>, tool: &'static str, by: &str) {
        if let Ok(Some(here)) = self.table(owner, table)
            && self.paces.admit(by, Paced::Notice(tool), Instant::now())
        {
            here.link.tell(format!("outside: {tool} by {by}"));
        }
    }

    /// Counts a question by the program with the token `by`; fails if it asks too often.
    pub fn may_ask(&self, by: &str) -> Result<(), OutsideError> {
        match self.paces.admit(by, Paced::Question, Instant::now()) {
            true => Ok(()),
            false => Err(OutsideError::TooOften),
        }
    }

    /// Counts a call of a tool by the program with the token `by`; fails if it calls too often.
    pub fn may_call(&self, by: &str) -> Result<(), OutsideError> {
        match self.paces.admit(by, Paced::Call, Instant::now()) {
            true => Ok(()),
            false => Err(OutsideError::ManyCalls),
        }
    }

    /// Counts a line that the program with the token `by` shows at a table; false if it shows too
    /// many.
    pub fn may_show(&self, by: &str) -> bool {
        self.paces.admit(by, Paced::Shown, Instant::now())
    }

    /// A slot for a line or run that outlasts its call; fails if this program has too many.
    pub fn place(&self) -> Result<OngoingSlot, OutsideError> {
        self.ongoing.place(self.speaker).ok_or(OutsideError::ManyOngoing)
    }

    /// Ends all lines and runs that have outlasted their calls.
    pub async fn close(&self) {
        self.ongoing.close().await;
    }

    /// The newest running table of `owner`.
    pub fn newest(&self, owner: Owner) -> Option<TableHere> {
        self.parts.sessions.tables(owner).pop()
    }

    /// The table named `table` of `owner`; without a name the newest, if any runs.
    pub fn table(
        &self,
        owner: Owner,
        table: Option<&str>,
    ) -> Result<Option<TableHere>, OutsideError> {
        let Some(wanted) = table else { return Ok(self.newest(owner)) };
        let mut tables = self.parts.sessions.tables(owner);
        match tables.iter().position(|it| it.link.session.0 == wanted) {
            Some(found) => Ok(Some(tables.swap_remove(found))),
            None => {
                let known: Vec<&str> = tables.iter().map(|it| it.link.session.0.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(OutsideError::UnknownTable { table: wanted.to_owned(), known })
            }
        }
    }

    /// Like [`Self::table`], but fails if none runs.
    pub fn running(&self, owner: Owner, table: Option<&str>) -> Result<TableHere, OutsideError> {
        self.table(owner, table)?.ok_or(OutsideError::NoTable(way_to_table(owner)))
    }

    /// The campaign at `table`; without one, the campaign that `owner` has chosen, else the
    /// configured one.
    pub async fn scope(
        &self,
        owner: Owner,
        table: Option<&TableHere>,
    ) -> Result<Scope, GuildError> {
        if let Some(table) = table {
            return Ok(table.scope.clone());
        }
        let settings = match owner.guild() {
            Some(guild) => Some(self.parts.guilds.clone().read(guild).await?),
            None => None,
        };
        let played = settings.as_ref().and_then(|settings| settings.played());
        let campaign = match played {
            Some(played) => key_of(&played.name),
            None => key_of(&self.parts.settings.load().campaign.name),
        };
        Ok(Scope { owner, campaign })
    }

    /// The campaign that `owner` plays now: at the newest table, else the one chosen.
    pub async fn played(&self, owner: Owner) -> Result<Scope, GuildError> {
        self.scope(owner, self.newest(owner).as_ref()).await
    }

    fn sound_of(&self, session: &SessionId) -> Option<TableSound> {
        let returned = self.returned();
        returned.iter().find(|(of, _)| of == session).map(|(_, sound)| sound.clone())
    }

    fn returned(&self) -> MutexGuard<'_, Vec<(SessionId, TableSound)>> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
