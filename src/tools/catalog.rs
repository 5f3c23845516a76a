//! All tools: the installation's, and those that owners have added for themselves. A change builds
//! a new [`Snapshot`] for each affected owner; readers never wait. One owner's tools are in no
//! other's snapshot.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use tokio::{sync::Notify, time::Instant};

use super::{
    CastChanges, CatalogEntry, Definition, LatencySummary, Offer, Refused, ServerKey, SourceKind,
    Tool,
    figures::Figures,
    names::ModelNames,
    select::Lexical,
    snapshot::{Ingredients, Snapshot},
};
use crate::domain::{Npc, Owner, SessionId, Tier};

#[derive(Default)]
pub struct Catalog {
    writers: Mutex<Written>,
    snapshots: ArcSwap<Snapshots>,
    figures: Figures,
    changed: Notify,
    /// Set once a model has seen the names, which are fixed from then on.
    is_told: AtomicBool,
}

/// Snapshots of the installation and of owners.
#[derive(Clone, Default)]
struct Snapshots {
    /// For owners without added tools.
    installation: Arc<Snapshot>,
    /// For owners that ever added tools: names that models have seen stay.
    owners: BTreeMap<Owner, Arc<Snapshot>>,
}

#[derive(Default)]
struct Written {
    /// A manifest may share its namespace with built-in tools.
    sources: BTreeMap<(ServerKey, SourceKind), Source>,
    cast: Vec<Arc<Npc>>,
    /// Game masters' changes, by session.
    changes: BTreeMap<SessionId, OwnChanges>,
    /// Ambiguous entries already warned about.
    told: BTreeSet<String>,
    /// By owner; `None`: the installation.
    kept: BTreeMap<Option<Owner>, Kept>,
}

#[derive(Default)]
struct Source {
    tools: Vec<Arc<Tool>>,
    refused: Vec<Refused>,
}

struct OwnChanges {
    owner: Owner,
    changes: CastChanges,
}

#[derive(Clone, Default)]
struct Kept {
    /// `None`: must be rebuilt.
    index: Option<Arc<Lexical>>,
    /// Names given out so far.
    names: ModelNames,
}

impl Catalog {
    /// Current tools of `owner`.
    pub fn snapshot(&self, owner: Owner) -> Arc<Snapshot> {
        let all = self.snapshots.load();
        Arc::clone(all.owners.get(&owner).unwrap_or(&all.installation))
    }

    /// Fixes the names of the current snapshots: a model has seen them.
    pub(super) fn tell(&self) {
        if !self.is_told.load(Ordering::Relaxed) {
            self.is_told.store(true, Ordering::Relaxed);
        }
    }

    /// Figures that outlive the tools.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Tools of the installation and all owners.
    pub(super) fn tools(&self) -> Vec<Arc<Tool>> {
        let written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        written.sources.values().flat_map(|source| &source.tools).cloned().collect()
    }

    pub(super) fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Sets the NPCs whose lists are prepared.
    pub fn set_cast(&self, cast: &[Arc<Npc>]) {
        self.change(None, |written| written.cast = cast.to_vec());
    }

    /// Sets the game master's changes in a session of `owner`; ignored for a closed session.
    pub(super) fn set_changes(&self, owner: Owner, session: &SessionId, changes: CastChanges) {
        {
            let written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
            let before = written.changes.get(session).map(|it| &it.changes);
            if before.unwrap_or(&CastChanges::new()) == &changes {
                return;
            }
        }
        let whose = self.snapshots.load().owners.contains_key(&owner).then_some(owner);
        self.change(whose, |written| match changes.is_empty() {
            true => _ = written.changes.remove(session),
            false => {
                _ = written.changes.insert(session.clone(), OwnChanges { owner, changes });
            }
        });
    }

    /// Replaces the offer of `server`; unchanged tools keep their figures. Returns the tools no
    /// model can be offered.
    pub fn offer(
        &self,
        server: &ServerKey,
        kind: SourceKind,
        tools: Vec<Definition>,
    ) -> Vec<Refused> {
        let mut offer = self.begin(server, kind, tools);
        while offer.prepare(Duration::MAX) {}
        self.take(offer)
    }

    /// Begins an offer of `server`.
    pub(super) fn begin(
        &self,
        server: &ServerKey,
        kind: SourceKind,
        tools: Vec<Definition>,
    ) -> Offer {
        Offer::new(server, kind, self.figures.endpoint(server, kind), tools)
    }

