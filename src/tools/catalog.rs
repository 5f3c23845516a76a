//! Every tool there is, and the prepared lists of what each NPC may see at each tier.
//!
//! Entry types: [`Catalog`], [`Snapshot`]. A change prepares the next snapshot; readers never
//! wait. **Never**: runs a tool.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::{ArcSwap, Guard};
use tokio::{sync::Notify, time::Instant};

use super::{
    CastChanges, CatalogEntry, Definition, LatencySummary, Refused, SourceKind, Tool, VisibleTools,
    changes::{Allowed, allowed},
    figures::Figures,
    names::{self, ModelNames},
    select::Lexical,
    tool::Origin,
};
use crate::domain::{Npc, SessionId, Tier, ToolSpec};

/// Parts of all schemas that one server may have; each takes up to half a KiB.
const PARTS: usize = 100_000;

/// What an NPC may see, by tier.
type Lists = [Arc<VisibleTools>; 3];

/// All tools at one moment.
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

impl Snapshot {
    /// What `npc` may see at `tier` in `session`; without one, as configured.
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
}

/// All tools and the lists made of them.
#[derive(Default)]
pub struct Catalog {
    writers: Mutex<Written>,
    snapshot: ArcSwap<Snapshot>,
    figures: Figures,
    changed: Notify,
    /// Somebody was told names, so that they stay from now on.
    is_told: AtomicBool,
}

/// What snapshots are made of.
#[derive(Default)]
struct Written {
    sources: BTreeMap<String, Vec<Arc<Tool>>>,
    refused: BTreeMap<String, Vec<Refused>>,
    cast: Vec<Arc<Npc>>,
    /// What game masters have changed, by session.
    changes: BTreeMap<SessionId, CastChanges>,
    /// Ambiguous entries that were already warned about.
    told: std::collections::BTreeSet<String>,
    /// The word index of all tools; `None`: it must be rebuilt.
    index: Option<Arc<Lexical>>,
    /// Model-facing names that were given out.
    names: ModelNames,
}

impl Catalog {
    /// The tools of this moment.
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// Has the names of the present snapshot stay, for a model has been told them.
    pub(super) fn tell(&self) {
        if !self.is_told.load(Ordering::Relaxed) {
            self.is_told.store(true, Ordering::Relaxed);
        }
    }

    /// Measured figures that outlive the tools.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The current tools, to hold across an await.
    pub(super) fn snapshot_full(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Notified of each new snapshot; for one listener.
    pub(super) fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Sets the NPCs whose lists are prepared.
    pub fn set_cast(&self, cast: &[Arc<Npc>]) {
        self.change(|written| written.cast = cast.to_vec());
    }

    /// Sets what the game master of `session` has changed about its NPCs' tools; nothing for a
    /// session that is over.
    pub fn set_changes(&self, session: &SessionId, changes: CastChanges) {
        {
            let written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
            if written.changes.get(session).unwrap_or(&CastChanges::new()) == &changes {
                return;
            }
        }
        self.change(|written| match changes.is_empty() {
            true => _ = written.changes.remove(session),
            false => _ = written.changes.insert(session.clone(), changes),
        });
    }

    /// Sets what `server` offers, in place of what it offered before; figures of tools that stay
    /// unchanged are kept. A tool that cannot be offered to any model is left out and returned.
    pub fn offer(&self, server: &str, kind: SourceKind, tools: Vec<Definition>) -> Vec<Refused> {
        let (endpoint, mut refused) = (self.figures.endpoint(server, kind), Vec::new());
        let origin = Origin { server, kind, endpoint: &endpoint };
        let mut taken: Vec<Tool> = Vec::with_capacity(tools.len());
        let (mut names, mut parts) = (HashSet::new(), 0);
        for definition in tools {
            let identity = names::identity(server, &definition.name);
            let reason = match Tool::new(&origin, definition) {
                Ok(_) if names.contains(&identity) => "the server lists it twice".to_owned(),
                Ok(tool) if parts + tool.parts() > PARTS => {
                    format!("all schemas of the server together have more than {PARTS} parts")
                }
                Ok(tool) => {
                    parts += tool.parts();
                    names.insert(identity);
                    taken.push(tool);
                    continue;
                }
                Err(error) => error.to_string(),
            };
            refused.push(Refused { tool: identity, reason });
        }
        self.change(|written| {
            let before = written.sources.remove(server).unwrap_or_default();
            self.figures.remember(&before);
            let before: HashMap<&str, &Arc<Tool>> =
                before.iter().map(|tool| (&*tool.identity, tool)).collect();
            let placed = taken.into_iter().map(|mut tool| {
                let same = before.get(&*tool.identity).filter(|old| old.is_same(&tool));
                tool.latency = match same {
                    Some(same) => Arc::clone(&same.latency),
                    None => self.figures.recall(&tool).map(Arc::new).unwrap_or_default(),
                };
                Arc::new(tool)
            });
            let placed = placed.collect();
            written.index = None;
            written.sources.insert(server.to_owned(), placed);
            written.refused.insert(server.to_owned(), refused.clone());
        });
        refused
    }

    /// Takes back everything `server` offers; figures are kept for when it returns.
    pub fn withdraw(&self, server: &str) {
        self.change(|written| {
            written.index = None;
            self.figures.remember(&written.sources.remove(server).unwrap_or_default());
            written.refused.remove(server);
        });
    }

    /// Tools that were left out.
    pub fn refused(&self) -> Vec<Refused> {
        let written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        written.refused.values().flatten().cloned().collect()
    }

    /// Prepares a new snapshot.
    pub fn place(&self) {
        self.change(|_| {});
    }

    /// Prepares a new snapshot if any tool's figures have changed its tier.
    pub fn refresh(&self, now: Instant) {
        let moved =
            self.snapshot.load().entries.iter().any(|entry| {
                entry.tool.latency.standing(now).tier(&entry.tool.declared) != entry.tier
            });
        if moved {
            self.change(|_| {});
        }
    }

    /// Prepares a new snapshot if the figures of `entry` have changed its tier.
    pub fn refresh_one(&self, entry: &CatalogEntry, standing: &LatencySummary) {
        let tier = standing.tier(&entry.tool.declared);
        if tier != entry.tier {
            tracing::info!(
                tool = &*entry.tool.identity,
                from = entry.tier.map_or("withheld", Tier::name),
                to = tier.map_or("withheld", Tier::name),
                "tool changes its tier"
            );
            self.change(|_| {});
        }
    }

    fn change(&self, change: impl FnOnce(&mut Written)) {
        let mut written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut written);
        if !self.is_told.load(Ordering::Relaxed) {
            written.names = ModelNames::default();
        }
        let snapshot = Arc::new(prepare(&mut written, Instant::now()));
        self.snapshot.store(snapshot);
        self.changed.notify_one();
    }
}

