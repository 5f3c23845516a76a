//! Stored records of runs, and their text for a game master.
//!
//! Entry type: [`Recorder`], whose writer stores one record after the other.

use std::{collections::BTreeMap, sync::Arc};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::{
    campaign::{date, now},
    domain::{PersonId, Scope, visible},
    logic::workflow::record::{CancelReason, Outcome, RunEnd, RunId, RunRecord, Starter},
    memory::{Automation, Error, KeptRun},
};

/// Most records that wait for the store: start and end of more runs than can be under way.
const CAPACITY: usize = 64;

/// Requests to the writer.
enum Entry {
    Run(KeptRun),
    /// Answered once all earlier records are stored.
    Mark(oneshot::Sender<()>),
}

/// Stores the start and the end of each run of a scope, in order.
pub struct Recorder {
    records: mpsc::Sender<Entry>,
    writer: JoinHandle<()>,
    /// When each run began, in Unix time in ms.
    began: BTreeMap<RunId, i64>,
}

impl Recorder {
    /// Without a store, nothing is stored.
    pub fn new(store: Option<Arc<dyn Automation>>, scope: Scope) -> Self {
        let (records, mut waiting) = mpsc::channel::<Entry>(CAPACITY);
        let writer = tokio::spawn(async move {
            while let Some(entry) = waiting.recv().await {
                match (entry, &store) {
                    (Entry::Run(run), Some(store)) => match store.keep_run(&scope, run).await {
                        Ok(()) => {}
                        Err(error @ Error::Fenced(_)) => {
                            tracing::warn!(%error, "a workflow here ends without a record");
                        }
                        Err(error) => {
                            tracing::error!(%error, "cannot store the record of a workflow");
                        }
                    },
                    (Entry::Run(_), None) => {}
                    // The receiver may have been dropped.
                    (Entry::Mark(done), _) => _ = done.send(()),
                }
            }
        });
        Self { records, writer, began: BTreeMap::new() }
    }

    pub fn begins(&mut self, record: &RunRecord) {
        self.began.insert(record.run.clone(), now());
        self.write(record, now(), None);
    }

    pub fn ends(&mut self, record: &RunRecord) {
        let began = self.began.remove(&record.run).unwrap_or_else(now);
        self.write(&without_withdrawn(record), began, Some(now()));
    }

    /// Answers `done` once all records so far are stored, or at once if too many wait.
    pub fn mark(&self, done: oneshot::Sender<()>) {
        // Dropping it answers as well.
        _ = self.records.try_send(Entry::Mark(done));
    }

    /// Waits until everything is stored.
    pub async fn close(self) {
        drop(self.records);
        if let Err(error) = self.writer.await {
            tracing::error!(%error, "records of workflows may be missing");
        }
    }

    fn write(&self, record: &RunRecord, began: i64, ended: Option<i64>) {
        let text = match serde_json::to_string(record) {
            Ok(text) => text,
            Err(error) => return tracing::error!(%error, "cannot write a record of a workflow"),
        };
        let (id, workflow) = (record.run.0.clone(), record.workflow.clone());
        let run = KeptRun { id, workflow, began, ended, record: text };
        if self.records.try_send(Entry::Run(run)).is_err() {
            tracing::error!("too many records of workflows wait: one is not stored");
        }
    }
}

/// Ends the stored runs of `scope` that have no end: the program that had them was stopped. Returns
/// a line for the game master about each. Changes nothing where another process serves the scope.
/// Another program that plays the same scope now stores the ends of its own runs over this.
pub async fn cut_off(store: &dyn Automation, scope: &Scope) -> Vec<String> {
    let runs = match store.runs(scope, 0).await {
        Ok(runs) => runs,
        Err(error) => {
            tracing::error!(%error, "cannot look for workflows that were cut off");
            return Vec::new();
        }
    };
    let mut lines = Vec::new();
    for run in runs.into_iter().filter(|run| run.ended.is_none()) {
        let line = format!(
            "workflow '{}' of {} was cut off when I stopped, and is not repeated (/workflow run \
             {} runs it again)",
            run.workflow,
            date(run.began),
            run.workflow
        );
        let ended = KeptRun { ended: Some(now()), ..run };
        match store.keep_run(scope, ended).await {
            Ok(()) => {}
            // They may run there.
            Err(Error::Fenced(_)) => return Vec::new(),
            Err(error) => tracing::error!(%error, "cannot store that a workflow was cut off"),
        }
        lines.push(line);
    }
    lines
}

/// The record without the id of a starter who no longer takes part.
fn without_withdrawn(record: &RunRecord) -> RunRecord {
    let mut record = record.clone();
    if let (Starter::Person(person), Some(RunEnd::Cancelled(CancelReason::Withdrawn))) =
        (&mut record.starter, &record.end)
    {
        *person = PersonId(String::new());
    }
    record
}

/// The end of a run, in a few words.
pub fn title(record: &RunRecord) -> String {
    match &record.end {
        None => "was cut off".to_owned(),
        Some(RunEnd::Done) => match missed(record) {
            0 => "is done".to_owned(),
            count => format!("is done, but {count} of its steps had no play session"),
        },
        Some(RunEnd::Failed(why)) => format!("failed: {}", visible(why)),
        Some(RunEnd::Cancelled(reason)) => format!("was stopped ({})", because(*reason)),
        Some(RunEnd::TimedOut) => "was stopped after 30 minutes".to_owned(),
    }
}

/// A line for the game master about a run that has ended.
pub fn shown(record: &RunRecord) -> String {
    format!("workflow '{}' ({}) {}", record.workflow, record.run.0, title(record))
}

fn missed(record: &RunRecord) -> usize {
    record.steps.iter().filter(|step| matches!(step.outcome, Outcome::Missed(_))).count()
}

const fn because(reason: CancelReason) -> &'static str {
    match reason {
        CancelReason::Requested => "by request",
        CancelReason::XCard => "an X-card was used",
        CancelReason::Withdrawn => "its starter no longer takes part",
        CancelReason::Shutdown => "the program ended",
    }
}
