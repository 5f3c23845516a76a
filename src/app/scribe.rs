//! Writes down what was said, beside everything else.
//!
//! Entry type: [`Scribe`]. **Never**: keeps a table waiting, or gives up a line while there is room
//! for it.

mod line;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Tables, memory::now};
use crate::{
    memory::{CampaignKey, Forget, MemoryStore, Session, Utterance},
    session::{Backlog, TableEvent, TurnLine},
};

/// Notes waiting for the store: hours of talk, some megabytes; more are lost, and counted.
const NOTES_CAPACITY: usize = 8_192;
/// First and longest wait before the same is tried again.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// What is left at the end may take so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Milliseconds of a day.
const DAY: i64 = 24 * 3_600 * 1_000;

/// A session that is written down.
#[derive(Clone, Debug)]
pub struct Transcribed {
    /// The campaign it belongs to.
    pub campaign: CampaignKey,
    /// Its name.
    pub session: String,
    /// Its guild; without one players are known by their names.
    pub guild: Option<u64>,
}

enum Note {
    Session(CampaignKey, Session),
    Lines(CampaignKey, Vec<Utterance>),
    /// Everything before it has been dealt with.
    Mark(oneshot::Sender<()>),
}

/// What is being written.
enum Entry<'a> {
    Session(&'a CampaignKey, &'a Session),
    Lines(&'a CampaignKey, &'a [Utterance]),
}

/// Writes down what was said. Cloning shares it.
#[derive(Clone)]
pub struct Scribe {
    store: Arc<dyn MemoryStore>,
    written: Arc<Notify>,
    notes: mpsc::Sender<Note>,
    backlog: Backlog,
    stop: CancellationToken,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Scribe {
    /// Writes into `store` until closed; game masters of `tables` are told when it cannot. Sessions
    /// older than `retention` days are forgotten whenever one begins.
    pub fn open(store: Arc<dyn MemoryStore>, tables: Tables, retention: Option<u64>) -> Self {
        let (notes, queue) = mpsc::channel(NOTES_CAPACITY);
        let (backlog, stop) = (Backlog::default(), CancellationToken::new());
        let written = Arc::new(Notify::new());
        let pen = Pen {
            store: Arc::clone(&store),
            news: Arc::clone(&written),
            tables,
            retention: retention.and_then(|days| i64::try_from(days).ok()),
            backlog: backlog.clone(),
            stop: stop.clone(),
            troubled: false,
        };
        let task = Arc::new(Mutex::new(Some(tokio::spawn(pen.write_all(queue)))));
        Self { store, written, notes, backlog, stop, task }
    }

    /// Where it writes.
    pub fn store(&self) -> Arc<dyn MemoryStore> {
        Arc::clone(&self.store)
    }

    /// Told whenever lines were written.
    pub fn written(&self) -> Arc<Notify> {
        Arc::clone(&self.written)
    }

    /// Counts what is not written yet.
    pub fn backlog(&self) -> Backlog {
        self.backlog.clone()
    }

    /// A session begins, or is gone on with.
    pub fn begins(&self, of: &Transcribed) {
        let session = Session {
            id: of.session.clone(),
            guild: of.guild,
            started: Some(now()),
            ..Session::default()
        };
        self.note(Note::Session(of.campaign.clone(), session), 0);
    }

    /// A session has ended.
    pub fn ends(&self, of: &Transcribed) {
        let ended = Some(now());
        let session = Session { id: of.session.clone(), ended, ..Session::default() };
        self.note(Note::Session(of.campaign.clone(), session), 0);
    }

    /// Something was said; returns at once.
    pub fn line(&self, of: &Transcribed, line: &TurnLine) {
        let lines = line::utterances(of, line, now());
        let count = u64::try_from(lines.len()).unwrap_or_default();
        if count > 0 {
            self.note(Note::Lines(of.campaign.clone(), lines), count);
        }
    }

    fn note(&self, note: Note, lines: u64) {
        self.backlog.wait(lines);
        if self.notes.try_send(note).is_err() {
            self.backlog.written(lines);
            self.backlog.lose(lines);
            if self.backlog.count().lost == lines {
                tracing::error!(lines, "transcripts are incomplete: too many lines wait");
            }
        }
    }

    /// Waits until everything said so far is on the disk or given up, but not for ever. Cancel safe.
    pub async fn settled(&self) {
        let (done, marked) = oneshot::channel();
        let mark = async {
            if self.notes.send(Note::Mark(done)).await.is_ok() {
                // Without an answer the scribe has ended, and everything with it.
                _ = marked.await;
            }
        };
        // What takes longer has been told.
        _ = timeout(RETRY.0, mark).await;
    }

    /// Writes what is left and ends. What could not be written is said in the answer.
    pub async fn close(&self) -> Option<String> {
        self.stop.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut task) = task
            && timeout(PATIENCE, &mut task).await.is_err()
        {
            task.abort();
        }
        let left = self.backlog.count();
        let missing = left.waiting + left.lost;
        (missing > 0)
            .then(|| format!("the transcript lacks {missing} lines: they could not be written"))
    }
}

