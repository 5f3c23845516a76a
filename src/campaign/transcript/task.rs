//! The task that writes transcripts. Entry type: [`WriterTask`].
//!
//! While the store is unavailable everything goes to the spill, in order, which is then written
//! first: what was said while this process served a server is written even if another one does by
//! now. **Never**: waits for the store with a line that is on no disk, unless the disk is full.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    deletions::{DeletedLines, DeletionFiles},
    spill::{Entry, Spill},
};
use crate::{
    campaign::{Served, Tables, now},
    figures::Figures,
    memory::{Error, Forget, MemoryStore, Scope, Utterance},
    panics::{Panicked, caught},
    session::Backlog,
};

/// First delay before a retry.
const RETRY_FIRST: Duration = Duration::from_millis(500);
/// Longest delay before a retry.
const RETRY_MAX: Duration = Duration::from_secs(30);
/// Time limit per entry for the store at shutdown.
const HURRY: Duration = Duration::from_secs(3);
const DAY: i64 = 24 * 3_600 * 1_000;

/// Storage options of transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptOptions {
    /// Base name of the spill files.
    pub spill: PathBuf,
    /// Days after which a session is deleted; `None`: never.
    pub retention_days: Option<u64>,
}

pub enum Note {
    Write(Entry),
    /// Lines were deleted; removes them from the spill too.
    Erase,
    /// Answers once everything before it is handled.
    Mark(oneshot::Sender<()>),
}

pub struct WriterParts {
    pub store: Arc<dyn MemoryStore>,
    /// Running tables, whose game masters are notified of trouble.
    pub tables: Tables,
    /// Notified whenever lines were written.
    pub written: Arc<Notify>,
    pub options: TranscriptOptions,
    pub deleted: DeletedLines,
    pub served: Served,
    /// Counts unwritten lines.
    pub backlog: Backlog,
    /// True if a line waits in memory because no disk takes it.
    pub stuck: watch::Sender<bool>,
    /// Counts writes.
    pub figures: Figures,
    /// Cancelled at shutdown.
    pub stop: CancellationToken,
    /// Number of writes that panic.
    #[cfg(test)]
    pub faults: Arc<std::sync::atomic::AtomicUsize>,
}

pub struct WriterTask {
    parts: WriterParts,
    /// `None`: unusable.
    spill: Option<Spill>,
    /// The store's recorded deletions are loaded.
    knows_deletions: bool,
    /// Game masters were notified that nothing can be written.
    troubled: bool,
    wait: Duration,
    again: Instant,
}

impl WriterTask {
    /// Reads nothing yet.
    pub fn new(parts: WriterParts) -> Self {
        Self {
            parts,
            spill: None,
            knows_deletions: false,
            troubled: false,
            wait: RETRY_FIRST,
            again: Instant::now(),
        }
    }

    /// Writes until stopped, then the rest. Returns the number of lines left in the spill.
    pub async fn write_all(mut self, mut queue: mpsc::Receiver<Note>) -> u64 {
        self.take_up().await;
        loop {
            let (again, waiting) = (self.again, self.is_spilled());
            tokio::select! {
                biased;
                note = queue.recv() => match note {
                    Some(note) => self.take(note).await,
                    None => break,
                },
                () = sleep_until(again), if waiting => {
                    if let Err(fault) = caught(self.retry()).await {
                        self.failed(&fault).await;
                    }
                }
                () = self.parts.stop.cancelled() => break,
            }
        }
        queue.close();
        while let Some(note) = queue.recv().await {
            self.take(note).await;
        }
        if !self.is_spilled() || caught(self.drain()).await.unwrap_or(false) {
            return 0;
        }
        self.parts.backlog.count().waiting
    }

    /// Opens the spill with entries of earlier runs.
    async fn take_up(&mut self) {
        let base = self.parts.options.spill.clone();
        let (files, deleted) = (DeletionFiles::new(&base), self.parts.deleted.clone());
        let opened = spawn_blocking(move || {
            match files.all() {
                Ok(all) => all.iter().for_each(|deletion| deleted.add(deletion)),
                Err(error) => tracing::error!(%error, "cannot read deletions of earlier runs"),
            }
            Spill::open(base)
        });
        match opened.await.map_err(io::Error::other).and_then(|opened| opened) {
            Ok((spill, lines)) => {
                self.parts.backlog.wait(lines);
                self.spill = Some(spill);
            }
            Err(error) => tracing::error!(%error, "cannot read the spill files of earlier runs"),
        }
    }

    async fn take(&mut self, note: Note) {
        match note {
            Note::Write(mut entry) => {
                self.parts.backlog.written(self.parts.deleted.take_out(&mut entry));
                let kept = entry.clone();
                if let Err(fault) = caught(self.write(entry)).await {
                    self.failed(&fault).await;
                    self.keep(kept).await;
                }
                self.parts.stuck.send_if_modified(std::mem::take);
            }
            Note::Erase => self.erase().await,
            // The receiver may have been dropped.
            Note::Mark(done) => _ = done.send(()),
        }
    }

