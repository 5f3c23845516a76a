//! Plans and adds the parts of an export that a store lacks.
//!
//! Entry function: [`plan_return`]. An export adds: a session goes on where the store's ends, and what both
//! have stays as the store has it. Everything is checked before the first write, and writing again after
//! a failure completes it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    automation::lacking,
    held::{ScopeContent, held},
};
use crate::{
    campaign::Scoped,
    domain::revealed_name,
    memory::{
        Change, Entity, Error, Forget, Item, KeptRun, KeptSchedule, Relation, RelationKey, Session,
        TranscriptLine, Uid, Utterance,
    },
};

/// Lines written at once.
const LINES: usize = 1_000;
/// Items written at once; a server writes them one by one.
const ITEMS: usize = 200;
/// Stands for the speaker of deleted lines until they are deleted here too.
const DELETED: &str = "glyphoxa:deleted";
/// Longest identity of an utterance, in bytes.
const UID_MAX: usize = 64;
/// Most faults shown.
const FAULTS_MAX: usize = 20;

/// Reason nothing was added, or not everything.
#[derive(Debug, thiserror::Error)]
pub enum ReturnError {
    /// The export contradicts itself, or the store.
    #[error("{}", .0.join("\n"))]
    Faults(Vec<String>),
    #[error(transparent)]
    Store(#[from] Error),
}

/// Numbers of what is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    pub sessions: usize,
    pub lines: usize,
    /// Facts and pieces of conversation.
    pub items: usize,
    pub entities: usize,
    pub relations: usize,
    /// Runs of workflows.
    pub runs: usize,
    pub schedules: usize,
    /// Facts, entities, relations, runs and schedules that the store has in another form, and keeps so.
    pub kept: usize,
}

/// An export of which a store lacks something.
#[derive(Debug, Default)]
pub struct Return {
    pub tally: Tally,
    /// Sessions with new lines or fields, as they are in the end.
    sessions: Vec<Session>,
    lines: Vec<TranscriptLine>,
    /// Lines to make as empty as they are in the export: new ones, and those of an import that failed.
    emptied: Vec<TranscriptLine>,
    items: Vec<Item>,
    changes: Vec<Change>,
    runs: Vec<KeptRun>,
    schedules: Vec<KeptSchedule>,
}

/// Plans the parts of `export` that the store of `at` lacks.
pub async fn plan_return(at: Scoped<'_>, mut export: ScopeContent) -> Result<Return, ReturnError> {
    let here = held(at).await?;
    export.leave_out(at.scope, &at.store.deletions().await?);
    let gone = here.lines.iter().filter(|line| line.withdrawn).map(|line| &line.said.uid);
    let gone: BTreeSet<&Uid> = gone.collect();
    export.empty(|line| !line.withdrawn && gone.contains(&line.said.uid));
    let mut plan = Return::default();
    let mut faults = plan.add_lines(&export, &here);
    plan.add_sessions(&export, &here);
    plan.add_items(&export, &here);
    faults.extend(plan.add_graph(&export, &here));
    faults.extend(plan.add_automation(export, &here));
    if faults.is_empty() {
        return Ok(plan);
    }
    if let Some(more) = faults.len().checked_sub(FAULTS_MAX).filter(|&more| more > 0) {
        faults.truncate(FAULTS_MAX);
        faults.push(format!("and {more} more"));
    }
    Err(ReturnError::Faults(faults))
}

impl Return {
    /// Adds all of it. After a failure, the same export completes it.
    pub async fn carry_out(&self, at: Scoped<'_>) -> Result<(), Error> {
        let (store, scope) = (at.store, at.scope);
        for session in &self.sessions {
            // Emptying a line removes the summary.
            let session = Session { summary: None, ..session.clone() };
            store.put_session(scope, session).await?;
        }
        for lines in self.lines.chunks(LINES) {
            store.append(scope, lines.iter().map(written).collect()).await?;
        }
        self.empty(at).await?;
        for session in &self.sessions {
            store.put_session(scope, session.clone()).await?;
        }
        for items in self.items.chunks(ITEMS) {
            store.put_items(scope, items.to_vec()).await?;
        }
        if !self.changes.is_empty() {
            store.apply(scope, self.changes.clone()).await?;
        }
        for run in &self.runs {
            store.keep_run(scope, run.clone()).await?;
        }
        for schedule in &self.schedules {
            store.add_schedule(scope, schedule.clone()).await?;
        }
        Ok(())
    }

