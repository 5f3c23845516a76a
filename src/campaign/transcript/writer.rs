//! Records what was said. Entry type: [`TranscriptWriter`].
//! **Never**: keeps a table waiting, or drops a line while the spill has room.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    Transcript,
    deletions::{DeletedLines, DeletionFiles},
    spill::Entry,
    task::{Note, TranscriptOptions, WriterParts, WriterTask},
};
use crate::{
    campaign::{Served, Tables, now},
    domain::{Owner, PersonId, SessionId},
    figures::Figures,
    memory::{ASKED, Deletion, MemoryStore, Session, Uid, Utterance},
    session::{AskedId, Backlog, TurnLine, WeakTableEvents},
};

/// Notes waiting for the task: hours of talk, some megabytes. More are dropped and counted.
pub(super) const NOTES_CAPACITY: usize = 8_192;
/// Longest wait for lines to be written while a user waits for an answer.
const SETTLED: Duration = Duration::from_millis(500);
/// Longest wait for a line to be written before its speaker is answered: Discord waits for 3 s.
const ANSWERED: Duration = Duration::from_millis(1_500);
/// Longest wait for the rest at shutdown.
const PATIENCE: Duration = Duration::from_secs(10);
/// Turns whose lines can still be withdrawn.
const RECENT: usize = 256;

/// A turn that was recorded just now.
struct Recent {
    session: SessionId,
    turn: u64,
    lines: Vec<Uid>,
}

/// Words that are written before their turn ends, until its line settles them.
struct OpenWords {
    session: SessionId,
    uid: Uid,
    at: i64,
    by: Option<String>,
}

impl OpenWords {
    /// Gives the lines of the turn the identity and the time of the words as they are written.
    fn settle(self, lines: &mut [Utterance]) {
        for line in lines {
            if let Some(asked) = &mut line.asked {
                asked.at = self.at;
            } else {
                (line.uid, line.at) = (self.uid.clone(), self.at);
            }
        }
    }
}

/// Some lines are not in the store yet.
#[derive(Debug, thiserror::Error)]
#[error("some lines are not written down yet (try again in a minute)")]
pub struct NotWritten;

/// Records what was said. Cloning shares it.
#[derive(Clone)]
pub struct TranscriptWriter {
    store: Arc<dyn MemoryStore>,
    written: Arc<Notify>,
    notes: mpsc::Sender<Note>,
    backlog: Backlog,
    deleted: DeletedLines,
    deletion_files: DeletionFiles,
    served: Served,
    recent: Arc<Mutex<VecDeque<Recent>>>,
    open_words: Arc<Mutex<HashMap<AskedId, OpenWords>>>,
    stuck: watch::Receiver<bool>,
    stop: CancellationToken,
    task: Arc<Mutex<Option<JoinHandle<u64>>>>,
}

impl TranscriptWriter {
    /// Writes to `store` until closed, first the leftovers of earlier runs. Notifies game masters
    /// of `tables` of failures. Deletes sessions older than `options` allow whenever one begins.
    pub fn open(store: Arc<dyn MemoryStore>, tables: Tables, options: &TranscriptOptions) -> Self {
        Self::measured(store, tables, options, Figures::default())
    }

    /// Like [`Self::open`], with writes counted in `figures`.
    pub fn measured(
        store: Arc<dyn MemoryStore>,
        tables: Tables,
        options: &TranscriptOptions,
        figures: Figures,
    ) -> Self {
        let (notes, queue) = mpsc::channel(NOTES_CAPACITY);
        let (backlog, stop) = (Backlog::default(), CancellationToken::new());
        let (deleted, served) = (DeletedLines::default(), Served::default());
        let written = Arc::new(Notify::new());
        let (sticks, stuck) = watch::channel(false);
        let task = WriterTask::new(WriterParts {
            store: Arc::clone(&store),
            tables,
            written: Arc::clone(&written),
            options: options.clone(),
            deleted: deleted.clone(),
            served: served.clone(),
            backlog: backlog.clone(),
            stuck: sticks,
            figures,
            stop: stop.clone(),
            #[cfg(test)]
            faults: Arc::default(),
        });
        let task = Arc::new(Mutex::new(Some(tokio::spawn(task.write_all(queue)))));
        Self {
            store,
            written,
            notes,
            backlog,
            deleted,
            deletion_files: DeletionFiles::new(&options.spill),
            served,
            recent: Arc::default(),
            open_words: Arc::default(),
            stuck,
            stop,
            task,
        }
    }