/// The task's own side.
struct Pen {
    store: Arc<dyn MemoryStore>,
    news: Arc<Notify>,
    tables: Tables,
    retention: Option<i64>,
    backlog: Backlog,
    stop: CancellationToken,
    /// Somebody has been told that nothing can be written.
    troubled: bool,
}

impl Pen {
    async fn write_all(mut self, mut queue: mpsc::Receiver<Note>) {
        loop {
            let note = tokio::select! {
                biased;
                note = queue.recv() => note,
                () = self.stop.cancelled() => None,
            };
            let Some(note) = note else { break };
            self.write(note).await;
        }
        queue.close();
        while let Some(note) = queue.recv().await {
            self.write(note).await;
        }
    }

    async fn write(&mut self, note: Note) {
        match note {
            Note::Session(campaign, session) => {
                let begins = session.ended.is_none();
                self.insist(&Entry::Session(&campaign, &session)).await;
                if begins {
                    self.retain(&campaign).await;
                }
            }
            Note::Lines(campaign, lines) => {
                let count = u64::try_from(lines.len()).unwrap_or_default();
                let written = self.insist(&Entry::Lines(&campaign, &lines)).await;
                self.backlog.written(count);
                match written {
                    true => self.news.notify_one(),
                    false => self.backlog.lose(count),
                }
            }
            // Whoever waited may have gone.
            Note::Mark(done) => _ = done.send(()),
        }
    }

    /// Tries until it is done, refused, or everything ends; whether it is done.
    async fn insist(&mut self, entry: &Entry<'_>) -> bool {
        let mut wait = RETRY.0;
        loop {
            let done = match entry {
                Entry::Session(campaign, session) => {
                    self.store.put_session(campaign, (*session).clone()).await
                }
                Entry::Lines(campaign, lines) => {
                    self.store.append(campaign, lines.to_vec()).await.map(drop)
                }
            };
            let Err(error) = done else {
                if std::mem::take(&mut self.troubled) {
                    self.tell("what is said is written down again");
                }
                return true;
            };
            if !std::mem::replace(&mut self.troubled, true) {
                tracing::error!(%error, "what is said is not written down");
                self.tell(&format!("what is said is not written down, for now: {error}"));
            }
            if !error.is_passing() || self.stop.is_cancelled() {
                return false;
            }
            tokio::select! {
                () = sleep(wait) => {}
                () = self.stop.cancelled() => {}
            }
            wait = wait.saturating_mul(2).min(RETRY.1);
        }
    }

    fn tell(&self, text: &str) {
        for table in self.tables.running() {
            if let Some(events) = table.events.upgrade() {
                // A full queue has told other things; the count stays.
                _ = events.try_send(TableEvent::Notice(text.to_owned()));
            }
        }
    }

    /// Forgets what is too old.
    async fn retain(&self, campaign: &CampaignKey) {
        let Some(days) = self.retention else { return };
        let before = now().saturating_sub(days.saturating_mul(DAY));
        match self.store.forget(campaign, Forget::Before(before)).await {
            Ok(gone) if gone.sessions > 0 => {
                tracing::info!(
                    sessions = gone.sessions,
                    lines = gone.lines,
                    "old sessions deleted"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "old sessions are not deleted"),
        }
    }
}
