//! Topics of a turn, as categories of tools.
//!
//! Entry function: [`of`]. **Never**: chooses a tool.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    logic::words::Words,
    tools::{CallRecord, ToolHost, VisibleTools},
};

/// The categories of what was called, and those of `visible` tools that were named in what was
/// `said`, each once.
pub fn of(
    said: &str,
    visible: &VisibleTools,
    calls: &[CallRecord],
    host: &ToolHost,
) -> Vec<Arc<str>> {
    let snapshot = host.snapshot();
    let called = calls.iter().filter_map(|record| snapshot.find(&record.tool));
    let said = Words::of(said);
    let is_named = |category: &str| {
        let name = Words::of(category);
        !name.is_empty() && name.iter().all(|word| said.iter().any(|its| its == word))
    };
    let known: BTreeSet<&str> = visible.iter().flat_map(|it| it.tool.categories()).collect();
    let named = known.into_iter().filter(|category| is_named(category));
    let all: BTreeSet<&str> = called.flat_map(|it| it.tool.categories()).chain(named).collect();
    all.into_iter().map(Arc::from).collect()
}