    /// Replaces its server's earlier offer by the prepared part of `offer`.
    pub(super) fn take(&self, offer: Offer) -> Vec<Refused> {
        let Offer { server, kind, taken, refused, .. } = offer;
        self.change(server.owner, |written| {
            let before = written.remove(&server, kind).tools;
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
            let source = Source { tools: placed.collect(), refused: refused.clone() };
            written.sources.insert((server.clone(), kind), source);
        });
        refused
    }

    /// Withdraws the tools of `kind` that `server` offers; figures stay for its return.
    pub fn withdraw(&self, server: &ServerKey, kind: SourceKind) {
        self.change(server.owner, |written| {
            self.figures.remember(&written.remove(server, kind).tools);
        });
    }

    /// Tools rejected for `owner`, with reasons.
    pub fn refused(&self, owner: Owner) -> Vec<Refused> {
        let written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = written.sources_of(None).chain(written.sources_of(Some(owner)));
        theirs.flat_map(|(_, source)| &source.refused).cloned().collect()
    }

    /// Rebuilds all snapshots.
    pub fn place(&self) {
        self.change(None, |_| {});
    }

    /// Rebuilds all snapshots if any tool's tier has changed.
    pub fn refresh(&self, now: Instant) {
        let all = self.snapshots.load();
        if std::iter::once(&all.installation)
            .chain(all.owners.values())
            .any(|it| it.is_outdated(now))
        {
            self.change(None, |_| {});
        }
    }

    /// Rebuilds snapshots if the tier of `entry` has changed. Skipped while the catalog is locked,
    /// so that indexing an offer delays no turn; [`Self::refresh`] catches up.
    pub fn refresh_one(&self, entry: &CatalogEntry, standing: &LatencySummary) {
        let tier = standing.tier(&entry.tool.declared);
        if tier != entry.tier {
            tracing::info!(
                tool = &*entry.tool.identity,
                from = entry.tier.map_or("withheld", Tier::name),
                to = tier.map_or("withheld", Tier::name),
                "tool changes its tier"
            );
            let mut written = match self.writers.try_lock() {
                Ok(written) => written,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            self.publish(&mut written, entry.tool.owner);
        }
    }

    /// Applies a change and rebuilds the snapshot of `whose`; `None`: all.
    fn change(&self, whose: Option<Owner>, change: impl FnOnce(&mut Written)) {
        let mut written = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut written);
        self.publish(&mut written, whose);
    }

    /// Builds and publishes the snapshot of `whose`; `None`: all.
    fn publish(&self, written: &mut Written, whose: Option<Owner>) {
        let is_told = self.is_told.load(Ordering::Relaxed);
        let mut next = Snapshots::clone(&self.snapshots.load());
        let now = Instant::now();
        let owners: Vec<Owner> = match whose {
            Some(owner) => vec![owner],
            None => {
                // Installation first: its names take precedence.
                next.installation = written.prepare(None, is_told, now);
                next.owners.keys().copied().collect()
            }
        };
        for owner in owners {
            next.owners.insert(owner, written.prepare(Some(owner), is_told, now));
        }
        self.snapshots.store(Arc::new(next));
        self.changed.notify_one();
    }
}

impl Written {
    /// Sources of the installation (`None`), or those added by an owner.
    fn sources_of(&self, owner: Option<Owner>) -> impl Iterator<Item = (&ServerKey, &Source)> {
        let sources = self.sources.iter().map(|((key, _), source)| (key, source));
        sources.filter(move |(key, _)| key.owner == owner)
    }

    /// Removes the offer of `server` and marks affected indices for rebuilding.
    fn remove(&mut self, server: &ServerKey, kind: SourceKind) -> Source {
        for (owner, kept) in &mut self.kept {
            if server.owner.is_none() || *owner == server.owner {
                kept.index = None;
            }
        }
        self.sources.remove(&(server.clone(), kind)).unwrap_or_default()
    }