    /// Store of the transcripts.
    pub fn store(&self) -> Arc<dyn MemoryStore> {
        Arc::clone(&self.store)
    }

    /// Owners that this process serves. A refused line loses them.
    pub fn served(&self) -> &Served {
        &self.served
    }

    /// Notified whenever lines were written.
    pub fn written(&self) -> Arc<Notify> {
        Arc::clone(&self.written)
    }

    /// Counts unwritten lines.
    pub fn backlog(&self) -> Backlog {
        self.backlog.clone()
    }

    /// Records that a session begins or continues. The store settles words that an earlier process
    /// has left open.
    pub fn begins(&self, of: &Transcript) {
        let session =
            Session { id: of.session.0.clone(), started: Some(now()), ..Session::default() };
        self.note(Entry::Session(of.scope.clone(), session));
    }

    /// Records that a session has ended.
    pub fn ends(&self, of: &Transcript) {
        let ended = Some(now());
        let session = Session { id: of.session.0.clone(), ended, ..Session::default() };
        self.open_words().retain(|_, open| open.session != of.session);
        self.note(Entry::Session(of.scope.clone(), session));
    }

    /// Records open words; returns at once. [`Self::line`] settles them.
    pub fn asked(&self, of: &Transcript, line: &TurnLine) {
        let Some(id) = line.circumstances.asked else { return };
        let Some(words) = super::utterances(of, line, now()).into_iter().next() else { return };
        let words = Utterance { turn: 0, outcome: ASKED.to_owned(), ..words };
        let (uid, by) = (words.uid.clone(), words.speaker_id.clone());
        let open = OpenWords { session: of.session.clone(), uid, at: words.at, by };
        self.open_words().insert(id, open);
        self.note(Entry::Lines(of.scope.clone(), vec![words]));
    }

    /// Withdraws open words of a person: their turns end without a line. Returns at once.
    pub fn forget(&self, of: &Transcript, person: &PersonId) {
        self.withdraw_open(of, |it| it.by.as_ref() == Some(&person.0));
    }

    /// Withdraws all open words, after events of the table were missed: these may have taken them
    /// back. Lines that still come write their words again. Returns at once.
    pub fn missed(&self, of: &Transcript) {
        self.withdraw_open(of, |_| true);
    }

    fn withdraw_open(&self, of: &Transcript, is_one: impl Fn(&OpenWords) -> bool) {
        let is_gone = |it: &OpenWords| it.session == of.session && is_one(it);
        let gone: Vec<OpenWords> =
            self.open_words().extract_if(|_, it| is_gone(it)).map(|it| it.1).collect();
        self.withdraw(of, gone.into_iter().map(|it| it.uid).collect());
    }

    /// Records a line; returns at once. One without words withdraws its open words.
    pub fn line(&self, of: &Transcript, line: &TurnLine) {
        let mut lines = super::utterances(of, line, now());
        let open = line.circumstances.asked.and_then(|id| self.open_words().remove(&id));
        match open {
            Some(open) if lines.is_empty() => self.withdraw(of, vec![open.uid]),
            Some(open) => open.settle(&mut lines),
            None => {}
        }
        if !lines.is_empty() {
            let uids = lines.iter().map(|line| line.uid.clone()).collect();
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            if recent.len() == RECENT {
                recent.pop_front();
            }
            let session = of.session.clone();
            recent.push_back(Recent { session, turn: line.turn, lines: uids });
            drop(recent);
            self.note(Entry::Lines(of.scope.clone(), lines));
        }
    }

