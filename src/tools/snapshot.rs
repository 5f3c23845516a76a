//! All tools of one owner at one moment, with prepared lists of the tools each NPC may see.
//!
//! The catalog builds a snapshot after a change of offers, cast or game masters' changes, and when
//! figures move a tool to another tier (`latency.rs`); readers share it without waiting. An NPC's
//! list at a tier holds the tools of that tier and lower ones that its policy allows, after the
//! changes of the session's game master. Withheld tools are in no list.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use tokio::time::Instant;

use super::{
    CastChanges, CatalogEntry, Tool, VisibleTools,
    changes::{Allowed, allowed},
    names,
    select::Lexical,
};
use crate::domain::{Npc, SessionId, Tier, ToolSpec};

type Lists = [Arc<VisibleTools>; 3];

#[derive(Default)]
pub struct Snapshot {
    entries: Vec<Arc<CatalogEntry>>,
    by_identity: HashMap<Arc<str>, usize>,
    prepared: HashMap<Arc<str>, Lists>,
    /// Lists of NPCs whose tools a game master has changed.
    changed: HashMap<SessionId, HashMap<Arc<str>, Lists>>,
    nothing: Arc<VisibleTools>,
    index: Arc<Lexical>,
}

pub(super) struct Ingredients<'a> {
    /// In order of identities.
    pub tools: Vec<&'a Arc<Tool>>,
    /// Model-facing names, by identity.
    pub names: HashMap<&'a str, Arc<str>>,
    /// Word index, in the order of `tools`.
    pub index: Arc<Lexical>,
    /// NPCs whose lists are prepared.
    pub cast: &'a [Arc<Npc>],
    pub changes: Vec<(&'a SessionId, &'a CastChanges)>,
}

impl Snapshot {
    /// Tools `npc` may see at `tier`, with the game master's changes in `session`.
    pub fn visible(
        &self,
        session: Option<&SessionId>,
        npc: &str,
        tier: Tier,
    ) -> &Arc<VisibleTools> {
        let index = match tier {
            Tier::Fast => 0,
            Tier::Standard => 1,
            Tier::Deep => 2,
        };
        let changed = session.and_then(|session| self.changed.get(session)?.get(npc));
        let lists = changed.or_else(|| self.prepared.get(npc));
        lists.map_or(&self.nothing, |lists| &lists[index])
    }

    pub fn all(&self) -> &[Arc<CatalogEntry>] {
        &self.entries
    }

    /// Index of a tool in [`Snapshot::all`].
    pub(super) fn place(&self, identity: &str) -> Option<usize> {
        self.by_identity.get(identity).copied()
    }

    /// Word index, in the order of [`Snapshot::all`].
    pub(super) fn index(&self) -> &Lexical {
        &self.index
    }

    /// The tool with this identity, model-facing name, or unique bare name.
    pub fn find(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        let name = names::canonical(name);
        if let Some(index) = self.by_identity.get(name) {
            return self.entries.get(*index);
        }
        let by_name = self.entries.iter().find(|entry| *entry.spec.name == *name);
        by_name.or_else(|| {
            let mut bare =
                self.entries.iter().filter(|entry| names::bare(&entry.tool.identity) == name);
            bare.next().filter(|_| bare.next().is_none())
        })
    }

    /// Identities of the tools with this bare name.
    pub(super) fn called(&self, name: &str) -> Vec<&str> {
        let identities = self.entries.iter().map(|entry| &*entry.tool.identity);
        identities.filter(|identity| names::bare(identity) == name).collect()
    }

    /// True if a tool's tier has changed since.
    pub(super) fn is_outdated(&self, now: Instant) -> bool {
        let tier = |tool: &Tool| tool.latency.standing(now).tier(&tool.declared);
        self.entries.iter().any(|entry| tier(&entry.tool) != entry.tier)
    }

    /// Builds a snapshot at `now`. Warns about ambiguous list entries not in `told`, and adds them
    /// there.
    pub(super) fn prepare(
        of: &Ingredients<'_>,
        told: &mut BTreeSet<String>,
        now: Instant,
    ) -> Arc<Self> {
        let entries: Vec<Arc<CatalogEntry>> =
            of.tools.iter().map(|tool| placed(tool, &of.names, now)).collect();
        let mut prepared = HashMap::new();
        for npc in of.cast {
            let allowed = allowed(&entries, npc, None);
            for (entry, candidates) in &allowed.unclear {
                if told.insert(format!("{} {entry}", npc.name)) {
                    let (npc, candidates) = (&npc.name, candidates.join(", "));
                    tracing::warn!(npc, entry, candidates, "several servers have this tool");
                }
            }
            prepared.insert(Arc::from(npc.name.as_str()), lists(&allowed));
        }
        let of_session = |changes: &CastChanges| {
            let changed = of.cast.iter().filter_map(|npc| {
                let changes = changes.get(&npc.name)?;
                let allowed = allowed(&entries, npc, Some(changes));
                Some((Arc::from(npc.name.as_str()), lists(&allowed)))
            });
            changed.collect()
        };
        let changed = of.changes.iter();
        let changed = changed.map(|(session, it)| ((*session).clone(), of_session(it))).collect();
        let by_identity = entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (Arc::clone(&entry.tool.identity), index))
            .collect();
        let index = Arc::clone(&of.index);
        Arc::new(Self { entries, by_identity, prepared, changed, nothing: Arc::default(), index })
    }
}

/// A tool's entry at `now`.
fn placed(tool: &Arc<Tool>, names: &HashMap<&str, Arc<str>>, now: Instant) -> Arc<CatalogEntry> {
    let standing = tool.latency.standing(now);
    let name = names.get(&*tool.identity).unwrap_or(&tool.identity);
    Arc::new(CatalogEntry {
        spec: ToolSpec {
            name: Arc::clone(name),
            identity: Arc::clone(&tool.identity),
            description: Arc::clone(&tool.description),
            parameters: Arc::clone(&tool.parameters),
            calling: tool.declared.calling(),
        },
        tier: standing.tier(&tool.declared),
        expected: standing.expected(&tool.declared),
        tool: Arc::clone(tool),
    })
}

fn lists(allowed: &Allowed<'_>) -> Lists {
    Tier::ALL.map(|tier| {
        let fits = |it: &CatalogEntry| it.tier.is_some_and(|its| its <= tier);
        let offered = allowed.tools.iter().filter(|it| fits(it)).map(|entry| Arc::clone(entry));
        let finder = allowed.finder.filter(|it| fits(it)).cloned();
        Arc::new(VisibleTools::of(offered).with_finder(finder))
    })
}
