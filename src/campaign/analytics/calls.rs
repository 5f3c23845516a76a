//! Calls, added up by tool, server, NPC and session. Entry types: [`Calls`], [`CallReport`].

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    costs::{CostRow, Costs},
    group::{Group, Groups},
    log::LoggedCall,
};
use crate::memory::TranscriptLine;

/// Calls of NPCs' turns, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallReport {
    /// Turns in which an NPC was addressed.
    pub turns: u64,
    pub all: CallRow,
    pub tools: Vec<CallRow>,
    /// MCP servers, and the groups of other tools.
    pub servers: Vec<CallRow>,
    pub npcs: Vec<CallRow>,
    pub sessions: Vec<CallRow>,
    /// Costs of all services, models and voices too.
    pub services: Vec<CostRow>,
    /// Lines of logs that are no calls.
    pub unread: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallRow {
    pub name: String,
    /// Address of an MCP server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    pub calls: u64,
    pub failed: u64,
    /// Answered from the cache.
    pub cached: u64,
    /// Requests sent, retries included.
    pub requests: u64,
    /// Of the calls that were sent; null if none was.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Turns with such a call.
    pub turns: u64,
    /// These turns as a share of all, of the NPC or the session; null without turns.
    pub share: Option<f64>,
    /// In the currency of the price list; null where money is not told apart.
    pub cost: Option<f64>,
}

/// A server by name and address.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ServerName {
    name: String,
    address: Option<String>,
}

impl From<&'static str> for ServerName {
    fn from(name: &'static str) -> Self {
        Self { name: name.to_owned(), address: None }
    }
}

/// Server of names that a model made up.
const NO_SERVER: &str = "(none)";

/// Turns by name of an NPC or a session.
type Turns = BTreeMap<String, u64>;

/// Sums of the calls so far.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    all: Group,
    tools: Groups<String>,
    servers: Groups<ServerName>,
    npcs: Groups<String>,
    sessions: Groups<String>,
    turns: u64,
    turns_of_npcs: Turns,
    turns_of_sessions: Turns,
    unread: u64,
}

/// Filter of counted calls and turns.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Unix time in ms.
    pub since: Option<i64>,
    /// Full name of the NPC.
    pub npc: Option<String>,
}

impl Selection {
    pub fn has(&self, at: Option<i64>, npc: Option<&str>) -> bool {
        self.since.is_none_or(|since| at.is_some_and(|at| at >= since))
            && self.npc.as_deref().is_none_or(|wanted| npc == Some(wanted))
    }
}

impl Calls {
    /// Adds a call of `session`. A call that is still at work counts when its result comes.
    pub fn add(&mut self, session: &str, call: &LoggedCall) {
        if call.pending {
            return;
        }
        self.all.add(call);
        self.tools.add(call.tool.clone(), call);
        let name = call.tool.split_once('.').map_or(NO_SERVER, |(server, _)| server);
        let name = ServerName { name: name.to_owned(), address: call.server.clone() };
        self.servers.add(name, call);
        if let Some(npc) = &call.npc {
            self.npcs.add(npc.clone(), call);
        }
        self.sessions.add(session.to_owned(), call);
    }

    pub const fn add_unread(&mut self, lines: u64) {
        self.unread += lines;
    }

    pub fn end_session(&mut self) {
        self.all.end_session();
        self.tools.end_session();
        self.servers.end_session();
        self.npcs.end_session();
        self.sessions.end_session();
    }

    /// Adds a transcript line of `session`, if a player's words began a turn of an NPC.
    pub fn add_line(&mut self, session: &str, line: &TranscriptLine, of: &Selection) {
        let said = &line.said;
        let Some(npc) = said.npc.as_ref().filter(|_| said.speaker_id.is_some()) else { return };
        if said.outcome == "command" || !of.has(Some(said.at), Some(npc)) {
            return;
        }
        self.turns += 1;
        *self.turns_of_npcs.entry(npc.clone()).or_default() += 1;
        *self.turns_of_sessions.entry(session.to_owned()).or_default() += 1;
    }

    pub fn report(&self, costs: &Costs) -> CallReport {
        let known = |turns: &Turns, name: &String| turns.get(name).copied().unwrap_or_default();
        let named = |groups: &Groups<String>, row: &dyn Fn(&String, &Group) -> CallRow| {
            let rows = groups.sorted().into_iter().map(|(name, group)| row(name, group));
            rows.collect::<Vec<_>>()
        };
        let servers = self.servers.sorted().into_iter().map(|(server, group)| CallRow {
            address: server.address.clone(),
            ..row(&server.name, group, self.turns, None)
        });
        CallReport {
            turns: self.turns.max(self.all.turns),
            all: row("all", &self.all, self.turns, Some(costs.total.units())),
            tools: named(&self.tools, &|name, group| {
                row(name, group, self.turns, Some(costs.tools.of(name)))
            }),
            servers: servers.collect(),
            npcs: named(&self.npcs, &|name, group| {
                row(name, group, known(&self.turns_of_npcs, name), Some(costs.npcs.of(name)))
            }),
            sessions: named(&self.sessions, &|name, group| {
                let turns = known(&self.turns_of_sessions, name);
                row(name, group, turns, Some(costs.sessions.of(name)))
            }),
            services: costs.services.rows(),
            unread: self.unread,
        }
    }
}

/// `turns`: those that might have had such a call. A late result has a turn without words.
fn row(name: &str, group: &Group, turns: u64, cost: Option<f64>) -> CallRow {
    let percentiles = group.percentiles();
    #[expect(clippy::cast_precision_loss, reason = "nobody plays 2^52 turns")]
    let share = |of: u64| group.turns as f64 / of as f64;
    CallRow {
        name: name.to_owned(),
        address: None,
        calls: group.calls,
        failed: group.failed,
        cached: group.cached,
        requests: group.requests,
        p50_ms: percentiles.map(|it| it.0),
        p99_ms: percentiles.map(|it| it.1),
        turns: group.turns,
        share: Some(turns.max(group.turns)).filter(|of| *of > 0).map(share),
        cost,
    }
}
