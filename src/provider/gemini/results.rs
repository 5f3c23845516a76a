//! Results of calls, until they are sent.
//!
//! Entry type: [`Results`]. **Never**: keeps a result whose call was cancelled.

use std::{collections::HashMap, mem};

use super::orders::CallResult;
use crate::domain::{CallId, Calling, ToolSpec};

#[derive(Debug)]
pub struct Results {
    tools: HashMap<String, Calling>,
    /// Tool names of calls without a result.
    owed: HashMap<String, String>,
    waiting: Vec<CallResult>,
}

impl Results {
    pub fn new(tools: &[ToolSpec]) -> Self {
        let tools = tools.iter().map(|tool| (tool.name.to_string(), tool.calling)).collect();
        Self { tools, owed: HashMap::new(), waiting: Vec::new() }
    }

    /// Effect of a call of `tool` on the answer; the default for an unknown tool.
    pub fn calling(&self, tool: &str) -> Calling {
        self.tools.get(tool).copied().unwrap_or_default()
    }

    pub fn owe(&mut self, call: &CallId, tool: &str) {
        self.owed.insert(call.0.clone(), tool.to_owned());
    }

    /// Adds a result, unless its call was cancelled.
    pub fn add(&mut self, id: String, output: String) {
        if let Some(name) = self.owed.remove(&id) {
            let calling = self.calling(&name);
            self.waiting.push(CallResult { id, name, output, calling });
        }
    }

    /// No result is missing, and all unsent ones belong to calls that only record.
    pub fn are_silent(&self) -> bool {
        self.owed.is_empty() && self.waiting.iter().all(|it| it.calling == Calling::Records)
    }

    pub const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn take(&mut self) -> Vec<CallResult> {
        mem::take(&mut self.waiting)
    }

    /// Cancels these calls; returns those without a result.
    pub fn take_back(&mut self, ids: &[String]) -> Vec<CallId> {
        self.waiting.retain(|result| !ids.contains(&result.id));
        let owed = ids.iter().filter(|id| self.owed.remove(*id).is_some());
        owed.map(|id| CallId(id.clone())).collect()
    }
}
