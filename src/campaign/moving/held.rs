//! Everything that a store holds of a scope.
//!
//! Entry function: [`held`]; entry type: [`ScopeContent`].

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    campaign::Scoped,
    domain::Scope,
    memory::{
        Deletion, Entity, EntityFilter, Error, Item, ItemFilter, KeptRun, KeptSchedule, LineFilter,
        Relation, Session, SessionFilter, TranscriptLine, Uid, Utterance, Viewer,
    },
};

/// A scope's data, in the order in which a store takes it, which is the same for every store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScopeContent {
    /// Oldest first.
    pub sessions: Vec<Session>,
    /// By session and number; withdrawn and deleted ones are empty.
    pub lines: Vec<TranscriptLine>,
    /// Facts in any state, and pieces of conversation.
    pub items: Vec<Item>,
    pub entities: Vec<Entity>,
    pub relations: Vec<Relation>,
    /// Runs of workflows, oldest first.
    pub runs: Vec<KeptRun>,
    /// By their next time; those that wait for a session last.
    pub schedules: Vec<KeptSchedule>,
}

/// Everything that the store holds of a scope, without words that wait for their deletion.
pub async fn held(at: Scoped<'_>) -> Result<ScopeContent, Error> {
    let (store, scope) = (at.store, at.scope);
    let mut held = ScopeContent::default();
    let entries = store.sessions(scope, SessionFilter::default()).await?;
    held.sessions = entries.into_iter().rev().map(|entry| entry.session).collect();
    for session in &held.sessions {
        let session = Some(session.id.clone());
        let filter = LineFilter { session, gaps: true, ..LineFilter::default() };
        held.lines.extend(store.lines(scope, filter, Viewer::Dm).await?);
    }
    held.items = store.items(scope, ItemFilter::default(), Viewer::Dm).await?;
    held.items.sort_by(|a, b| (a.made, &a.id).cmp(&(b.made, &b.id)));
    held.entities = store.entities(scope, EntityFilter::default(), Viewer::Dm).await?;
    held.entities.sort_by(|a, b| a.id.cmp(&b.id));
    held.relations = store.relations(scope, Viewer::Dm).await?;
    held.runs = store.runs(scope, 0).await?;
    held.runs.reverse();
    held.schedules = store.schedules(scope).await?;
    held.leave_out(scope, &store.deletions().await?);
    Ok(held)
}

impl ScopeContent {
    /// Empties the lines that `deletions` cover, and removes what comes from them.
    pub fn leave_out(&mut self, scope: &Scope, deletions: &[Deletion]) {
        self.empty(|line| deletions.iter().any(|it| it.covers(scope, &line.said)));
        let everywhere = |it: &&Deletion| it.from.owner == scope.owner && it.from.session.is_none();
        for Deletion { player, before, .. } in deletions.iter().filter(everywhere) {
            for line in &mut self.lines {
                line.said.present.retain(|it| it.player.as_ref() != Some(player));
            }
            for run in &mut self.runs {
                run.forget(player, *before);
            }
            for schedule in &mut self.schedules {
                schedule.forget(player, *before);
            }
        }
    }

    /// Empties the lines that are `gone`, and removes what comes from them.
    pub fn empty(&mut self, gone: impl Fn(&TranscriptLine) -> bool) {
        let mut uids = BTreeSet::new();
        let mut places: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for line in self.lines.iter_mut().filter(|line| gone(line)) {
            uids.insert(line.said.uid.clone());
            places.entry(line.said.session.clone()).or_default().insert(line.seq);
            *line = deleted(line);
        }
        let is_from = |item: &Item| {
            let seqs = item.session.as_ref().and_then(|session| places.get(session));
            seqs.is_some_and(|seqs| match item.lines {
                None => true,
                Some((first, last)) => seqs.iter().any(|seq| (first..=last).contains(seq)),
            })
        };
        self.items.retain(|item| !is_from(item));
        let is_said = |uid: &Option<Uid>| uid.as_ref().is_some_and(|uid| uids.contains(uid));
        self.relations.retain(|relation| !is_said(&relation.provenance.utterance));
        for session in self.sessions.iter_mut().filter(|it| places.contains_key(&it.id)) {
            session.summary = None;
        }
    }
}

/// The line as a store holds it once it is deleted.
fn deleted(line: &TranscriptLine) -> TranscriptLine {
    let said = Utterance {
        text: String::new(),
        raw: None,
        tools: serde_json::Value::Null,
        speaker_id: None,
        speaker: String::new(),
        character: None,
        asked: None,
        ..line.said.clone()
    };
    TranscriptLine { seq: line.seq, said, withdrawn: true }
}
