//! All tools of one owner at one moment, and the prepared lists of what each NPC may see of them.
//!
//! Entry types: [`Snapshot`], [`Ingredients`]. **Never**: changes.

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

/// Tools that an NPC may see, by tier.
type Lists = [Arc<VisibleTools>; 3];

/// All tools of one owner at one moment.
#[derive(Default)]
pub struct Snapshot {
    entries: Vec<Arc<CatalogEntry>>,
    by_identity: HashMap<Arc<str>, usize>,
    prepared: HashMap<Arc<str>, Lists>,
    /// The lists of NPCs whose tools a game master has changed, by session.
    changed: HashMap<SessionId, HashMap<Arc<str>, Lists>>,
    nothing: Arc<VisibleTools>,
    index: Arc<Lexical>,
}

/// Parts of a snapshot.
pub(super) struct Ingredients<'a> {
    /// In order of identities.
    pub tools: Vec<&'a Arc<Tool>>,
    /// Model-facing names, by identity.
    pub names: HashMap<&'a str, Arc<str>>,
    /// The words they are found by, in their order.
    pub index: Arc<Lexical>,
    /// NPCs whose lists are prepared.
    pub cast: &'a [Arc<Npc>],
    /// Changes by game masters, by session.
    pub changes: Vec<(&'a SessionId, &'a CastChanges)>,
}

impl Snapshot {
    /// Tools that `npc` may see at `tier` in `session`; without one, as configured.
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

    /// All tools, in order of their identities.
    pub fn all(&self) -> &[Arc<CatalogEntry>] {
        &self.entries
    }

    /// The index of a tool in [`Snapshot::all`].
    pub(super) fn place(&self, identity: &str) -> Option<usize> {
        self.by_identity.get(identity).copied()
    }

    /// The word index of all tools, in the order of [`Snapshot::all`].
    pub(super) fn index(&self) -> &Lexical {
        &self.index
    }

    /// The tool `name` means: an identity, a model-facing name, or a bare name only one server
    /// has.
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

    /// Identities of the tools whose bare name is `name`.
    pub(super) fn called(&self, name: &str) -> Vec<&str> {
        let identities = self.entries.iter().map(|entry| &*entry.tool.identity);
        identities.filter(|identity| names::bare(identity) == name).collect()
    }

    /// True if the figures of a tool have changed its tier since.
    pub(super) fn is_outdated(&self, now: Instant) -> bool {
        let tier = |tool: &Tool| tool.latency.standing(now).tier(&tool.declared);
        self.entries.iter().any(|entry| tier(&entry.tool) != entry.tier)
    }

    /// Builds a snapshot of the tools at `now`. Warns about entries of an NPC's lists that match
    /// tools of several servers, except those already in `told`, and adds them there.
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

/// A tool by what models call it, as it stands `now`.
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

/// The visible tools at each tier.
fn lists(allowed: &Allowed<'_>) -> Lists {
    Tier::ALL.map(|tier| {
        let fits = |it: &CatalogEntry| it.tier.is_some_and(|its| its <= tier);
        let offered = allowed.tools.iter().filter(|it| fits(it)).map(|entry| Arc::clone(entry));
        let finder = allowed.finder.filter(|it| fits(it)).cloned();
        Arc::new(VisibleTools::of(offered).with_finder(finder))
    })
}