    /// Removes deleted lines from the spill.
    async fn erase(&mut self) {
        if !self.is_spilled() {
            return;
        }
        let deleted = self.parts.deleted.clone();
        let erased = self.spilling(move |spill| spill.erase(|entry| deleted.take_out(entry)));
        match erased.await {
            Ok(lines) => self.parts.backlog.written(lines),
            // They are left out when the spill is written to the store.
            Err(error) => tracing::error!(%error, "deleted lines are still in the spill file"),
        }
    }

    /// After a panic: waits before the next attempt, longer each time.
    async fn failed(&mut self, fault: &Panicked) {
        tracing::error!(%fault, "cannot write down what is said");
        if !std::mem::replace(&mut self.troubled, true) {
            self.tell(&format!("lines wait in a file for now: {fault}"));
        }
        if self.spill.is_none() {
            // The panic dropped the spill; its content is counted already.
            let base = self.parts.options.spill.clone();
            let opened = spawn_blocking(move || Spill::open(base)).await;
            self.spill = opened.ok().and_then(Result::ok).map(|(spill, _)| spill);
        }
        self.wait = self.wait.saturating_mul(2).min(RETRY_MAX);
        self.again = Instant::now() + self.wait;
    }

    /// Spills an entry. The store recognises entries that it has already.
    async fn keep(&mut self, entry: Entry) {
        let kept = entry.clone();
        if let Err(error) = self.spilling(move |spill| spill.push(&kept)).await {
            tracing::error!(%error, "lost a line");
            self.lose(&entry);
        }
    }

    async fn write(&mut self, entry: Entry) {
        if !self.is_spilled() && self.settle(&entry, false).await {
            return;
        }
        let kept = entry.clone();
        if let Err(error) = self.spilling(move |spill| spill.push(&kept)).await {
            tracing::warn!(%error, "a line waits in memory: the spill file is not writable");
            self.insist(&entry).await;
        }
    }

    /// Tries until written, refused or stopped.
    async fn insist(&mut self, entry: &Entry) {
        self.parts.stuck.send_replace(true);
        loop {
            tokio::select! {
                () = sleep(self.wait) => {}
                () = self.parts.stop.cancelled() => {}
            }
            if self.drain().await && self.settle(entry, true).await {
                return;
            }
            if self.parts.stop.is_cancelled() {
                self.lose(entry);
                return;
            }
            self.wait = self.wait.saturating_mul(2).min(RETRY_MAX);
        }
    }

    /// Writes waiting entries, or schedules a retry.
    async fn retry(&mut self) {
        if !self.drain().await {
            self.wait = self.wait.saturating_mul(2).min(RETRY_MAX);
        }
        self.again = Instant::now() + self.wait;
    }

    /// Writes the spill to the store; true if nothing is left.
    async fn drain(&mut self) -> bool {
        while self.is_spilled() {
            if !self.know_deletions().await {
                return false;
            }
            let next = match self.spilling(Spill::first).await {
                Ok(None) => break,
                Ok(Some((entry, next))) => {
                    if !self.settle(&entry, true).await {
                        return false;
                    }
                    next
                }
                Err(error) => return unreadable(&error),
            };
            match self.spilling(move |spill| spill.pass(next)).await {
                Ok(more) => self.parts.backlog.wait(more),
                Err(error) => return unreadable(&error),
            }
        }
        true
    }

    /// Loads the store's recorded deletions; true if loaded.
    async fn know_deletions(&mut self) -> bool {
        if !self.knows_deletions {
            match self.hurried(self.parts.store.deletions()).await {
                Ok(all) => {
                    all.iter().for_each(|deletion| self.parts.deleted.add(deletion));
                    self.knows_deletions = true;
                }
                Err(error) => self.trouble(&error),
            }
        }
        self.knows_deletions
    }

    /// Writes an entry to the store, `is_late`: not the first attempt. True if written or refused.
    async fn settle(&mut self, entry: &Entry, is_late: bool) -> bool {
        match self.put(entry, is_late).await {
            Ok(is_written) => {
                self.parts.backlog.written(entry.lines());
                // Entries without lines never reach the store and don't show that it is back.
                if is_written {
                    self.recovered();
                }
                if is_written && entry.lines() > 0 {
                    self.parts.written.notify_one();
                }
                if let Entry::Session(scope, session) = entry
                    && session.ended.is_none()
                {
                    self.retain(scope).await;
                }
                true
            }
            Err(Error::Fenced(guild)) => {
                let lines = entry.lines();
                tracing::warn!(guild, lines, "a table here ends: another node serves its server");
                self.parts.backlog.written(lines);
                // Not counted, as its table ends; but its speaker may be waiting for an answer.
                self.parts.backlog.lose(0);
                true
            }
            Err(error) => {
                self.trouble(&error);
                if !error.is_passing() {
                    self.lose(entry);
                }
                !error.is_passing()
            }
        }
    }

