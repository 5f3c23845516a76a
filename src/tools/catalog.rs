//! Every tool there is, and the prepared lists of what each NPC may see at each tier.
//!
//! Entry type: [`Catalog`]. **Never**: changes after it was built.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{CallContext, CallError, CallOutput};
use crate::domain::{Npc, Tier, ToolSpec};

/// A tool and how it is run.
pub struct Tool {
    /// What a model sees.
    pub spec: ToolSpec,
    /// Expected duration (p50).
    pub estimated: Duration,
    /// Hard limit (p99 and then some).
    pub max: Duration,
    /// Lowest tier it is offered in.
    pub floor: Tier,
    /// It changes nothing and may run before the utterance is final.
    pub read_only: bool,
    /// Runs it.
    pub handler: Arc<dyn Handler>,
}

/// Runs one built-in tool.
pub trait Handler: Send + Sync {
    /// Answers one call. Cancel safe: dropping the future ends it.
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>>;
}

/// What one NPC may see at one tier, in a stable order.
pub struct VisibleTools {
    /// The list a model gets.
    pub specs: Arc<[ToolSpec]>,
    /// The longest expected duration among them.
    pub slowest: Duration,
}

/// All tools and the prepared lists.
pub struct Catalog {
    tools: Vec<Tool>,
    prepared: HashMap<String, [Arc<VisibleTools>; 3]>,
    nothing: Arc<VisibleTools>,
}

impl Catalog {
    /// Prepares the lists of `npcs` over `tools`.
    pub fn new(mut tools: Vec<Tool>, npcs: &[Arc<Npc>]) -> Self {
        tools.sort_by(|a, b| a.spec.identity.cmp(&b.spec.identity));
        let prepared = npcs
            .iter()
            .map(|npc| {
                let lists = Tier::ALL.map(|tier| {
                    Arc::new(VisibleTools::of(tools.iter().filter(|tool| {
                        tool.floor <= tier
                            && listed(&npc.tools, &tool.spec)
                            && !listed(&npc.policy.blocklist, &tool.spec)
                    })))
                });
                (npc.name.clone(), lists)
            })
            .collect();
        Self { tools, prepared, nothing: Arc::new(VisibleTools::of(std::iter::empty())) }
    }

    /// The prepared list of `npc` at `tier`; waits for nothing.
    pub fn visible(&self, npc: &str, tier: Tier) -> &Arc<VisibleTools> {
        let index = match tier {
            Tier::Fast => 0,
            Tier::Standard => 1,
            Tier::Deep => 2,
        };
        self.prepared.get(npc).map_or(&self.nothing, |lists| &lists[index])
    }

    /// Those of `list` whose expected duration fits into `left`.
    pub fn fitting(&self, list: &VisibleTools, left: Duration) -> VisibleTools {
        VisibleTools::of(
            self.tools
                .iter()
                .filter(|tool| list.contains(&tool.spec.name) && tool.estimated <= left),
        )
    }

    /// The tool a model calls by `name`.
    pub fn by_model_name(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.spec.name == name)
    }
}

impl VisibleTools {
    fn of<'a>(tools: impl Iterator<Item = &'a Tool>) -> Self {
        let tools: Vec<&Tool> = tools.collect();
        Self {
            specs: tools.iter().map(|tool| tool.spec.clone()).collect(),
            slowest: tools.iter().map(|tool| tool.estimated).max().unwrap_or_default(),
        }
    }

    /// Whether a model that got this list may call `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == name)
    }
}

/// Whether a whitelist or blocklist names the tool: identity, bare name, `server.*`,
/// `server.prefix*`.
fn listed(list: &[String], spec: &ToolSpec) -> bool {
    list.iter().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => spec.identity.starts_with(prefix),
        None => {
            entry == &spec.identity
                || spec.identity.split_once('.').is_some_and(|(_, bare)| bare == entry)
        }
    })
}
