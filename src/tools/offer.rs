//! The offer of a server, compiled piece by piece so that the caller can let other servers go
//! first. Foreign schemas may take long to compile: an offer spends at most [`LONGEST`] and one
//! more schema on it.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{
    Definition, Refused, ServerKey, SourceKind, Tool, figures::Endpoint, names, tool::Origin,
};

/// Most parts of all schemas of one server; each takes up to half a KiB.
const PARTS: usize = 100_000;
/// Longest total compile time of one offer.
const LONGEST: Duration = Duration::from_secs(2);

/// A server's tools on their way into the catalog.
pub struct Offer {
    pub(super) server: ServerKey,
    pub(super) kind: SourceKind,
    endpoint: Arc<Endpoint>,
    waiting: VecDeque<Definition>,
    names: HashSet<String>,
    parts: usize,
    spent: Duration,
    pub(super) taken: Vec<Tool>,
    pub(super) refused: Vec<Refused>,
}

impl Offer {
    pub(super) fn new(
        server: &ServerKey,
        kind: SourceKind,
        endpoint: Arc<Endpoint>,
        tools: Vec<Definition>,
    ) -> Self {
        Self {
            server: server.clone(),
            kind,
            endpoint,
            taken: Vec::with_capacity(tools.len()),
            waiting: tools.into(),
            names: HashSet::new(),
            parts: 0,
            spent: Duration::ZERO,
            refused: Vec::new(),
        }
    }

    /// Compiles tools for about `slice`; true if some remain.
    pub fn prepare(&mut self, slice: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < slice {
            let Some(definition) = self.waiting.pop_front() else { return false };
            match self.spent + begun.elapsed() > LONGEST && self.kind == SourceKind::Server {
                true => self.leave_out(&definition.name, too_long()),
                false => self.take(definition),
            }
        }
        self.spent += begun.elapsed();
        !self.waiting.is_empty()
    }

    fn take(&mut self, definition: Definition) {
        let name = definition.name.clone();
        let identity = names::identity(&self.server.name, &name);
        let origin = Origin { server: &self.server, kind: self.kind, endpoint: &self.endpoint };
        match Tool::new(&origin, definition) {
            Ok(_) if self.names.contains(&identity) => {
                self.leave_out(&name, "the server lists it twice".to_owned());
            }
            Ok(tool) if self.parts + tool.parts() > PARTS => {
                let why =
                    format!("all schemas of the server together have more than {PARTS} parts");
                self.leave_out(&name, why);
            }
            Ok(tool) => {
                self.parts += tool.parts();
                self.names.insert(identity);
                self.taken.push(tool);
            }
            Err(error) => self.leave_out(&name, error.to_string()),
        }
    }

    fn leave_out(&mut self, name: &str, reason: String) {
        let tool = names::identity(&self.server.name, name);
        self.refused.push(Refused { tool, reason });
    }
}

fn too_long() -> String {
    format!("the schemas before it in the server's list took {} s to compile", LONGEST.as_secs())
}