    /// Sessions whose lines change.
    fn touched(&self) -> BTreeSet<String> {
        let lines = self.lines.iter().chain(&self.emptied);
        lines.map(|line| line.said.session.clone()).collect()
    }

    /// Makes lines as empty as they were.
    async fn empty(&self, at: Scoped<'_>) -> Result<(), Error> {
        let (deleted, withdrawn): (Vec<&TranscriptLine>, Vec<&TranscriptLine>) =
            self.emptied.iter().partition(|line| is_deleted(line));
        let uids: Vec<Uid> = withdrawn.iter().map(|line| line.said.uid.clone()).collect();
        if !uids.is_empty() {
            at.store.withdraw(at.scope, uids).await?;
        }
        if !deleted.is_empty() {
            let forget = Forget::Player { id: DELETED.to_owned(), before: i64::MAX };
            at.store.forget(at.scope, forget).await?;
        }
        Ok(())
    }

    /// Finds the lines behind the store's last one of each session.
    fn add_lines(&mut self, export: &ScopeContent, here: &ScopeContent) -> Vec<String> {
        let (mut faults, theirs, own) = (Vec::new(), by_session(export), by_session(here));
        let known: BTreeSet<&str> = export.sessions.iter().map(|it| it.id.as_str()).collect();
        let mut uids: BTreeSet<&Uid> = here.lines.iter().map(|line| &line.said.uid).collect();
        for (id, lines) in theirs {
            let name = revealed_name(id);
            let own = own.get(id).map(Vec::as_slice).unwrap_or_default();
            if !known.contains(id) {
                faults.push(format!("lines of '{name}', which is no session of the export"));
            }
            if !lines.iter().zip(1_u64..).all(|(line, number)| line.seq == number) {
                faults.push(format!("session '{name}': lines are missing or out of order"));
            }
            if own.iter().zip(&lines).any(|(own, line)| own.said.uid != line.said.uid) {
                faults.push(format!(
                    "session '{name}': this campaign has another one of this name (use --campaign)"
                ));
                continue;
            }
            let half = own
                .iter()
                .zip(&lines)
                .filter(|(own, line)| line.withdrawn && !own.withdrawn && own.said.text.is_empty());
            self.emptied.extend(half.map(|(_, line)| (*line).clone()));
            for line in lines.into_iter().skip(own.len()) {
                let uid = &line.said.uid;
                if uid.0.is_empty() || uid.0.len() > UID_MAX || !uids.insert(uid) {
                    let uid = revealed_name(&uid.0);
                    faults.push(format!("session '{name}': invalid or repeated line '{uid}'"));
                }
                self.lines.push(line.clone());
                self.emptied.extend(Some(line).filter(|line| line.withdrawn).cloned());
            }
        }
        self.tally.lines = self.lines.len();
        faults
    }

    /// Finds sessions with new lines, new ones, and those with fields that the store lacks.
    fn add_sessions(&mut self, export: &ScopeContent, here: &ScopeContent) {
        let own: BTreeMap<&str, &Session> =
            here.sessions.iter().map(|it| (it.id.as_str(), it)).collect();
        let touched = self.touched();
        let mut sessions = Vec::new();
        for theirs in &export.sessions {
            let own = own.get(theirs.id.as_str());
            let whole = match own {
                None => theirs.clone(),
                Some(own) => Session {
                    id: own.id.clone(),
                    title: own.title.clone().or_else(|| theirs.title.clone()),
                    started: own.started.or(theirs.started),
                    ended: own.ended.or(theirs.ended),
                    summary: own.summary.clone().or_else(|| theirs.summary.clone()),
                },
            };
            self.tally.sessions += usize::from(own.is_none());
            if own.is_none_or(|own| **own != whole) || touched.contains(&theirs.id) {
                sessions.push(whole);
            }
        }
        self.sessions = sessions;
    }