/// The next snapshot.
fn prepare(written: &mut Written, now: Instant) -> Snapshot {
    let mut tools: Vec<&Arc<Tool>> = written.sources.values().flatten().collect();
    tools.sort_by(|a, b| a.identity.cmp(&b.identity));
    let identities: Vec<_> = tools.iter().map(|tool| (&*tool.identity, tool.source)).collect();
    let names = written.names.of(&identities);
    let index = written.index.take().unwrap_or_else(|| {
        let words: Vec<&str> = tools.iter().map(|tool| tool.words.as_str()).collect();
        Arc::new(Lexical::of(&words))
    });
    let entries: Vec<Arc<CatalogEntry>> = tools
        .iter()
        .map(|tool| {
            let standing = tool.latency.standing(now);
            let name = names.get(&*tool.identity).unwrap_or(&tool.identity);
            Arc::new(CatalogEntry {
                spec: ToolSpec {
                    name: Arc::clone(name),
                    identity: Arc::clone(&tool.identity),
                    description: Arc::clone(&tool.description),
                    parameters: Arc::clone(&tool.parameters),
                },
                tier: standing.tier(&tool.declared),
                expected: standing.expected(&tool.declared),
                tool: Arc::clone(tool),
            })
        })
        .collect();
    let cast = std::mem::take(&mut written.cast);
    let mut prepared = HashMap::new();
    for npc in &cast {
        let allowed = allowed(&entries, npc, None);
        for (entry, candidates) in &allowed.unclear {
            if written.told.insert(format!("{} {entry}", npc.name)) {
                let candidates = candidates.join(", ");
                tracing::warn!(npc = npc.name, entry, candidates, "several servers have this tool");
            }
        }
        prepared.insert(Arc::from(npc.name.as_str()), lists(&allowed));
    }
    let of_session = |changes: &CastChanges| {
        let changed = cast.iter().filter_map(|npc| {
            let changes = changes.get(&npc.name)?;
            let allowed = allowed(&entries, npc, Some(changes));
            Some((Arc::from(npc.name.as_str()), lists(&allowed)))
        });
        changed.collect()
    };
    let all = written.changes.iter();
    let changed = all.map(|(session, changes)| (session.clone(), of_session(changes))).collect();
    written.cast = cast;
    let by_identity = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| (Arc::clone(&entry.tool.identity), index))
        .collect();
    written.index = Some(Arc::clone(&index));
    Snapshot { entries, by_identity, prepared, changed, nothing: Arc::default(), index }
}

/// What may be seen at each tier.
fn lists(allowed: &Allowed<'_>) -> Lists {
    Tier::ALL.map(|tier| {
        let fits = |it: &CatalogEntry| it.tier.is_some_and(|its| its <= tier);
        let offered = allowed.tools.iter().filter(|it| fits(it)).map(|entry| Arc::clone(entry));
        let finder = allowed.finder.filter(|it| fits(it)).cloned();
        Arc::new(VisibleTools::of(offered).with_finder(finder))
    })
}
