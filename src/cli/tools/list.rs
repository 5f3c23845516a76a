//! `glyphoxa tools list`: every tool with its tier and figures.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use tokio::time::Instant;

use super::super::{DONE, Failure, stdout};
use crate::{
    domain::Tier,
    tools::{Badge, CatalogEntry, ToolHost, millis, tag, tool_line},
};

#[derive(Args)]
pub struct Arguments {
    /// Print one JSON object per tool.
    #[arg(long)]
    json: bool,
}

/// A listed tool; durations in ms.
#[derive(Serialize)]
struct CatalogLine<'a> {
    identity: &'a str,
    name: &'a str,
    source: &'static str,
    category: &'a str,
    /// Including the first.
    categories: Vec<&'a str>,
    /// Lowest tier it is offered in; null: withheld.
    tier: Option<Tier>,
    floor: Option<Tier>,
    estimated_duration_ms: Option<f64>,
    max_duration_ms: f64,
    measured_duration_ms: Option<f64>,
    measured_p99_ms: Option<f64>,
    idempotent: bool,
    read_only: bool,
    destructive: bool,
    cacheable_seconds: f64,
    badge: Option<&'static str>,
    tag: &'static str,
    calls: usize,
    failing: bool,
    approval: bool,
    follow_up: bool,
    hash: String,
    description: &'a str,
}

impl<'a> CatalogLine<'a> {
    fn of(entry: &'a CatalogEntry) -> Self {
        let (tool, declared) = (&entry.tool, &entry.tool.declared);
        let standing = tool.latency.standing(Instant::now());
        let measured = standing.measured;
        Self {
            identity: &tool.identity,
            name: &entry.spec.name,
            source: tool.source.name(),
            category: tool.categories().next().unwrap_or_default(),
            categories: tool.categories().collect(),
            tier: entry.tier,
            floor: declared.floor,
            estimated_duration_ms: declared.estimated.map(millis),
            max_duration_ms: millis(tool.max()),
            measured_duration_ms: measured.map(|it| it.p50).or(declared.measured).map(millis),
            measured_p99_ms: measured.map(|it| it.p99).or(declared.measured_p99).map(millis),
            idempotent: declared.idempotent == Some(true),
            read_only: declared.read_only == Some(true),
            destructive: declared.destructive == Some(true),
            cacheable_seconds: declared.cacheable.unwrap_or_default().as_secs_f64(),
            badge: measured.map(|it| Badge::of(it.p50).name()),
            tag: tag(entry.tier),
            calls: standing.calls,
            failing: standing.is_failing(),
            approval: declared.approval == Some(true),
            follow_up: declared.follow_up == Some(true),
            hash: format!("{:016x}", tool.hash),
            description: &entry.spec.description,
        }
    }
}

/// Prints all tools, and rejected ones.
pub fn run(host: &ToolHost, arguments: &Arguments) -> Result<u8, Failure> {
    let snapshot = host.snapshot();
    let mut out = stdout();
    for entry in snapshot.all() {
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(&CatalogLine::of(entry))?)?;
            continue;
        }
        writeln!(out, "{}", tool_line(entry, Instant::now()))?;
    }
    for refused in host.refused() {
        super::super::complain(&format!("left out: {}: {}", refused.tool, refused.reason));
    }
    Ok(DONE)
}
