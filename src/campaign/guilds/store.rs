//! Settings of guilds: in the store, and in files while it is unavailable.
//!
//! Entry type: [`GuildStore`]. Settings in a file move to the store as soon as that answers: another
//! process may serve the guild next. **Never**: loses an opt-out because the store failed, or takes
//! unreadable settings for none.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt};
use tokio::{
    task::{JoinError, spawn_blocking},
    time::{sleep, timeout},
};

use super::settings::{GuildSettings, SettingsError};
use crate::{
    campaign::file_error::{FileError, names_in},
    files,
    memory::{self, GuildRecord, MemoryStore},
};

/// A slower store is written later; Discord waits 3 s for the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Delay before settings in a file are written again: they should be in the store before another
/// process has taken over the guild.
const AGAIN: Duration = Duration::from_millis(250);

#[derive(Debug, thiserror::Error)]
pub enum GuildError {
    #[error("cannot read the settings of this server: {0}")]
    Store(#[from] memory::Error),
    /// Unreadable content in the store.
    #[error("cannot read the settings of this server: {0}")]
    Settings(SettingsError),
    /// Unreadable content in the file.
    #[error("cannot use '{}': {why} (move it away; it contains opt-outs)", .path.display())]
    Waiting { path: PathBuf, why: SettingsError },
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Text(#[from] serde_json::Error),
    /// The task that wrote to the disk has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
}

/// Stores settings of guilds. Cloning shares it.
#[derive(Clone)]
pub struct GuildStore {
    store: Arc<dyn MemoryStore>,
    waiting: Arc<Waiting>,
}

/// Settings not yet in the store, one file per guild. Older versions stored all of them here.
struct Waiting {
    folder: PathBuf,
    /// Held during a write.
    turn: Mutex<()>,
    /// Guilds whose settings a task moves to the store.
    moving: Mutex<BTreeSet<u64>>,
}

impl GuildStore {
    /// Uses `store`, and `folder` while it is unavailable.
    pub fn new(store: Arc<dyn MemoryStore>, folder: &Path) -> Self {
        let folder = folder.to_owned();
        let waiting = Waiting { folder, turn: Mutex::new(()), moving: Mutex::default() };
        Self { store, waiting: Arc::new(waiting) }
    }

    /// Begins to move settings to the store that earlier runs have left in files. Logs failures.
    pub async fn take_over(&self) {
        match self.blocking(Waiting::guilds).await {
            Ok(guilds) => guilds.into_iter().for_each(|guild| self.move_soon(guild)),
            Err(error) => tracing::error!(%error, "cannot look for settings that wait in files"),
        }
    }

    /// Settings of `guild`. Newer ones waiting in a file are written to the store first.
    ///
    /// # Errors
    /// The store or the file cannot be read, or holds something else.
    pub async fn read(self, guild: u64) -> Result<GuildSettings, GuildError> {
        let kept = self.store.guild(guild).await?;
        let kept = kept.map(|record| GuildSettings::read(&record.text)).transpose();
        let kept = kept.map_err(GuildError::Settings)?;
        let waiting = self.blocking(move |waiting| waiting.read(guild)).await?;
        match (waiting, kept) {
            (Some(waiting), Some(kept)) if waiting.revision <= kept.revision => {
                let revision = kept.revision;
                self.blocking(move |waiting| waiting.remove(guild, revision)).await?;
                Ok(kept)
            }
            (Some(waiting), _) => {
                self.clone().keep(guild, waiting.clone()).await?;
                Ok(waiting)
            }
            (None, kept) => Ok(kept.unwrap_or_default()),
        }
    }

    /// True if anything was ever set in `guild`.
    ///
    /// # Errors
    /// The store or the file cannot be read.
    pub async fn is_kept(&self, guild: u64) -> Result<bool, GuildError> {
        let waits = self.blocking(move |waiting| Ok(waiting.path(guild).exists())).await?;
        Ok(waits || self.store.guild(guild).await?.is_some())
    }

    /// Stores `settings`.
    ///
    /// # Errors
    /// Neither the store nor the file can be written.
    pub async fn keep(self, guild: u64, settings: GuildSettings) -> Result<(), GuildError> {
        let (revision, text) = (settings.revision, settings.text()?);
        let record = GuildRecord { revision, text: text.clone() };
        let away = match timeout(PATIENCE, self.store.put_guild(guild, record)).await {
            Ok(Ok(())) => {
                return self.blocking(move |waiting| waiting.remove(guild, revision)).await;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the store does not answer".to_owned(),
        };
        tracing::warn!(guild, away, "settings wait in a file until the store answers");
        self.blocking(move |waiting| waiting.write(guild, revision, &text)).await?;
        self.move_soon(guild);
        Ok(())
    }

    /// Starts the task that moves the settings of `guild` to the store, unless it runs.
    fn move_soon(&self, guild: u64) {
        if self.waiting.moving().insert(guild) {
            tokio::spawn(self.clone().moved(guild));
        }
    }

    /// Ends once the store has the settings of `guild`, or their file cannot be used.
    fn moved(self, guild: u64) -> BoxFuture<'static, ()> {
        async move {
            loop {
                sleep(AGAIN).await;
                match self.clone().read(guild).await {
                    Ok(_) if self.waiting.path(guild).exists() => {}
                    Err(GuildError::Store(_)) => {}
                    Ok(_) => break,
                    Err(error) => {
                        tracing::error!(guild, %error, "settings stay in their file");
                        break;
                    }
                }
            }
            self.waiting.moving().remove(&guild);
        }
        .boxed()
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Waiting) -> Result<T, GuildError> + Send + 'static,
    ) -> Result<T, GuildError> {
        let waiting = Arc::clone(&self.waiting);
        spawn_blocking(move || work(&waiting)).await?
    }
}

impl Waiting {
    fn moving(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Guilds with a file.
    fn guilds(&self) -> Result<Vec<u64>, GuildError> {
        let of = |name: String| -> Option<u64> {
            name.strip_prefix("guild-")?.strip_suffix(".json")?.parse().ok()
        };
        Ok(names_in(&self.folder)?.into_iter().filter_map(of).collect())
    }

    fn path(&self, guild: u64) -> PathBuf {
        self.folder.join(format!("guild-{guild}.json"))
    }

    fn read(&self, guild: u64) -> Result<Option<GuildSettings>, GuildError> {
        let path = self.path(guild);
        match fs::read_to_string(&path) {
            Ok(text) => GuildSettings::read(&text)
                .map(Some)
                .map_err(|why| GuildError::Waiting { path, why }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::on("read", &path)(error).into()),
        }
    }

    /// Writes `text` unless a later revision waits.
    fn write(&self, guild: u64, revision: u64, text: &str) -> Result<(), GuildError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read(guild)?.is_some_and(|waiting| waiting.revision >= revision) {
            return Ok(());
        }
        let path = self.path(guild);
        let replaced = files::replace_private(&path, text.as_bytes());
        Ok(replaced.map_err(FileError::on("write", &path))?)
    }