    /// The store's result, within [`HURRY`] once stopping.
    async fn hurried<T>(&self, asked: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let hurried = async {
            self.parts.stop.cancelled().await;
            sleep(HURRY).await;
        };
        tokio::select! {
            biased;
            done = asked => done,
            () = hurried => Err(Error::Away("it does not answer in time".to_owned())),
        }
    }

    /// Writes `entry` without deleted lines; false if none is left.
    async fn put(&self, entry: &Entry, is_late: bool) -> Result<bool, Error> {
        let mut entry = entry.clone();
        self.parts.deleted.take_out(&mut entry);
        #[cfg(test)]
        {
            use std::sync::atomic::Ordering::SeqCst;
            let left = self.parts.faults.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            assert!(left.is_err(), "a fault of the store");
        }
        if matches!(&entry, Entry::Lines(_, lines) if lines.is_empty()) {
            return Ok(false);
        }
        let store = &self.parts.store;
        let written = async {
            match entry {
                Entry::Session(scope, session) => store.put_session(&scope, session).await,
                Entry::Lines(scope, lines) => self.append(&scope, lines, is_late).await,
                Entry::Withdraw(scope, lines) => store.withdraw(&scope, lines).await.map(drop),
            }
        };
        let began = Instant::now();
        let written = self.hurried(written).await;
        self.parts.figures.store("transcript", began.elapsed());
        written.map(|()| true)
    }

    /// Fails with [`Error::Fenced`] if the lines were said while another process served the server.
    async fn append(
        &self,
        scope: &Scope,
        lines: Vec<Utterance>,
        is_late: bool,
    ) -> Result<(), Error> {
        let store = &self.parts.store;
        if !is_late {
            match store.append(scope, lines.clone()).await {
                Err(Error::Fenced(guild)) if !self.parts.served.refuse(guild) => {}
                done => return done.map(drop),
            }
        }
        store.append_late(scope, lines).await.map(drop)
    }

    fn lose(&self, entry: &Entry) {
        if matches!(entry, Entry::Withdraw(..)) {
            self.tell(
                "the lines that an X-card took back may still be in the transcript (delete the \
                 session: glyphoxa session delete)",
            );
        }
        self.parts.backlog.written(entry.lines());
        self.parts.backlog.lose(entry.lines());
    }

    fn trouble(&mut self, error: &Error) {
        if !std::mem::replace(&mut self.troubled, true) {
            self.again = Instant::now() + self.wait;
            // Other processes may record some meanwhile.
            self.knows_deletions = false;
            tracing::error!(%error, "cannot write down what is said");
            self.tell(&format!("the transcript is not being written for now: {error}"));
        }
    }

    /// After a write: reports recovery once nothing waits any more.
    fn recovered(&mut self) {
        self.wait = RETRY_FIRST;
        let count = self.parts.backlog.count();
        if self.troubled && count.waiting == 0 {
            self.troubled = false;
            let lost = match count.lost {
                0 => String::new(),
                lost => format!(" ({lost} lines are lost)"),
            };
            tracing::info!(lost = count.lost, "the transcript is being written again");
            self.tell(&format!("the transcript is being written again{lost}"));
        }
    }

    fn is_spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(|spill| !spill.is_empty())
    }

    /// Uses the spill on a blocking thread.
    async fn spilling<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Spill) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let Some(mut spill) = self.spill.take() else {
            return Err(io::Error::other("the spill file cannot be used"));
        };
        let worked = spawn_blocking(move || {
            let done = work(&mut spill);
            (spill, done)
        });
        let (spill, done) = worked.await.map_err(io::Error::other)?;
        self.spill = Some(spill);
        done
    }

    fn tell(&self, text: &str) {
        self.parts.tables.tell(text);
    }

    /// Deletes sessions that are too old.
    async fn retain(&self, scope: &Scope) {
        let days = self.parts.options.retention_days.and_then(|days| i64::try_from(days).ok());
        let Some(days) = days else { return };
        let before = now().saturating_sub(days.saturating_mul(DAY));
        match self.parts.store.forget(scope, Forget::Before(before)).await {
            Ok(gone) if gone.sessions > 0 => {
                tracing::info!(
                    sessions = gone.sessions,
                    lines = gone.lines,
                    "old sessions deleted"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "cannot delete old sessions"),
        }
    }
}

/// Logs that the spill cannot be read; it is retried.
fn unreadable(error: &io::Error) -> bool {
    tracing::error!(%error, "cannot read the lines that wait to be written");
    false
}
