//! Results of calls, until they are sent.
//!
//! Entry type: [`Results`]. **Never**: keeps a result whose call the service has taken back.

use std::{collections::HashMap, mem};

use super::orders::CallResult;
use crate::domain::{CallId, Calling, ToolSpec};

/// Calls of a session and their results.
#[derive(Debug)]
pub struct Results {
    /// Effect of a call of each tool on the answer.
    tools: HashMap<String, Calling>,
    /// Calls whose results are wanted, with the names of their tools.
    owed: HashMap<String, String>,
    /// Results that wait to be sent.
    waiting: Vec<CallResult>,
}

impl Results {
    /// No calls yet of `tools`.
    pub fn new(tools: &[ToolSpec]) -> Self {
        let tools = tools.iter().map(|tool| (tool.name.to_string(), tool.calling)).collect();
        Self { tools, owed: HashMap::new(), waiting: Vec::new() }
    }

    /// Effect of a call of `tool` on the answer; the default for an unknown tool.
    pub fn calling(&self, tool: &str) -> Calling {
        self.tools.get(tool).copied().unwrap_or_default()
    }

    /// The result of this call of `tool` is wanted.
    pub fn owe(&mut self, call: &CallId, tool: &str) {
        self.owed.insert(call.0.clone(), tool.to_owned());
    }

    /// Takes a result, unless its call was taken back.
    pub fn add(&mut self, id: String, output: String) {
        if let Some(name) = self.owed.remove(&id) {
            let calling = self.calling(&name);
            self.waiting.push(CallResult { id, name, output, calling });
        }
    }

    /// None is owed, and those that wait are of calls that only record.
    pub fn are_silent(&self) -> bool {
        self.owed.is_empty() && self.waiting.iter().all(|it| it.calling == Calling::Records)
    }

    /// None waits to be sent.
    pub const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The results that wait.
    pub fn take(&mut self) -> Vec<CallResult> {
        mem::take(&mut self.waiting)
    }

    /// Drops these calls with their results; those of them that were owed.
    pub fn take_back(&mut self, ids: &[String]) -> Vec<CallId> {
        self.waiting.retain(|result| !ids.contains(&result.id));
        let owed = ids.iter().filter(|id| self.owed.remove(*id).is_some());
        owed.map(|id| CallId(id.clone())).collect()
    }
}
