//! Reports as lines of text. Entry functions: [`cost_lines`], [`call_lines`].

use super::{
    calls::{CallReport, CallRow},
    costs::{CostReport, CostRow},
};
use crate::domain::revealed_name;

/// A month's costs, with at most `most` rows of each kind.
pub fn cost_lines(report: &CostReport, most: usize) -> Vec<String> {
    let CostReport { month, cost, requests, set_aside, services, npcs, tools, sessions } = report;
    let mut lines = vec![match requests {
        0 => format!("{month}: no costs (only services with a price in glyphoxa.yaml have any)"),
        _ => format!("{month}: {cost:.4} for {}", counted(*requests, "paid request")),
    }];
    if *set_aside >= 0.000_05 {
        lines.push(format!(
            "also counted toward the spending caps: {set_aside:.4} (reserved for requests to come, \
             lost in a crash, or spent with an older version)"
        ));
    }
    for (title, rows) in
        [("by service", services), ("by NPC", npcs), ("by tool", tools), ("by session", sessions)]
    {
        add_costs(&mut lines, title, rows, most);
    }
    lines
}

/// The calls of tools, with every row.
pub fn call_lines(report: &CallReport) -> Vec<String> {
    let CallReport { turns, all, tools, servers, npcs, sessions, services, unread } = report;
    let mut lines = vec![format!("{} of NPCs, {} with a call", counted(*turns, "turn"), all.turns)];
    // Its cost is not that of calls alone.
    lines.push(numbers(&CallRow { cost: None, ..all.clone() }));
    for (title, rows) in
        [("by tool", tools), ("by server", servers), ("by NPC", npcs), ("by session", sessions)]
    {
        if !rows.is_empty() {
            lines.push(title.to_owned());
        }
        lines.extend(rows.iter().map(|row| {
            let address = row.address.as_deref().map(|it| format!(" ({})", revealed_name(it)));
            let address = address.unwrap_or_default();
            format!("  {}{address}: {}", revealed_name(&row.name), numbers(row))
        }));
    }
    let total = all.cost.unwrap_or_default();
    let title = format!("cost of everything, models and voices too: {total:.4}");
    add_costs(&mut lines, &title, services, usize::MAX);
    if *unread > 0 {
        lines.push(format!("{} of logs cannot be read", counted(*unread, "line")));
    }
    lines
}

fn add_costs(lines: &mut Vec<String>, title: &str, rows: &[CostRow], most: usize) {
    if !rows.is_empty() {
        lines.push(title.to_owned());
    }
    lines.extend(rows.iter().take(most).map(|CostRow { name, cost, requests }| {
        format!("  {cost:.4}  {}, {}", revealed_name(name), counted(*requests, "request"))
    }));
    if let Some(more) = rows.len().checked_sub(most).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more"));
    }
}

fn numbers(row: &CallRow) -> String {
    let CallRow { calls, failed, cached, p50_ms, p99_ms, share, cost, .. } = row;
    let mut text = format!("{}, {failed} failed", counted(*calls, "call"));
    if *cached > 0 {
        text.push_str(&format!(", {cached} from the cache"));
    }
    if let (Some(p50), Some(p99)) = (p50_ms, p99_ms) {
        text.push_str(&format!(", p50 {p50:.0} ms, p99 {p99:.0} ms"));
    }
    if let Some(share) = share {
        text.push_str(&format!(", in {:.0} % of the turns", share * 100.0));
    }
    if let Some(cost) = cost.filter(|cost| *cost > 0.0) {
        text.push_str(&format!(", cost {cost:.4}"));
    }
    text
}

fn counted(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}