    /// The next snapshot of `owner`; `None`: of all owners without additions.
    fn prepare(&mut self, owner: Option<Owner>, is_told: bool, now: Instant) -> Arc<Snapshot> {
        let mut kept = self.kept.remove(&owner);
        if !is_told || kept.is_none() {
            // An owner's models have already seen the installation's names.
            let index = kept.and_then(|kept| kept.index);
            let installed = self.kept.get(&None).filter(|_| owner.is_some());
            let names = installed.map(|kept| kept.names.clone()).unwrap_or_default();
            kept = Some(Kept { index, names });
        }
        let mut kept = kept.unwrap_or_default();
        let mut told = std::mem::take(&mut self.told);
        let tools = self.tools_of(owner);
        let identities: Vec<_> = tools.iter().map(|tool| (&*tool.identity, tool.source)).collect();
        let names = kept.names.of(&identities);
        let index = kept.index.take().unwrap_or_else(|| {
            let words = tools.iter().map(|tool| Arc::clone(&tool.words));
            Arc::new(Lexical::of(words.collect()))
        });
        kept.index = Some(Arc::clone(&index));
        let is_theirs = |it: &&OwnChanges| match owner {
            Some(owner) => it.owner == owner,
            None => !self.kept.contains_key(&Some(it.owner)),
        };
        let changes = self.changes.iter().filter(|(_, it)| is_theirs(it));
        let changes = changes.map(|(session, it)| (session, &it.changes)).collect();
        let made = Ingredients { tools, names, index, cast: &self.cast, changes };
        let snapshot = Snapshot::prepare(&made, &mut told, now);
        self.told = told;
        self.kept.insert(owner, kept);
        snapshot
    }

    /// Tools of the installation and of `owner`, by identity. The installation's server wins a name
    /// clash.
    fn tools_of(&self, owner: Option<Owner>) -> Vec<&Arc<Tool>> {
        let is_free = |key: &ServerKey| self.sources_of(None).all(|(it, _)| it.name != key.name);
        let own = owner.map(|owner| self.sources_of(Some(owner)));
        let own = own.into_iter().flatten().filter(|(key, _)| is_free(key));
        let all = self.sources_of(None).chain(own);
        let mut tools: Vec<_> = all.flat_map(|(_, source)| &source.tools).collect();
        tools.sort_by(|a, b| a.identity.cmp(&b.identity));
        tools
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::tools::{CallContext, CallError, CallOutput, Declared};

    const INN: Owner = Owner::Guild(1);
    const OAR: Owner = Owner::Guild(2);

    /// A tool that says `about` of itself.
    fn tool(name: &str, about: &str) -> Definition {
        let silent = |_: &CallContext, _: &Map<String, Value>| -> Result<CallOutput, CallError> {
            Ok(CallOutput::default())
        };
        Definition {
            name: name.to_owned(),
            description: about.to_owned(),
            input: json!({"type": "object"}),
            output: None,
            declared: Declared::default(),
            handler: Arc::new(silent),
        }
    }

    /// Identities and model-facing names of what `owner` has.
    fn seen(catalog: &Catalog, owner: Owner) -> Vec<(String, String)> {
        let snapshot = catalog.snapshot(owner);
        let all = snapshot.all().iter();
        all.map(|it| (it.tool.identity.to_string(), it.spec.name.to_string())).collect()
    }

    fn named(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(identity, name)| ((*identity).to_owned(), (*name).to_owned())).collect()
    }

    fn about(catalog: &Catalog, owner: Owner, tool: &str) -> Option<String> {
        catalog.snapshot(owner).find(tool).map(|it| it.tool.about.to_string())
    }

    fn offer(catalog: &Catalog, server: &ServerKey, tools: Vec<Definition>) {
        assert_eq!(catalog.offer(server, SourceKind::Server, tools), []);
    }

    #[test]
    fn added_servers_are_visible_to_their_owner_only() {
        let catalog = Catalog::default();
        let npc = Npc { tools: vec!["home.*".to_owned()], ..Npc::plain("Bartok") };
        catalog.set_cast(&[Arc::new(npc)]);
        let homes = [INN, OAR].map(|owner| ServerKey::added(owner, "home"));
        offer(&catalog, &ServerKey::installed("far"), vec![tool("look", "far")]);
        offer(&catalog, &homes[0], vec![tool("get", "the inn's")]);
        offer(&catalog, &homes[1], vec![tool("get", "the oar's"), tool("set", "")]);
        let own = |owner| about(&catalog, owner, "home.get");
        assert_eq!(own(INN).as_deref(), Some("the inn's"));
        assert_eq!(own(OAR).as_deref(), Some("the oar's"));
        assert_eq!(seen(&catalog, Owner::Local), named(&[("far.look", "look")]));
        let visible = |owner| catalog.snapshot(owner).visible(None, "Bartok", Tier::Deep).len();
        assert_eq!((visible(INN), visible(OAR), visible(Owner::Guild(3))), (1, 2, 0));
        // The installation's tools reach every owner, and a server that leaves one owner stays with
        // the others.
        offer(&catalog, &ServerKey::installed("near"), vec![tool("feel", "")]);
        catalog.withdraw(&homes[0], SourceKind::Server);
        assert_eq!(seen(&catalog, INN), named(&[("far.look", "look"), ("near.feel", "feel")]));
        assert_eq!(own(OAR).as_deref(), Some("the oar's"));
        assert_eq!(seen(&catalog, OAR).len(), 4);
    }

