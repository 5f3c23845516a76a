//! Sessions of Discord servers in the store, where every process finds them. Entry type:
//! [`KeptStore`].
//!
//! A file of such a session was written by an earlier version, or while the store was away: the
//! next one to open the session takes it over, if it is newer, and removes it. **Never**: replaces
//! a later state by an earlier one.

use std::{collections::BTreeMap, fs, io, path::Path};

use tokio::task::spawn_blocking;

use super::{
    file_error::FileError,
    hold::SessionHold,
    kept::{KeptError, KeptSession, owner_of},
    parts::{kept_sessions, lock_of},
};
use crate::{
    domain::{Owner, Person, Scope},
    memory::{self, MemoryStore},
};

/// Where stored sessions lie. Sessions of this machine are in files alone.
#[derive(Clone, Copy)]
pub struct KeptStore<'s> {
    store: &'s dyn MemoryStore,
    data_dir: &'s Path,
}

impl<'s> KeptStore<'s> {
    pub const fn new(store: &'s dyn MemoryStore, data_dir: &'s Path) -> Self {
        Self { store, data_dir }
    }

    /// Opens or begins the session `id`.
    ///
    /// # Errors
    /// An invalid name, another scope, or unreadable content.
    pub async fn open(&self, id: &str, scope: &Scope) -> Result<KeptSession, KeptError> {
        if owner_of(id) != scope.owner {
            // It is not theirs to take over.
            let (folder, id, scope) = (self.data_dir.to_owned(), id.to_owned(), scope.clone());
            return spawn_blocking(move || KeptSession::open(&folder, &id, &scope)).await?;
        }
        let (kept, taken_over) = self.newest(id).await?;
        if let Err(error) = taken_over {
            tracing::warn!(id, %error, "a saved session waits in its file until the memory answers");
        }
        kept.claimed_by(scope)
    }

    /// The state of a session of any owner; the file's, if that is newer.
    pub(super) async fn read(&self, id: &str) -> Result<KeptSession, KeptError> {
        Ok(self.newest(id).await?.0)
    }

    /// Reserves a session of `scope` for this program until the result is dropped; `None` for a
    /// session that is not stored. Fails if another program on this machine has it.
    pub async fn hold(
        &self,
        kept: &mut KeptSession,
        scope: &Scope,
    ) -> Result<Option<SessionHold>, KeptError> {
        let hold = kept.hold()?;
        if kept.is_stored() {
            // The previous holder may have saved more.
            *kept = self.open(kept.id(), scope).await?;
        }
        Ok(hold)
    }

    /// Ids of the sessions of `owner` in the store.
    pub async fn ids(&self, owner: Owner) -> Result<Vec<String>, memory::Error> {
        match owner {
            Owner::Guild(_) => self.store.kept_ids(owner).await,
            Owner::Local => Ok(Vec::new()),
        }
    }

    /// Stores a state, and removes an older one in a file; `Some` revision of the store if that is
    /// as new, and stays.
    pub(super) async fn put(&self, kept: &mut KeptSession) -> Result<Option<u64>, KeptError> {
        let (owner, table) = (owner_of(kept.id()), kept.table()?);
        if self.store.put_kept_table(owner, kept.id(), table).await? {
            self.remove_file(kept).await?;
            return Ok(None);
        }
        let stored = self.store.kept_table(owner, kept.id()).await?;
        Ok(Some(stored.map_or(0, |stored| stored.revision)))
    }

    /// Forgets what a session of the store has of `person`. Unless it `is_open` here, fails if
    /// another program on this machine has it. Also fails while the store is away.
    pub(super) async fn forget(
        &self,
        id: &str,
        person: &Person,
        is_open: bool,
    ) -> Result<(), KeptError> {
        let mut hold = None;
        loop {
            let (mut kept, taken_over) = self.newest(id).await?;
            taken_over?;
            if kept.messages_of(person) == 0 {
                return Ok(());
            }
            if !is_open && hold.is_none() {
                let taken = SessionHold::take(lock_of(&self.data_dir.join("sessions"), id))?;
                hold = Some(taken.ok_or_else(|| KeptError::Busy(id.to_owned()))?);
                // The previous holder may have saved more.
                continue;
            }
            kept.leave_out(person);
            kept.revise(0);
            if self.put(&mut kept).await?.is_none() {
                return Ok(());
            }
        }
    }

