//! Tools and their figures as lines of text.

use std::time::Duration;

use tokio::time::Instant;

use super::{Badge, Reported, tag};
use crate::{
    domain::Tier,
    tools::{Calibrated, CalibrationOutcome, CatalogEntry},
};

/// Milliseconds, to the microsecond.
pub fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// A tool with tier, speed and health.
pub fn tool_line(entry: &CatalogEntry, now: Instant) -> String {
    let (tool, declared) = (&entry.tool, &entry.tool.declared);
    let standing = tool.latency.standing(now);
    let figure = match (standing.measured, declared.measured, declared.estimated) {
        (Some(it), _, _) => {
            let (p50, p99) = (millis(it.p50), millis(it.p99));
            let badge = Badge::of(it.p50).name();
            format!("{p50:.1} ms measured (p99 {p99:.1} ms), {badge}")
        }
        (None, Some(p50), _) => format!("{:.1} ms measured", millis(p50)),
        (None, None, Some(expected)) => format!("{:.0} ms declared", millis(expected)),
        (None, None, None) => "not measured yet".to_owned(),
    };
    let marks = [
        (declared.read_only == Some(true), "reads only"),
        (declared.destructive == Some(true), "may destroy"),
        (declared.approval == Some(true), "asks the game master"),
        (standing.is_failing(), "failing"),
    ];
    let marks: String =
        marks.iter().filter(|(is, _)| *is).map(|(_, mark)| format!(", {mark}")).collect();
    let tier = entry.tier.map_or("withheld", Tier::name);
    format!("{:<32} {tier:<9} {figure}{marks}", tool.identity)
}

/// Result of measuring a tool; a second line has the arguments.
pub fn calibrated_line(calibrated: &Calibrated) -> String {
    let mut line = format!("{:<32} ", calibrated.tool);
    match &calibrated.found {
        CalibrationOutcome::Measured(it) => line.push_str(&format!(
            "p50 {} ms, p95 {} ms, p99 {} ms, {}, {}",
            millis(it.p50),
            millis(it.p95),
            millis(it.p99),
            Badge::of(it.p50).name(),
            tag(calibrated.after)
        )),
        CalibrationOutcome::Failed(reason) => line.push_str(&format!("failed: {reason}")),
        CalibrationOutcome::Skipped(reason) => line.push_str(&format!("not called: {reason}")),
    }
    if calibrated.before != calibrated.after {
        let name = |tier: Option<Tier>| tier.map_or("withheld", Tier::name);
        let (was, is) = (name(calibrated.before), name(calibrated.after));
        line.push_str(&format!(" (was {was}, is {is})"));
    }
    if let Some(arguments) = &calibrated.arguments {
        line.push_str(&format!("\n{:<32} called {} × with {arguments}", "", calibrated.calls));
    }
    line
}

/// A place on the leaderboard; `from` names the source of the figures.
pub fn reported_line(place: usize, from: &str, tool: &Reported) -> String {
    let Reported { tool, p50_ms, p99_ms, calls, badge, tag, .. } = tool;
    format!(
        "{place:>3}. {tool:<32} p50 {p50_ms:.3} ms, p99 {p99_ms:.3} ms, {calls} calls, {badge}, \
         {tag}, {from}"
    )
}