    /// Withdraws turns that an X-card takes back, including unwritten ones, and all open words: it
    /// ends their turns, but a slow engine may keep their lines waiting. Returns at once.
    pub fn take_back(&self, of: &Transcript, turns: &[u64]) {
        self.withdraw_open(of, |_| true);
        let mut lines = Vec::new();
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| {
            let taken = it.session == of.session && turns.contains(&it.turn);
            if taken {
                lines.extend(it.lines.iter().cloned());
            }
            !taken
        });
        self.withdraw(of, lines);
    }

    fn withdraw(&self, of: &Transcript, lines: Vec<Uid>) {
        if !lines.is_empty() {
            self.note(Entry::Withdraw(of.scope.clone(), lines));
        }
    }

    fn open_words(&self) -> MutexGuard<'_, HashMap<AskedId, OpenWords>> {
        self.open_words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops lines that `deletion` covers from now on, and from waiting ones; returns at once.
    pub fn leave_out(&self, deletion: &Deletion) {
        self.deleted.add(deletion);
        if self.notes.try_send(Note::Erase).is_err() {
            tracing::warn!("deleted lines may stay in the spill file until the store takes it");
        }
    }

    /// Records of deletions while the store is unavailable.
    pub fn deletion_files(&self) -> &DeletionFiles {
        &self.deletion_files
    }

    fn note(&self, entry: Entry) {
        let lines = entry.lines();
        self.backlog.wait(lines);
        if self.notes.try_send(Note::Write(entry)).is_err() {
            self.backlog.written(lines);
            self.backlog.lose(lines);
            if self.backlog.count().lost == lines {
                tracing::error!(lines, "transcripts are incomplete: too many lines wait");
            }
        }
    }

    /// True once all that a table of `owner` has told is on a disk; false if that takes too long for
    /// a person who waits for an answer, if something was lost meanwhile or just before, or if
    /// another process serves the owner. Cancel safe.
    pub async fn answers_for(&self, owner: Owner, table: &WeakTableEvents) -> bool {
        // A waiting caller must not keep the table's event channel open.
        let Some(told) = table.upgrade().map(|events| events.mark()) else { return false };
        let written = async {
            told.await;
            self.settled(ANSWERED).await
        };
        // The line of the person may have been lost before this wait began.
        timeout(ANSWERED, written).await.unwrap_or(false)
            && !self.backlog.has_lost_within(2 * ANSWERED)
            && self.served.serves(owner)
    }

    /// Waits up to `patience` until lines are on a disk, unless it is full; true if they are. Cancel
    /// safe.
    pub async fn settled(&self, patience: Duration) -> bool {
        let (done, marked) = oneshot::channel();
        // Without an answer the writer has ended.
        let mark =
            async { self.notes.send(Note::Mark(done)).await.is_ok() && marked.await.is_ok() };
        let mut stuck = self.stuck.clone();
        let settled = async {
            tokio::select! {
                biased;
                is_written = mark => is_written,
                _ = stuck.wait_for(|is_stuck| *is_stuck) => false,
            }
        };
        // The backlog counts slower lines.
        timeout(patience, settled).await.unwrap_or(false)
    }

    /// Waits until all lines so far are in the store.
    ///
    /// # Errors
    /// The store does not take it now.
    pub async fn caught_up(&self) -> Result<(), NotWritten> {
        // Words on their way to the store are in no count: a deletion must not overtake them.
        let is_settled = self.settled(SETTLED).await || self.notes.is_closed();
        match self.backlog.count().waiting {
            0 if is_settled => Ok(()),
            _ => Err(NotWritten),
        }
    }

    /// Writes the rest and ends. Returns a message about unwritten lines.
    pub async fn close(&self) -> Option<String> {
        self.stop.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut kept = 0;
        if let Some(mut task) = task {
            match timeout(PATIENCE, &mut task).await {
                Ok(ended) => kept = ended.unwrap_or_default(),
                Err(_) => task.abort(),
            }
        }
        let left = self.backlog.count();
        let missing = (left.waiting + left.lost).saturating_sub(kept);
        let missing = (missing > 0)
            .then(|| format!("the transcript lacks {missing} lines: they could not be written"));
        let kept = (kept > 0).then(|| {
            format!("{kept} lines wait in a file of data_dir: the next start writes them down")
        });
        let all: Vec<String> = [missing, kept].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
