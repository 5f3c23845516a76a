//! One person's stored data, for the faces. Entry type: [`Privacy`].
//!
//! A deletion is recorded ([`PendingDeletions`]), then tried, and retried until it is done, by
//! later runs too ([`Privacy::resume`]); then its asker is notified. Deletions of one person wait
//! together ([`Queues`]). Tables and files, which need no store, are erased first and only once, so
//! words said after opting in again stay. **Never**: leaves a person's words where NPCs continue
//! from them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{broadcast, oneshot},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    Deleted, NamesOf,
    erasure::Eraser,
    failure::PrivacyError,
    lines::{forget, names, own_lines},
    pending::{PendingDeletions, RecordError},
    queue::{Queue, Queues, SharedQueue},
};
use crate::{
    campaign::{NotWritten, Sessions, SharedSettings},
    domain::{Owner, PersonId},
    memory::Deletion,
    panics::caught,
};

/// First delay before a retry.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// Longest delay before a retry.
const RETRY_MAX: Duration = Duration::from_secs(60);
/// Interval of looks for deletions that other processes have recorded: one may have lost a server
/// before it could record a deletion there.
const LOOK: Duration = Duration::from_secs(60);
/// Finished deletions not yet reported; the oldest are dropped.
const UNTOLD: usize = 256;

/// Shows and deletes people's data. Cloning shares it.
#[derive(Clone)]
pub struct Privacy {
    sessions: Sessions,
    eraser: Eraser,
    queues: Queues,
    pending: Arc<PendingDeletions>,
    finished: broadcast::Sender<Deleted>,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

impl Privacy {
    /// Deletes from the tables of `sessions` too.
    pub fn new(settings: SharedSettings, sessions: Sessions) -> Self {
        let transcripts = sessions.transcripts();
        let (store, files) = (transcripts.store(), transcripts.deletion_files().clone());
        let pending = Arc::new(PendingDeletions { store, files });
        let finished = broadcast::channel(UNTOLD).0;
        let eraser = Eraser { settings, sessions: sessions.clone() };
        let queues = Queues::default();
        Self { sessions, eraser, queues, pending, finished, tasks: Arc::default() }
    }

    /// Everything this person has said where `owner` plays, as text for them.
    pub async fn own_lines(self, owner: Owner, player: String) -> Result<String, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        self.sessions.caught_up().await?;
        Ok(own_lines(&*transcripts.store(), owner, &player).await?)
    }

