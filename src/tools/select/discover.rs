//! The tool that finds more tools, and what its calls have found.

use std::sync::Arc;

use crate::tools::CallRecord;

/// Identity of the tool that finds more tools.
pub const DISCOVER: &str = "tools.discover_tools";

/// Names of the tools that `record` has found, if it was a search for tools.
pub fn found_in(record: &CallRecord) -> Vec<Arc<str>> {
    let structured = match &record.result {
        Ok(output) if *record.tool == *DISCOVER => output.structured.as_ref(),
        _ => None,
    };
    let tools = structured.and_then(|it| it.get("tools")).and_then(serde_json::Value::as_array);
    let names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
    names.map(Arc::from).collect()
}