    #[test]
    fn session_changes_apply_to_added_servers() {
        let catalog = Catalog::default();
        catalog.set_cast(&[Arc::new(Npc::plain("Bartok"))]);
        let session = SessionId("s".to_owned());
        let mut changes = CastChanges::new();
        changes.entry("Bartok".to_owned()).or_default().set("home.get", true);
        catalog.set_changes(INN, &session, changes);
        offer(&catalog, &ServerKey::added(INN, "home"), vec![tool("get", "")]);
        let snapshot = catalog.snapshot(INN);
        let visible = |session| snapshot.visible(session, "Bartok", Tier::Deep).len();
        assert_eq!((visible(Some(&session)), visible(None)), (1, 0));
        catalog.set_changes(INN, &session, CastChanges::new());
        let snapshot = catalog.snapshot(INN);
        assert_eq!(snapshot.visible(Some(&session), "Bartok", Tier::Deep).len(), 0);
    }

    #[test]
    fn figures_do_not_wait_for_an_offer() {
        let catalog = Catalog::default();
        let home = ServerKey::installed("home");
        offer(&catalog, &home, vec![tool("get", "")]);
        let snapshot = catalog.snapshot(Owner::Local);
        let known = snapshot.find("get").unwrap();
        let (tool, spec) = (Arc::clone(&known.tool), known.spec.clone());
        let moved = CatalogEntry { tool, spec, tier: None, expected: known.expected };
        let standing = moved.tool.latency.standing(Instant::now());
        let tier_of = |it: &LatencySummary| it.tier(&moved.tool.declared);
        assert_ne!(tier_of(&standing), moved.tier, "it has changed its tier");
        // An offer is being taken: this would not end if the turn had to wait for it.
        let offering = catalog.writers.lock().unwrap();
        catalog.refresh_one(&moved, &standing);
        drop(offering);
        catalog.refresh_one(&moved, &standing);
        assert!(!Arc::ptr_eq(&snapshot, &catalog.snapshot(Owner::Local)), "and now it is placed");
    }

    #[test]
    fn endless_description_is_left_out_with_reason() {
        let catalog = Catalog::default();
        let home = ServerKey::installed("home");
        let tools = vec![tool("long", &"roll dice ".repeat(100_000)), tool("get", "")];
        let refused = catalog.offer(&home, SourceKind::Server, tools);
        let reason = "its description has 1000000 bytes (at most 32768 are read)".to_owned();
        assert_eq!(refused, [Refused { tool: "home.long".to_owned(), reason }]);
        assert_eq!(seen(&catalog, INN), named(&[("home.get", "get")]));
    }

    #[test]
    fn installed_servers_win_name_clashes() {
        let catalog = Catalog::default();
        let (home, far) = (ServerKey::added(INN, "home"), ServerKey::installed("far"));
        offer(&catalog, &home, vec![tool("get", "")]);
        assert_eq!(seen(&catalog, INN), named(&[("home.get", "get")]));
        // No model has seen the names yet: the installation comes first.
        offer(&catalog, &far, vec![tool("get", "")]);
        assert_eq!(seen(&catalog, INN), named(&[("far.get", "get"), ("home.get", "home_get")]));
        catalog.tell();
        offer(&catalog, &ServerKey::added(OAR, "a"), vec![tool("get", "")]);
        assert_eq!(seen(&catalog, OAR), named(&[("a.get", "a_get"), ("far.get", "get")]));
        // A server of the installation with an added one's name is the one that is there.
        offer(&catalog, &ServerKey::installed("home"), vec![tool("get", "everybody's")]);
        assert_eq!(about(&catalog, INN, "home.get").as_deref(), Some("everybody's"));
        catalog.withdraw(&ServerKey::installed("home"), SourceKind::Server);
        assert_eq!(about(&catalog, INN, "home.get").as_deref(), Some(""));
        assert_eq!(seen(&catalog, INN)[1].1, "home_get", "its name has stayed");
    }
}
