//! Offers a server's tools to the tool host, except those held for approval.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::{
    definitions::Listed,
    options::{ServerAddress, Trust},
    pinned::PinnedSize,
    pins::{Admission, admit},
    remembered::RememberedServers,
    server::Server,
    status::way_to_trust,
    tool::ServerTool,
};
use crate::{
    domain::one_line,
    tools::{
        Declared, Definition, Offer, Refused, SourceKind, identity as identity_of, schema::apart,
    },
};

/// Longest logged list of tools, in characters.
const LOGGED: usize = 2_000;
/// Time slice for compiling one server's schemas before others get their turn.
const SLICE: Duration = Duration::from_millis(100);

impl Server {
    /// Offers `tools` to the host, except those held for approval.
    pub async fn offer(&self, tools: &[Listed]) {
        let server = &*self.options.name;
        let key = self.key();
        let (mut offered, mut held, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for (tool, admission) in tools.iter().zip(self.admissions(tools).await) {
            match admission {
                Admission::Known => {}
                Admission::Changed(what) => {
                    let difference = what.join("; ");
                    tracing::warn!(server, tool = tool.name, difference, "a tool has changed");
                }
                Admission::Held(what) => {
                    held.push(tool.name.clone());
                    changed.extend(what.iter().map(|line| format!("{}: {line}", tool.name)));
                    continue;
                }
            }
            offered.push(self.definition(tool));
        }
        if !held.is_empty() {
            let way_out = way_to_trust(self.added_by(), server);
            let tools = one_line(&held.join(", "), LOGGED);
            let difference = one_line(&changed.join("; "), LOGGED);
            tracing::warn!(
                server,
                tools,
                difference,
                way_out,
                "new or changed tools wait for approval"
            );
        }
        for name in self.options.tools.keys() {
            if !tools.iter().any(|tool| tool.name == *name) {
                tracing::warn!(server, tool = name, "configured, but the server has no such tool");
            }
        }
        let mut names: Vec<String> = offered.iter().map(|tool| tool.name.clone()).collect();
        let (host, identity) = (&self.shared.host, self.options.identity());
        host.catalog().figures().set_endpoint(&key, &self.options.reach.key());
        let offer = host.begin_offer(&key, SourceKind::Server, offered);
        let refused = self.taken(offer).await.unwrap_or_else(|| {
            tracing::error!(server, "cannot start a thread to take its tools");
            Vec::new()
        });
        for refused in &refused {
            tracing::warn!(server, tool = refused.tool, reason = refused.reason, "left out");
            // Of duplicates, the first stays.
            let at = names.iter().rposition(|name| identity_of(identity, name) == refused.tool);
            _ = at.map(|at| names.remove(at));
        }
        self.known.change(|details| {
            details.tools = names;
            details.held = held;
            details.changed = changed;
            details.refused =
                refused.into_iter().map(|it| format!("{}: {}", it.tool, it.reason)).collect();
        });
    }

    /// Compiles and takes the offer; returns the refused tools. After each [`SLICE`] the server
    /// requeues, so that a long list delays no other.
    async fn taken(&self, mut offer: Offer) -> Option<Vec<Refused>> {
        let mut has_more = true;
        while has_more {
            (offer, has_more) = apart::at_leisure(move || {
                let has_more = offer.prepare(SLICE);
                (offer, has_more)
            })
            .await?;
        }
        let host = self.shared.host.clone();
        apart::at_leisure(move || host.take_offer(offer)).await
    }

    /// A tool's definition for the host.
    fn definition(&self, tool: &Listed) -> Definition {
        let here = self.options.tools.get(&tool.name);
        let (mut declared, wrong) = tool.declared(here, self.options.trust);
        for wrong in wrong {
            let (server, tool) = (&*self.options.name, &*tool.name);
            tracing::warn!(server, tool, wrong, "ignored in a tool's metadata");
        }
        // Contradictions within the configuration were logged on reading it.
        if here.is_some_and(|here| here.floor_without_effect().is_none())
            && let Some((takes, needed)) = declared.floor_without_effect()
        {
            let (server, tool, needed) = (&*self.options.name, &*tool.name, needed.name());
            let takes_ms = takes.as_millis();
            tracing::warn!(
                server,
                tool,
                takes_ms,
                needed,
                "the configured tier has no effect: too low"
            );
        }
        // The server's hint is ignored: a tool that exfiltrates questions would deny being
        // open-world.
        declared.open_world = Some(here.and_then(|it| it.open_world).unwrap_or(true));
        Definition {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input: serde_json::Value::clone(&tool.input),
            output: tool.output.clone(),
            declared,
            handler: Arc::new(ServerTool {
                link: Arc::clone(&self.known.link),
                name: tool.wire.clone(),
            }),
        }
    }

    /// Decides which of `tools` to offer, in order, on a blocking thread.
    async fn admissions(&self, tools: &[Listed]) -> Vec<Admission> {
        let of = Admitting {
            at: self.address(),
            // A configured server's tools are accepted for all owners.
            accepted: ServerAddress { owner: self.added_by(), ..self.address() },
            trust: self.options.trust,
            here: self.options.tools.clone(),
        };
        let (shared, listed) = (Arc::clone(&self.shared), tools.to_vec());
        let found = spawn_blocking(move || of.admissions(&shared.remembered, &listed)).await;
        let (admissions, size) = found.unwrap_or_else(|error| {
            let server = &*self.options.name;
            tracing::error!(server, %error, "cannot compare its tools with the known ones");
            (vec![Admission::Held(Vec::new()); tools.len()], PinnedSize::default())
        });
        self.known.change(|details| details.pinned = size);
        admissions
    }

    pub fn tell_changes(&self, before: &[Listed], now: &[Listed]) {
        let names = |those: Vec<&Listed>| {
            let names = those.into_iter().map(|it| it.name.as_str()).collect::<Vec<_>>();
            one_line(&names.join(", "), LOGGED)
        };
        let missing = |from: &[Listed], tool: &Listed| !from.iter().any(|it| it.name == tool.name);
        let new = names(now.iter().filter(|tool| missing(before, tool)).collect());
        let gone = names(before.iter().filter(|tool| missing(now, tool)).collect());
        let changed = now.iter().filter(|tool| !missing(before, tool) && !before.contains(tool));
        let changed = names(changed.collect());
        if !(new.is_empty() && gone.is_empty() && changed.is_empty()) {
            tracing::info!(server = self.options.name, new, gone, changed, "tools have changed");
        }
    }
}

/// Input of the decision which tools to offer.
struct Admitting {
    at: ServerAddress,
    accepted: ServerAddress,
    trust: Trust,
    here: BTreeMap<String, Declared>,
}

impl Admitting {
    /// The decisions, and the pins to store from now on.
    fn admissions(
        &self,
        remembered: &RememberedServers,
        tools: &[Listed],
    ) -> (Vec<Admission>, PinnedSize) {
        let is_held = |tool: &Listed| !remembered.is_approved(&self.accepted, tool);
        remembered.with_pins(&self.at, |known| {
            let look = |tool: &Listed| match self.trust {
                Trust::Review if is_held(tool) => Admission::Held(Vec::new()),
                Trust::Review => match known.set(&tool.name, &tool.definition()) {
                    Ok(()) => Admission::Known,
                    Err(full) => Admission::Held(vec![full.to_string()]),
                },
                Trust::Auto => admit(known, tool, self.here.get(&tool.name)),
            };
            (tools.iter().map(look).collect(), known.size())
        })
    }
}
