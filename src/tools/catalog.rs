//! Every tool there is, and the prepared lists of what each NPC may see at each tier.
//!
//! Entry types: [`Catalog`], [`Snapshot`]. Whoever changes something prepares the next snapshot;
//! readers wait for nothing. **Never**: runs a tool.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use tokio::{sync::Notify, time::Instant};

use super::{
    CastChanges, Declared, Definition, Handler, Latency, LatencySummary, SourceKind, VisibleTools,
    changes::{Allowed, allowed},
    figures::{Endpoint, Figures},
    names,
    schema::{self, Schema},
    select::{self, Lexical},
};
use crate::domain::{Npc, SessionId, Tier, ToolSpec, fnv1a};

/// Hard limit of a call to a tool that declares none.
const MAX: Duration = Tier::Deep.ceiling();
/// The same where the answer may come after the turn.
const MAX_LATE: Duration = Duration::from_secs(60);

/// A tool with its place in the catalog.
pub struct Tool {
    /// `server.tool`.
    pub identity: Arc<str>,
    /// Where it comes from.
    pub source: SourceKind,
    /// What answers its calls.
    pub endpoint: Arc<Endpoint>,
    /// What is said about it, all places together.
    pub declared: Declared,
    /// Its calls so far; kept when its source offers it again unchanged.
    pub latency: Arc<Latency>,
    /// Arguments are held against it.
    pub input: Schema,
    /// So are structured results.
    pub output: Option<Schema>,
    /// Runs it.
    pub handler: Arc<dyn Handler>,
    /// Hash of name, description and schemas: what a model relies on.
    pub hash: u64,
    /// Description and parameters as a model reads them.
    description: Arc<str>,
    parameters: Arc<serde_json::Value>,
    /// What it is found by.
    words: String,
}

impl Tool {
    /// The server's part of its identity.
    pub fn server(&self) -> &str {
        self.identity.split_once('.').map_or("", |(server, _)| server)
    }

    /// Its identity without the server.
    pub fn bare_name(&self) -> &str {
        names::bare(&self.identity)
    }

    /// What it does, as a model reads it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What it is about.
    pub fn category(&self) -> &str {
        self.declared.category.as_deref().unwrap_or_else(|| self.server())
    }

    /// Hard limit of one call.
    pub fn max(&self) -> Duration {
        let late = self.declared.follow_up == Some(true);
        self.declared.max.unwrap_or(if late { MAX_LATE } else { MAX })
    }

    /// Whether its figures are those of `other`: the same tool, at the same place.
    fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
            && self.hash == other.hash
            && self.endpoint == other.endpoint
    }

    fn new(
        (source, endpoint): (SourceKind, &Arc<Endpoint>),
        server: &str,
        definition: Definition,
    ) -> Result<Self, String> {
        let declared = definition.declared;
        let input = declared.parameters.as_ref().unwrap_or(&definition.input);
        let description = declared.description.clone().unwrap_or(definition.description);
        let identity = names::identity(server, &definition.name);
        let pinned = format!("{identity}\n{description}\n{input}\n{:?}", definition.output);
        let mut tool = Self {
            parameters: schema::for_model(input)?,
            input: Schema::new(input).map_err(|error| format!("its input schema: {error}"))?,
            output: definition
                .output
                .map(|schema| Schema::new(&schema))
                .transpose()
                .map_err(|error| format!("its output schema: {error}"))?,
            identity: Arc::from(identity),
            source,
            endpoint: Arc::clone(endpoint),
            latency: Arc::default(),
            handler: definition.handler,
            hash: fnv1a(pinned.bytes()),
            description: Arc::from(description),
            declared,
            words: String::new(),
        };
        tool.words = select::words_of(&tool, &tool.parameters);
        Ok(tool)
    }
}

/// A tool as one snapshot places it.
pub struct CatalogEntry {
    /// The tool.
    pub tool: Arc<Tool>,
    /// What a model reads, its model-facing name included.
    pub spec: ToolSpec,
    /// Lowest tier it is offered in; `None`: withheld.
    pub tier: Option<Tier>,
    /// Duration to count with.
    pub expected: Duration,
}