    fn add_items(&mut self, export: &ScopeContent, here: &ScopeContent) {
        let own: BTreeMap<&str, &Item> = here.items.iter().map(|it| (it.id.as_str(), it)).collect();
        for item in &export.items {
            match own.get(item.id.as_str()) {
                None => self.items.push(item.clone()),
                Some(own) => self.tally.kept += usize::from(*own != item),
            }
        }
        self.tally.items = self.items.len();
        // Emptying a line removes what its session has without lines.
        let touched = self.touched();
        let is_removed = |item: &&Item| {
            item.lines.is_none() && item.session.as_ref().is_some_and(|it| touched.contains(it))
        };
        self.items.extend(here.items.iter().filter(is_removed).cloned());
    }

    fn add_graph(&mut self, export: &ScopeContent, here: &ScopeContent) -> Vec<String> {
        let mut faults = Vec::new();
        let own: BTreeMap<&str, &Entity> =
            here.entities.iter().map(|it| (it.id.as_str(), it)).collect();
        let mut ids: BTreeSet<&str> = own.keys().copied().collect();
        for entity in &export.entities {
            match own.get(entity.id.as_str()) {
                None if entity.id.is_empty() || !ids.insert(&entity.id) => {
                    let id = revealed_name(&entity.id);
                    faults.push(format!("entity '{id}' is missing its id, or is repeated"));
                }
                None => {
                    self.tally.entities += 1;
                    self.changes.push(Change::Put(entity.clone()));
                }
                Some(own) => self.tally.kept += usize::from(*own != entity),
            }
        }
        let ties: BTreeMap<_, &Relation> =
            here.relations.iter().map(|it| (same(&it.key), it)).collect();
        for relation in &export.relations {
            let RelationKey { from, kind, to } = &relation.key;
            if let Some(own) = ties.get(&same(&relation.key)) {
                self.tally.kept += usize::from(*own != relation);
            } else if ids.contains(from.as_str()) && ids.contains(to.as_str()) {
                self.tally.relations += 1;
                self.changes.push(Change::Tie(relation.clone()));
            } else {
                let tie = revealed_name(&format!("{from} {kind} {to}"));
                faults.push(format!("relation '{tie}': an entity of it is missing"));
            }
        }
        faults
    }

    fn add_automation(&mut self, export: ScopeContent, here: &ScopeContent) -> Vec<String> {
        let runs = lacking(export.runs, &here.runs);
        let schedules = lacking(export.schedules, &here.schedules);
        (self.tally.runs, self.tally.schedules) = (runs.new.len(), schedules.new.len());
        self.tally.kept += runs.kept + schedules.kept;
        (self.runs, self.schedules) = (runs.new, schedules.new);
        runs.faults.into_iter().chain(schedules.faults).collect()
    }
}

/// The key of a relation as stores compare it.
fn same(key: &RelationKey) -> (&str, String, &str) {
    (&key.from, key.kind.to_lowercase(), &key.to)
}

fn by_session(of: &ScopeContent) -> BTreeMap<&str, Vec<&TranscriptLine>> {
    let mut sessions: BTreeMap<&str, Vec<&TranscriptLine>> = BTreeMap::new();
    for line in &of.lines {
        sessions.entry(&line.said.session).or_default().push(line);
    }
    sessions
}

/// True for a deleted line; a withdrawn one keeps its speaker.
fn is_deleted(line: &TranscriptLine) -> bool {
    line.withdrawn && line.said.speaker.is_empty()
}

/// The line as it is written first.
fn written(line: &TranscriptLine) -> Utterance {
    let mut said = line.said.clone();
    if line.withdrawn {
        (said.text, said.raw) = (String::new(), None);
        said.tools = serde_json::Value::Null;
    }
    if is_deleted(line) {
        said.speaker_id = Some(DELETED.to_owned());
    }
    said
}
