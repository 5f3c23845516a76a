//! Records of one person, for the faces.
//!
//! Entry type: [`Privacy`]. A deletion is recorded ([`PendingDeletions`]), then tried; what fails of it is
//! tried again until it is done, by the next run too ([`Privacy::resume`]), and then its asker is
//! notified; those of one person wait together ([`Queues`]). Tables and files, which need no store, forget
//! first and once: what a person says after opting in again stays. **Never**: leaves a person's words where
//! NPCs go on from them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{broadcast, oneshot},
    task::JoinSet,
    time::sleep,
};

use super::{
    erasure::Eraser,
    error::PrivacyError,
    lines::{forget, names, own_lines},
    pending::{PendingDeletions, RecordError},
    queue::{Queue, Queues, SharedQueue},
    request::{Deleted, NamesOf},
};
use crate::{
    campaign::{NotWritten, Sessions, SharedSettings},
    domain::{Owner, PersonId},
    memory::Deletion,
    panics::caught,
};

/// First wait before a deletion is tried again.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// Longest wait before a deletion is tried again.
const RETRY_MAX: Duration = Duration::from_secs(60);
/// Deletions that are done and not told yet, at most; of more the first go untold.
const UNTOLD: usize = 256;

/// Shows and forgets what is kept of people. Cloning shares it.
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
    /// The tables of `sessions` forget too.
    pub fn new(settings: SharedSettings, sessions: Sessions) -> Self {
        let transcripts = sessions.transcripts();
        let (store, files) = (transcripts.store(), transcripts.deletion_files().clone());
        let pending = Arc::new(PendingDeletions { store, files });
        let finished = broadcast::channel(UNTOLD).0;
        let eraser = Eraser { settings, sessions: sessions.clone() };
        let queues = Queues::default();
        Self { sessions, eraser, queues, pending, finished, tasks: Arc::default() }
    }

    /// Everything the person of this identity has said where `owner` plays, as text for them.
    ///
    /// # Errors
    /// The memory cannot be read, or lacks the last lines.
    pub async fn own_lines(self, owner: Owner, player: String) -> Result<String, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        self.sessions.caught_up().await?;
        Ok(own_lines(&*transcripts.store(), owner, &player).await?)
    }

    /// Under which names more of them would be forgotten than their lines.
    ///
    /// # Errors
    /// The memory cannot be read, or lacks the last lines.
    pub async fn names(self, what: Deletion) -> Result<NamesOf, PrivacyError> {
        let transcripts = self.sessions.transcripts();
        self.sessions.caught_up().await?;
        Ok(names(&*transcripts.store(), &what.player, &what.names, &what.from).await?)
    }

    /// Deletions that are done from now on, those excepted that [`Privacy::forget`] has said.
    pub fn finished(&self) -> broadcast::Receiver<Deleted> {
        self.finished.subscribe()
    }

    /// Forgets a person's lines and what was derived from them, in tables that run too; how many
    /// lines there were. What an earlier version has kept by name goes where the name is theirs alone.
    /// Goes on when it is dropped.
    ///
    /// # Errors
    /// Something cannot be read or written yet; it is tried again until it is done.
    pub async fn forget(self, what: Deletion) -> Result<u64, PrivacyError> {
        let (done, answered) = oneshot::channel();
        let begun = self.clone().begin(what);
        // The receiver may have been dropped.
        self.spawn(async move { _ = done.send(begun.await) });
        answered.await.map_err(|_| PrivacyError::Ended)?
    }

    /// Does the deletions that earlier runs have left, and removes parts of files that they have left; returns
    /// at once.
    pub fn resume(&self) {
        self.spawn(self.clone().take_up());
    }

    /// Ends deletions that are tried again; the next run does them.
    pub async fn close(&self) {
        let mut tasks =
            std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }

    /// Runs `task` until it ends, or until the end.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Finds what earlier runs have left, and has each deletion tried.
    async fn take_up(self) {
        // Before anything writes such a part.
        self.eraser.clear_parts().await;
        let mut wait = RETRY_FIRST;
        let all = loop {
            match self.pending.all().await {
                Ok(all) => break all,
                Err(error) => tracing::warn!(%error, "cannot read which deletions are not done"),
            }
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(RETRY_MAX);
        };
        // Records may be later than now: the clock may have been set back since.
        for deletion in all {
            let Some(shared) = self.queues.take_up(&deletion) else { continue };
            self.sessions.transcripts().leave_out(&deletion);
            let mut queue = shared.lock().await;
            let (owner, deletion) = (deletion.from.owner, queue.take_in(deletion));
            if queue.wait_with(deletion) {
                self.spawn(self.clone().insist(owner, Arc::clone(&shared), Duration::ZERO));
            }
        }
    }

    /// Records `deletion` and tries it once; has it go on if that fails.
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
                // The result of this call answers its asker.
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

    /// Tries the deletions of a person's queue until all are done, the first time after `wait`.
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

    /// Notifies the askers of `queue`, which is done.
    fn report(&self, owner: Owner, queue: &mut Queue) {
        for asker in std::mem::take(&mut queue.askers) {
            tracing::info!("a deletion that had to wait is done");
            // Without a listener, nobody can be notified.
            _ = self.finished.send(Deleted { owner, asker: PersonId(asker) });
        }
    }

    /// Tries `deletion` once. Its record goes when it is done, and otherwise says what is left.
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

    /// Deletes; doing it again does no harm.
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

    /// Waits until the store has the lines so far; other servers' lines may come meanwhile.
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