/// What an NPC may see, by tier.
type Lists = [Arc<VisibleTools>; 3];

/// All tools at one moment.
#[derive(Default)]
pub struct Snapshot {
    entries: Vec<Arc<CatalogEntry>>,
    by_identity: HashMap<Arc<str>, usize>,
    prepared: HashMap<Arc<str>, Lists>,
    /// The same of NPCs whose game master has changed their tools, by session.
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

    /// Where a tool is among [`Snapshot::all`].
    pub(super) fn place(&self, identity: &str) -> Option<usize> {
        self.by_identity.get(identity).copied()
    }

    /// Words of all tools, by their place.
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

/// A tool that could not be taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its identity.
    pub tool: String,
    /// What is wrong with it.
    pub reason: String,
}

/// All tools and the lists made of them.
#[derive(Default)]
pub struct Catalog {
    writers: Mutex<Written>,
    snapshot: ArcSwap<Snapshot>,
    figures: Figures,
    changed: Notify,
}

/// What snapshots are made of.
#[derive(Default)]
struct Written {
    sources: BTreeMap<String, Vec<Arc<Tool>>>,
    refused: BTreeMap<String, Vec<Refused>>,
    cast: Vec<Arc<Npc>>,
    /// What game masters have changed, by session.
    changes: BTreeMap<SessionId, CastChanges>,
    /// Ambiguous entries that were told already.
    told: std::collections::BTreeSet<String>,
    /// Words of all tools; `None`: to be made again.
    index: Option<Arc<Lexical>>,
}

impl Catalog {
    /// The tools of this moment.
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// Measured figures that outlive the tools.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The same, for holding it while waiting.
    pub(super) fn snapshot_full(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Told when there is another snapshot; for one listener.
    pub(super) fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Sets whose lists are prepared.
    pub fn set_cast(&self, cast: &[Arc<Npc>]) {
        self.change(|written| written.cast = cast.to_vec());
    }

    /// Sets what the game master of `session` has changed about its NPCs' tools; nothing for a
    /// session that is over.
    pub fn set_changes(&self, session: &SessionId, changes: CastChanges) {
        self.change(|written| match changes.is_empty() {
            true => _ = written.changes.remove(session),
            false => _ = written.changes.insert(session.clone(), changes),
        });
    }

    /// Sets what `server` offers, in place of what it offered before; figures of tools that stay
    /// unchanged are kept. What cannot be offered to any model is left out alone and returned.
    pub fn offer(&self, server: &str, kind: SourceKind, tools: Vec<Definition>) -> Vec<Refused> {
        let mut refused = Vec::new();
        let endpoint = self.figures.endpoint(server, kind);
        self.change(|written| {
            let before = written.sources.remove(server).unwrap_or_default();
            self.figures.remember(&before);
            let mut taken: Vec<Arc<Tool>> = Vec::with_capacity(tools.len());
            for definition in tools {
                let identity = names::identity(server, &definition.name);
                let reason = match Tool::new((kind, &endpoint), server, definition) {
                    Ok(_) if taken.iter().any(|tool| *tool.identity == *identity) => {
                        "the server lists it twice".to_owned()
                    }
                    Ok(mut tool) => {
                        tool.latency = match before.iter().find(|old| old.is_same(&tool)) {
                            Some(same) => Arc::clone(&same.latency),
                            None => self.figures.recall(&tool).map(Arc::new).unwrap_or_default(),
                        };
                        taken.push(Arc::new(tool));
                        continue;
                    }
                    Err(reason) => reason,
                };
                refused.push(Refused { tool: identity, reason });
            }
            written.index = None;
            written.sources.insert(server.to_owned(), taken);
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

    /// Places all tools anew.
    pub fn place(&self) {
        self.change(|_| {});
    }

    /// Places all tools anew when the figures of one have moved it.
    pub fn refresh(&self, now: Instant) {
        let moved =
            self.snapshot.load().entries.iter().any(|entry| {
                entry.tool.latency.standing(now).tier(&entry.tool.declared) != entry.tier
            });
        if moved {
            self.change(|_| {});
        }
    }

    /// Places all tools anew when the figures of `entry` have moved it.
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
    let names = names::model_names(&identities);
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
