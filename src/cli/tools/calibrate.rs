//! `glyphoxa tools calibrate`: measures harmless tools, and lists the skipped ones.

use std::{io::Write, time::Duration};

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Value;

use super::super::{DONE, FAILED, Failure, stdout};
use crate::{
    domain::Tier,
    tools::{
        Badge, Calibrated, CalibrationOutcome, Probed, ToolHost, calibrated_line, millis, picked,
        tag,
    },
};

#[derive(Args)]
pub struct Arguments {
    /// Tools ("rules-lookup.get_rule") or servers ("rules-lookup") [default: all].
    #[arg(value_name = "TOOL|SERVER")]
    wanted: Vec<String>,
    /// Print one JSON object per tool.
    #[arg(long)]
    json: bool,
}

/// Result of one tool; durations in ms.
#[derive(Serialize)]
struct CalibrationLine<'a> {
    tool: &'a str,
    status: &'static str,
    /// Why it was skipped or failed.
    reason: Option<&'a str>,
    arguments: Option<&'a Value>,
    calls: usize,
    p50_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
    badge: Option<&'static str>,
    /// Lowest tier it was offered in; null: withheld.
    tier_before: Option<Tier>,
    tier_after: Option<Tier>,
    tag: &'static str,
}

impl<'a> CalibrationLine<'a> {
    fn of(calibrated: &'a Calibrated) -> Self {
        let (status, reason, measured) = match &calibrated.found {
            CalibrationOutcome::Measured(measured) => ("measured", None, Some(measured)),
            CalibrationOutcome::Failed(reason) => ("failed", Some(reason.as_str()), None),
            CalibrationOutcome::Skipped(reason) => ("skipped", Some(reason.as_str()), None),
        };
        let figure = |get: fn(&Probed) -> Duration| measured.map(|figures| millis(get(figures)));
        Self {
            tool: &calibrated.tool,
            status,
            reason,
            arguments: calibrated.arguments.as_ref(),
            calls: calibrated.calls,
            p50_ms: figure(|it| it.p50),
            p95_ms: figure(|it| it.p95),
            p99_ms: figure(|it| it.p99),
            badge: measured.map(|it| Badge::of(it.p50).name()),
            tier_before: calibrated.before,
            tier_after: calibrated.after,
            tag: tag(calibrated.after),
        }
    }
}

/// Measures, prints and stores figures; exit status 1 if a tool named in the arguments failed.
pub async fn run(host: &ToolHost, arguments: &Arguments) -> Result<u8, Failure> {
    let wanted = picked(host, &arguments.wanted).map_err(Failure::usage)?;
    let progress = ProgressBar::new_spinner().with_message("measuring tools …");
    progress.enable_steady_tick(Duration::from_millis(100));
    let measured = tokio::select! {
        measured = host.calibrate(|tool| wanted.contains(&*tool.identity)) => Some(measured),
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            None
        }
    };
    progress.finish_and_clear();
    // A stopped run has measured something all the same.
    host.keep_figures()?;
    let Some(measured) = measured else {
        return Err(Failure::Failed(anyhow::anyhow!("stopped; the measurements so far are saved")));
    };
    let mut out = stdout();
    for calibrated in &measured {
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(&CalibrationLine::of(calibrated))?)?;
        } else {
            writeln!(out, "{}", calibrated_line(calibrated))?;
        }
    }
    let failed = measured.iter().any(|it| matches!(it.found, CalibrationOutcome::Failed(_)));
    Ok(if failed && !arguments.wanted.is_empty() { FAILED } else { DONE })
}
