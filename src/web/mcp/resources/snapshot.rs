//! Resources that the holder of a token could read at one moment, so that changes are noticed.
//! Entry type: [`ResourceSnapshot`]. Hashes what the holder would read, and nothing that is hidden
//! from them: a change of a secret alone is none for a player.

use std::collections::BTreeMap;

use super::{
    reader::{ReadError, ResourceReader},
    texts,
    uri::ResourceUri,
};
use crate::{
    campaign::Holder,
    domain::{Scope, fnv1a},
    memory::{self, Entity, SessionEntry},
};

/// Running sessions whose lines are compared; programs that were killed leave some running.
const RUNNING_MAX: usize = 3;
/// Latest ended sessions whose lines are compared for players. They are read once, and again when
/// the session has more or fewer lines than before, which may all be hidden.
const ENDED_MAX: usize = 20;
/// Lines of them that are compared: an X-card takes back the latest.
const LINES: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceChange {
    /// Resources were added or removed.
    List,
    Updated(ResourceUri),
}

/// Hashes of what can be read. Equal resources have equal hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceSnapshot {
    of: BTreeMap<ResourceUri, u64>,
    /// Lines of ended sessions, by session; for players.
    ended: BTreeMap<String, EndedLines>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EndedLines {
    /// Number of all lines.
    all: u64,
    /// Hash of the last ones that the holder may read.
    seen: u64,
}

impl ResourceSnapshot {
    /// `before`: the snapshot before it, or an empty one.
    pub async fn take(reader: &ResourceReader<'_>, before: &Self) -> Result<Self, ReadError> {
        let (mut of, mut ended, mut running) = (BTreeMap::new(), BTreeMap::new(), 0);
        let reads_sessions = reads_sessions(reader.holder);
        let sessions = if reads_sessions { reader.sessions().await? } else { Vec::new() };
        for (scope, entry) in sessions {
            let is_running = entry.session.ended.is_none() && running < RUNNING_MAX;
            running += usize::from(is_running);
            let lines = if is_running {
                lines_now(reader, &scope, &entry).await?
            } else if reader.holder.is_dm() {
                entry.lines
            } else {
                let seen = match before.ended.get(&entry.session.id) {
                    Some(known) if known.all == entry.lines => known.seen,
                    _ if ended.len() < ENDED_MAX => lines_now(reader, &scope, &entry).await?,
                    known => known.map_or(0, |known| known.seen),
                };
                ended.insert(entry.session.id.clone(), EndedLines { all: entry.lines, seen });
                seen
            };
            let session = entry.session;
            let told = format!("{:?} {:?} {:?}", session.title, session.ended, session.summary);
            let told = hash(&if is_running { told } else { format!("{told} {lines}") });
            of.insert(ResourceUri::Recap(session.id.clone()), told);
            of.insert(ResourceUri::Transcript(session.id), lines);
        }
        let role = reader.holder.role;
        for npc in reader.npcs().await {
            of.insert(ResourceUri::Npc(npc.name.clone()), hash(&texts::npc(&npc, role)));
        }
        let reads_entities = reader.holder.has_tool("entity.get");
        let entities: Vec<Entity> =
            if reads_entities { reader.entities().await? } else { Vec::new() };
        for entity in entities {
            let text = texts::entity(&entity, role);
            of.insert(ResourceUri::Entity(entity.id), hash(&text));
        }
        of.retain(|uri, _| reader.holder.has_tool(uri.kind().tool));
        Ok(Self { of, ended })
    }

    /// Changes since `before`: the list first, then updates by address.
    pub fn changes(&self, before: &Self) -> Vec<ResourceChange> {
        let mut changes = Vec::new();
        if !self.of.keys().eq(before.of.keys()) {
            changes.push(ResourceChange::List);
        }
        let is_updated =
            |(uri, hash): &(&ResourceUri, &u64)| before.of.get(*uri).is_some_and(|it| it != *hash);
        let updated = self.of.iter().filter(is_updated);
        changes.extend(updated.map(|(uri, _)| ResourceChange::Updated(uri.clone())));
        changes
    }
}

fn reads_sessions(holder: &Holder) -> bool {
    ["session.transcript", "session.recap"].iter().any(|tool| holder.has_tool(tool))
}

/// Hash of the last lines that the holder may read.
async fn lines_now(
    reader: &ResourceReader<'_>,
    scope: &Scope,
    entry: &SessionEntry,
) -> Result<u64, memory::Error> {
    Ok(hash(&reader.last_lines(scope, &entry.session.id, LINES).await?))
}

fn hash(text: &str) -> u64 {
    fnv1a(text.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(of: &[(&str, u64)]) -> ResourceSnapshot {
        let uri = |name: &str| ResourceUri::Npc(name.to_owned());
        let of = of.iter().map(|(name, hash)| (uri(name), *hash)).collect();
        ResourceSnapshot { of, ..Default::default() }
    }

    #[test]
    fn changes_name_what_is_new_and_different() {
        let before = snapshot(&[("Anna", 1), ("Bartok", 1)]);
        assert_eq!(before.changes(&before), []);
        let updated = ResourceChange::Updated(ResourceUri::Npc("Bartok".to_owned()));
        let changed = snapshot(&[("Anna", 1), ("Bartok", 2)]).changes(&before);
        assert_eq!(changed, std::slice::from_ref(&updated));
        assert_eq!(snapshot(&[("Anna", 1)]).changes(&before), [ResourceChange::List]);
        let both = snapshot(&[("Bartok", 2), ("Cora", 1)]);
        assert_eq!(both.changes(&before), [ResourceChange::List, updated]);
    }
}
