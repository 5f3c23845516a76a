//! A game master's changes to the tools an NPC may use. **Never**: allows what a policy blocks.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{CatalogEntry, DISCOVER, Entries};
use crate::domain::Npc;

/// Changes by NPC name.
pub type CastChanges = BTreeMap<String, Changes>;

/// Changes of one NPC's whitelist, oldest first; the last match counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes(Vec<Change>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// An identity (`server.tool`), or a prefix followed by `*`.
    pub entry: String,
    pub allowed: bool,
}

impl Changes {
    pub fn set(&mut self, entry: &str, allowed: bool) {
        self.0.retain(|change| change.entry != entry);
        self.0.push(Change { entry: entry.to_owned(), allowed });
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// True if they allow the tool; `None`: no entry matches it.
    fn say(&self, identity: &str) -> Option<bool> {
        let fits = |change: &&Change| match change.entry.strip_suffix('*') {
            Some(prefix) => identity.starts_with(prefix),
            None => change.entry == identity,
        };
        self.0.iter().rev().find(fits).map(|change| change.allowed)
    }
}

pub struct Allowed<'p> {
    pub tools: Vec<&'p Arc<CatalogEntry>>,
    /// The tool that finds more tools, if allowed.
    pub finder: Option<&'p Arc<CatalogEntry>>,
    /// Ambiguous entries that match tools of several servers, with the candidates.
    pub unclear: Vec<(String, Vec<String>)>,
}

/// Those of `entries` that `npc` may use after `changes`.
pub fn allowed<'p>(
    entries: &'p [Arc<CatalogEntry>],
    npc: &Npc,
    changes: Option<&Changes>,
) -> Allowed<'p> {
    let all = entries.iter().map(|entry| &*entry.tool.identity);
    let (listed, mut unclear) = Entries::resolve(&npc.tools, all.clone());
    let (blocked, more) = Entries::resolve(&npc.policy.blocklist, all);
    unclear.extend(more);
    let changed = |identity: &str| changes.and_then(|changes| changes.say(identity));
    let may = |it: &&Arc<CatalogEntry>| {
        let identity = &*it.tool.identity;
        let wanted = changed(identity).unwrap_or_else(|| listed.contains(identity));
        wanted && identity != DISCOVER && !blocked.contains(identity)
    };
    let finder = entries.iter().find(|it| *it.tool.identity == *DISCOVER);
    let finder = finder.filter(|_| !blocked.contains(DISCOVER) && changed(DISCOVER) != Some(false));
    Allowed { tools: entries.iter().filter(may).collect(), finder, unclear }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_change_that_fits_counts() {
        let mut changes = Changes::default();
        assert_eq!(changes.say("home.get"), None);
        changes.set("home.*", false);
        changes.set("home.get", true);
        assert_eq!((changes.say("home.get"), changes.say("home.set")), (Some(true), Some(false)));
        changes.set("home.*", true);
        changes.set("home.get", false);
        assert_eq!((changes.say("home.get"), changes.say("home.set")), (Some(false), Some(true)));
        assert_eq!(changes.iter().count(), 2, "an older word about the same is gone");
    }
}
