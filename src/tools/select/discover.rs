//! The tool that finds more tools, and its results.

use std::sync::Arc;

use crate::tools::CallRecord;

pub const DISCOVER: &str = "tools.discover_tools";

/// Names of the tools found by `record`; empty for other calls.
pub fn found_in(record: &CallRecord) -> Vec<Arc<str>> {
    let structured = match &record.result {
        Ok(output) if *record.tool == *DISCOVER => output.structured.as_ref(),
        _ => None,
    };
    let tools = structured.and_then(|it| it.get("tools")).and_then(serde_json::Value::as_array);
    let names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
    names.map(Arc::from).collect()
}
