//! What a server lists, put into the tool host.
//!
//! Entry method: [`Server::offer`]. **Never**: offers what waits for a person.

use std::sync::Arc;

use super::{
    definitions::Listed,
    options::{Reach, ServerAddress, Trust},
    pins::{Admission, admit},
    server::Server,
    status::way_to_trust,
    tool::ServerTool,
};
use crate::tools::{Definition, SourceKind, identity as identity_of, schema::apart};

impl Server {
    /// Puts its tools into the host, but for those that wait for approval.
    pub async fn offer(&self, tools: &[Listed]) {
        let server = &*self.options.name;
        let key = self.key();
        let (mut offered, mut held, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for (tool, admission) in tools.iter().zip(self.admissions(tools)) {
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
            let (tools, way_out) = (held.join(", "), way_to_trust(self.added_by(), server));
            let difference = changed.join("; ");
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
        let taker = host.clone();
        // Schemas of others are compiled where they hold up nobody.
        let refused = apart::at_leisure(move || taker.offer_of(&key, SourceKind::Server, offered));
        let refused = refused.await.unwrap_or_else(|| {
            tracing::error!(server, "its tools could not be taken: there was no thread for it");
            Vec::new()
        });
        for refused in &refused {
            tracing::warn!(server, tool = refused.tool, reason = refused.reason, "left out");
            // Of two with one name the first stays.
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

    /// A tool as the host takes it.
    fn definition(&self, tool: &Listed) -> Definition {
        let here = self.options.tools.get(&tool.name);
        let (mut declared, wrong) = tool.declared(here, self.options.trust);
        for wrong in wrong {
            let (server, tool) = (&*self.options.name, &*tool.name);
            tracing::warn!(server, tool, wrong, "ignored in a tool's metadata");
        }
        if let Reach::Http { .. } = self.options.reach {
            // Whatever it says: what it is asked leaves this machine.
            declared.open_world = Some(here.and_then(|it| it.open_world).unwrap_or(true));
        }
        Definition {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input: tool.input.clone(),
            output: tool.output.clone(),
            declared,
            handler: Arc::new(ServerTool {
                link: Arc::clone(&self.known.link),
                name: tool.wire.clone(),
            }),
        }
    }

    /// Which of `tools` are offered, in their order.
    fn admissions(&self, tools: &[Listed]) -> Vec<Admission> {
        let (remembered, at) = (&self.shared.remembered, self.address());
        // What is configured is accepted for everybody.
        let accepted = ServerAddress { owner: self.added_by(), ..at.clone() };
        let is_held = |tool: &Listed| !remembered.is_approved(&accepted, tool);
        remembered.with_pins(&at, |known| {
            let look = |tool: &Listed| match self.options.trust {
                Trust::Review if is_held(tool) => Admission::Held(Vec::new()),
                Trust::Review => {
                    known.set(&tool.name, tool.definition());
                    Admission::Known
                }
                Trust::Auto => admit(known, tool, self.options.tools.get(&tool.name)),
            };
            tools.iter().map(look).collect()
        })
    }

    pub fn tell_changes(&self, before: &[Listed], now: &[Listed]) {
        let names = |those: Vec<&Listed>| {
            those.into_iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
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
