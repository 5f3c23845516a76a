//! Topics of a turn: categories of tools.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    logic::words::Words,
    tools::{CallRecord, ToolHost, VisibleTools},
};

/// Categories of called tools and of `visible` tools named in `said`, without repetition.
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