    /// Stores the money spent in a session that this program holds.
    pub async fn save_spent(&self, mut kept: KeptSession, spent: f64) -> Result<(), KeptError> {
        if !kept.is_stored() {
            return Ok(kept.save(BTreeMap::new(), spent)?);
        }
        loop {
            kept.set_spent(spent);
            kept.revise(0);
            if self.put(&mut kept).await?.is_none() {
                return Ok(());
            }
            kept = self.read(kept.id()).await?;
        }
    }

    /// Deletes a session from files and the store; true if any of it existed.
    pub async fn delete(&self, kept: KeptSession) -> Result<bool, KeptError> {
        let (owner, id, is_stored) = (owner_of(kept.id()), kept.id().to_owned(), kept.is_stored());
        let had_files = kept.delete()?;
        let was_stored = is_stored && self.store.remove_kept_table(owner, &id).await?;
        Ok(had_files || was_stored)
    }

    /// Takes over all files of servers' sessions that no program plays. Logs failures, and stops
    /// at one of the store.
    pub async fn take_over(&self) {
        let folder = self.data_dir.join("sessions");
        let is_theirs =
            |id: &str| owner_of(id) != Owner::Local && folder.join(format!("{id}.json")).exists();
        let all = match kept_sessions(&folder, is_theirs) {
            Ok(all) => all,
            Err(error) => {
                tracing::error!(%error, "cannot look for saved sessions of servers");
                return;
            }
        };
        for id in all.into_keys() {
            let taken = match SessionHold::take(lock_of(&folder, &id)) {
                Ok(None) => continue,
                Ok(Some(_hold)) => self.newest(&id).await,
                Err(error) => Err(error.into()),
            };
            match taken {
                Ok((_, Ok(()))) => {}
                Ok((_, Err(error))) | Err(KeptError::Store(error)) => {
                    tracing::warn!(%error, "saved sessions of servers stay in files for now");
                    return;
                }
                Err(error) => tracing::error!(%error, "a saved session stays in its file"),
            }
        }
    }

    /// The newest state of a session. The second result is an error of the store, which then lacks
    /// this state.
    async fn newest(
        &self,
        id: &str,
    ) -> Result<(KeptSession, Result<(), memory::Error>), KeptError> {
        let (folder, name) = (self.data_dir.to_owned(), id.to_owned());
        let file = spawn_blocking(move || KeptSession::of_anybody(&folder, &name)).await??;
        let owner = owner_of(id);
        if owner == Owner::Local {
            return Ok((file, Ok(())));
        }
        let stored = self.store.kept_table(owner, id).await?;
        match stored {
            Some(stored) if file.revision() <= stored.revision => {
                let was_written = file.is_written();
                let kept = file.in_store(Some(&stored))?;
                if was_written {
                    self.remove_file(&kept).await?;
                }
                Ok((kept, Ok(())))
            }
            None if !file.is_written() => Ok((file.in_store(None)?, Ok(()))),
            _ => {
                let mut kept = file.in_store(None)?;
                if kept.revision() == 0 {
                    kept.revise(0);
                }
                match self.put(&mut kept).await {
                    Ok(_) => Ok((kept, Ok(()))),
                    Err(KeptError::Store(error)) => Ok((kept, Err(error))),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Removes the file of a session that is in the store.
    async fn remove_file(&self, kept: &KeptSession) -> Result<(), KeptError> {
        let Some(path) = kept.path().map(Path::to_owned) else { return Ok(()) };
        let remove = move || match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::on("delete", &path)(error))
            }
            _ => Ok(()),
        };
        Ok(spawn_blocking(remove).await??)
    }
}