    /// Removes the file unless it is later than `revision`. A leftover earlier one is harmless.
    fn remove(&self, guild: u64, revision: u64) -> Result<(), GuildError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.path(guild);
        if let Some(waiting) = self.read(guild)?
            && waiting.revision <= revision
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(%error, path = %path.display(), "cannot remove saved settings");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Sqlite;

    fn opened(folder: &Path) -> GuildStore {
        let store = Sqlite::open(&folder.join("memory.db")).unwrap();
        GuildStore::new(Arc::new(store), folder)
    }

    fn settings(revision: u64, role: u64) -> GuildSettings {
        let mut settings = GuildSettings::default();
        (settings.revision, settings.dm_role) = (revision, Some(role));
        settings
    }

    async fn role(guilds: &GuildStore) -> Option<u64> {
        guilds.clone().read(7).await.unwrap().dm_role
    }

    #[tokio::test]
    async fn waiting_settings_move_to_store_unless_older() {
        let folder = tempfile::tempdir().unwrap();
        let guilds = opened(folder.path());
        assert_eq!(role(&guilds).await, None);
        assert!(!guilds.is_kept(7).await.unwrap(), "to look is to set nothing");
        let file = folder.path().join("guild-7.json");
        fs::write(&file, r#"{"version": 1, "dm_role": 1}"#).unwrap();
        assert!(guilds.is_kept(7).await.unwrap());
        assert_eq!(role(&guilds).await, Some(1));
        assert!(!file.exists());
        assert_eq!(role(&guilds).await, Some(1));
        assert!(guilds.is_kept(7).await.unwrap());
        guilds.clone().keep(7, settings(3, 3)).await.unwrap();
        for (revision, kept) in [(2, 3), (5, 5)] {
            fs::write(&file, settings(revision, revision).text().unwrap()).unwrap();
            assert_eq!(role(&guilds).await, Some(kept));
            assert!(!file.exists());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_settings_move_once_the_store_answers() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
        let guilds = GuildStore::new(Arc::<Sqlite>::clone(&store), folder.path());
        let file = folder.path().join("guild-7.json");
        let moved = async || {
            for _ in 0..20 {
                sleep(AGAIN).await;
                if !file.exists() {
                    return Some(guilds.store.guild(7).await.unwrap().unwrap().revision);
                }
            }
            None
        };
        store.set_away(true);
        guilds.clone().keep(7, settings(3, 3)).await.unwrap();
        assert_eq!(moved().await, None);
        store.set_away(false);
        assert_eq!(moved().await, Some(3));
        fs::write(&file, settings(4, 4).text().unwrap()).unwrap();
        fs::write(folder.path().join("guild-x.json"), "").unwrap();
        guilds.take_over().await;
        assert_eq!(moved().await, Some(4), "of an earlier run");
    }

    #[tokio::test]
    async fn latest_waiting_settings_win_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let waiting = opened(folder.path()).waiting;
        for revision in [4, 5, 3] {
            waiting.write(7, revision, &settings(revision, revision).text().unwrap()).unwrap();
        }
        assert_eq!(waiting.read(7).unwrap().unwrap().dm_role, Some(5));
        waiting.remove(7, 4).unwrap();
        assert!(waiting.read(7).unwrap().is_some());
        waiting.remove(7, 5).unwrap();
        assert!(waiting.read(7).unwrap().is_none());
    }

    #[tokio::test]
    async fn unreadable_guild_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let guilds = opened(folder.path());
        fs::write(folder.path().join("guild-7.json"), "{").unwrap();
        let refused = guilds.read(7).await.unwrap_err().to_string();
        assert!(refused.contains("contains opt-outs"), "{refused}");
    }
}