    /// Names whose records would be deleted too. Fails if the store lacks the last lines.
    pub async fn names(self, what: Deletion) -> Result<NamesOf, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        self.sessions.caught_up().await?;
        Ok(names(&*transcripts.store(), &what.player, &what.names, &what.from).await?)
    }

    /// Deletions completed from now on, except those that [`Privacy::forget`] returned.
    pub fn finished(&self) -> broadcast::Receiver<Deleted> {
        self.finished.subscribe()
    }

    /// Deletes a person's lines and anything derived from them, in running tables too. Returns the
    /// number of lines. Records of earlier versions are deleted if the name is theirs alone.
    /// Continues if dropped. On an error it is retried in the background.
    pub async fn forget(self, what: Deletion) -> Result<u64, PrivacyError> {
        let (done, answered) = oneshot::channel();
        let begun = self.clone().begin(what);
        // The receiver may have been dropped.
        self.spawn(async move { _ = done.send(begun.await) });
        answered.await.map_err(|_| PrivacyError::Ended)?
    }

    /// Starts the deletions left by earlier runs and removes unfinished files. Starts those of other
    /// processes too, once this one serves their owners. Returns at once.
    pub fn resume(&self) {
        self.spawn(self.clone().take_up());
    }

    /// Stops retries; the next run resumes them.
    pub async fn close(&self) {
        let mut tasks =
            std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }

    /// Runs `task` until it ends or the service closes.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Finds deletions of earlier runs and of other processes, and starts each.
    async fn take_up(self) {
        // Before anything writes such a file.
        self.eraser.clear_parts().await;
        let mut changes = self.sessions.transcripts().served().changes();
        loop {
            // Records may be in the future: the clock may have been set back.
            for deletion in self.left().await {
                let Some(shared) = self.queues.take_up(&deletion) else { continue };
                self.sessions.transcripts().leave_out(&deletion);
                let mut queue = shared.lock().await;
                let (owner, deletion) = (deletion.from.owner, queue.take_in(deletion));
                if queue.wait_with(deletion) {
                    self.spawn(self.clone().insist(owner, Arc::clone(&shared), Duration::ZERO));
                }
            }
            if matches!(timeout(LOOK, changes.changed()).await, Ok(Err(_))) {
                return;
            }
        }
    }

    /// Deletions to take up, once the store answers.
    async fn left(&self) -> Vec<Deletion> {
        let mut wait = RETRY_FIRST;
        loop {
            match self.pending.all(self.sessions.transcripts().served()).await {
                Ok(all) => return all,
                Err(error) => tracing::warn!(%error, "cannot read which deletions are not done"),
            }
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(RETRY_MAX);
        }
    }

    /// Records `deletion` and tries it once; schedules retries if that fails.
    async fn begin(self, deletion: Deletion) -> Result<u64, PrivacyError> {
        let shared = self.queues.begin(&deletion);
        self.sessions.transcripts().leave_out(&deletion);
        if let Err(error) = self.pending.record(&deletion).await {
            tracing::error!(%error, "cannot record a deletion: it is lost if the program ends now");
        }
        let mut queue = shared.lock().await;
        let mut deletion = queue.take_in(deletion);
        let tried = self.attempt(&mut deletion).await;
        if tried.is_ok() {
            if queue.all.is_empty() {
                // This call's result answers its asker.
                queue.askers.remove(&deletion.asker);
                self.report(deletion.from.owner, &mut queue);
            }
        } else {
            let owner = deletion.from.owner;
            if queue.wait_with(deletion) {
                self.spawn(self.clone().insist(owner, Arc::clone(&shared), RETRY_FIRST));
            }
        }
        tried
    }

    /// Tries a person's deletions until all are done, first after `wait`.
    async fn insist(self, owner: Owner, queue: SharedQueue, mut wait: Duration) {
        loop {
            sleep(wait).await;
            let mut queue = queue.lock().await;
            for mut deletion in std::mem::take(&mut queue.all) {
                if self.attempt(&mut deletion).await.is_err() {
                    queue.all.push(deletion);
                }
            }
            if queue.all.is_empty() {
                queue.is_tried = false;
                self.report(owner, &mut queue);
                return;
            }
            wait = wait.saturating_mul(2).clamp(RETRY_FIRST, RETRY_MAX);
        }
    }

    fn report(&self, owner: Owner, queue: &mut Queue) {
        for asker in std::mem::take(&mut queue.askers) {
            tracing::info!("a deletion that had to wait is done");
            // No listener may exist.
            _ = self.finished.send(Deleted { owner, asker: PersonId(asker) });
        }
    }

    /// Tries `deletion` once. Removes its record when done, otherwise records the rest.
    async fn attempt(&self, deletion: &mut Deletion) -> Result<u64, PrivacyError> {
        let before = deletion.clone();
        let done = match caught(self.carry_out(deletion)).await {
            Ok(done) => done,
            Err(fault) => Err(fault.into()),
        };
        let recorded: Result<(), RecordError> = match &done {
            Ok(_) => self.pending.remove(deletion).await,
            Err(why) => {
                tracing::warn!(%why, "the words of a person who asked for it are not deleted yet");
                match *deletion == before {
                    true => Ok(()),
                    false => self.pending.record(deletion).await,
                }
            }
        };
        if let Err(error) = recorded {
            tracing::error!(%error, "the record of a deletion is not up to date");
        }
        done
    }

    /// Deletes; repeating it is harmless.
    async fn carry_out(&self, deletion: &mut Deletion) -> Result<u64, PrivacyError> {
        let tried = deletion.files.clone();
        let by_id = self.eraser.by_id(deletion).await;
        let names = self.clone().names(deletion.clone()).await.inspect_err(|_| {
            // The erasure by identity no longer counts files that failed by name.
            deletion.named &= tried.is_empty();
        })?;
        let names = names.own;
        let by_name = self.eraser.by_name(deletion, &names, &tried).await;
        let erased = by_id.and(by_name);
        if erased.is_err() {
            // The lines with the names are deleted next.
            deletion.names = names;
        }
        self.lines_are_written().await?;
        let store = self.sessions.transcripts().store();
        let Deletion { player, from, before, .. } = &*deletion;
        let lines = forget(&*store, player, from, *before).await?;
        deletion.lines += lines;
        store.purge_removed().await?;
        erased.map(|()| deletion.lines)
    }

    /// Waits until the store has this server's lines so far.
    async fn lines_are_written(&self) -> Result<(), NotWritten> {
        let transcripts = self.sessions.transcripts();
        for _ in 0..3 {
            if transcripts.caught_up().await.is_ok() {
                return Ok(());
            }
        }
        transcripts.caught_up().await
    }
}
