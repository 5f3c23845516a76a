//! Calibration: measures tools before a turn needs them.
//!
//! Once its server has been ready for a while, a tool without figures (or a failing one) is called
//! up to five times, outside any turn: nothing is repeated, cached, shown or counted. Arguments
//! come from the configuration's probe, else the smallest that fit the schema. Tools that may
//! change something are called with a probe only. Servers are measured in parallel, the tools of
//! one server in turn; a call waits while turns use the server, at most [`PATIENCE`], then the tool
//! is skipped. One failed call discards the tool's measurement. The percentiles go into
//! [`Latency`](super::Latency), which derives the tier.

mod arguments;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep},
};

pub use arguments::{NoArguments, minimal};

use super::{
    Attachment, Authority, CallContext, CallError, CatalogEntry, Declared, Effects, Probed,
    Progress, ServerKey, Taint, Tool, ToolHost,
    context::Limit,
    percentiles,
    schema::{Mismatch, apart},
};
use crate::domain::{SessionId, Tier, TurnId, redact};

/// Calls of one tool. The first counts too: later ones may be served from the server's cache.
const CALLS: usize = 5;
/// No further call of a tool begins after this.
const LONG: Duration = Duration::from_secs(10);
/// Interval of checks whether turns still use a server.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for a busy server.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Calibrated {
    pub tool: Arc<str>,
    /// Arguments of its calls, redacted; `None`: it was not called.
    pub arguments: Option<Value>,
    pub calls: usize,
    pub found: CalibrationOutcome,
    /// Lowest tier before; `None`: withheld.
    pub before: Option<Tier>,
    /// Lowest tier afterwards; `None`: withheld.
    pub after: Option<Tier>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalibrationOutcome {
    Measured(Probed),
    Failed(String),
    Skipped(String),
}

/// Reason a probe failed.
#[derive(Debug, thiserror::Error)]
enum ProbeFailure {
    #[error("the program ends")]
    Ended,
    #[error("timed out after {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("{kind}: {0}", kind = .0.kind.name())]
    Call(CallError),
    #[error("its result does not match its output schema: {0}")]
    Result(Mismatch),
}

/// Reason a tool is not called.
#[derive(Debug, thiserror::Error)]
enum NotCalled {
    #[error("its probe is not an object")]
    ProbeIsNoObject,
    #[error("its probe does not fit: {0} (fix it in the config)")]
    ProbeDoesNotFit(Mismatch),
    #[error("{0} (real calls measure it, or a probe in the config)")]
    Forbidden(&'static str),
    #[error("cannot make arguments for it: {0} (give it a probe in the config)")]
    NoArguments(#[from] NoArguments),
    #[error("cannot start a thread to make arguments")]
    NoThread,
}

/// A name that matches no tool and no server.
#[derive(Debug, thiserror::Error)]
#[error("unknown tool or server '{0}' (see: glyphoxa tools list)")]
pub struct UnknownTool(String);

impl ToolHost {
    /// Measures the tools picked by `wanted` and updates their tiers; results are in order of
    /// identities. Cancel safe: finished measurements stay.
    pub async fn calibrate(&self, wanted: impl Fn(&Tool) -> bool + Send) -> Vec<Calibrated> {
        let snapshot = self.snapshot();
        let mut servers: BTreeMap<&str, Vec<&CatalogEntry>> = BTreeMap::new();
        for entry in snapshot.all().iter().filter(|entry| wanted(&entry.tool)) {
            servers.entry(entry.tool.server()).or_default().push(entry);
        }
        let all = servers.into_values().map(|tools| self.one_after_another(tools));
        let mut all: Vec<Calibrated> = join_all(all).await.into_iter().flatten().collect();
        all.sort_by(|a, b| a.tool.cmp(&b.tool));
        self.catalog().place();
        all
    }

    /// Measures the tools of `server` that have no figures or fail, and saves the results; for
    /// after [`ToolHost::offer`]. Cancel safe.
    pub async fn calibrate_new(&self, server: &ServerKey) -> Vec<Calibrated> {
        let now = Instant::now();
        let wanted = |tool: &Tool| {
            let standing = tool.latency.standing(now);
            tool.is_of(server) && (standing.measured.is_none() || standing.is_failing())
        };
        let all = self.calibrate(wanted).await;
        for calibrated in &all {
            let tool = &*calibrated.tool;
            match &calibrated.found {
                CalibrationOutcome::Measured(found) => {
                    tracing::debug!(tool, p50_ms = found.p50.as_secs_f64() * 1e3, "tool measured");
                }
                CalibrationOutcome::Failed(reason) => {
                    tracing::warn!(tool, reason, "tool cannot be measured")
                }
                CalibrationOutcome::Skipped(reason) => {
                    tracing::debug!(tool, reason, "tool is not measured")
                }
            }
        }
        let host = self.clone();
        if let Ok(Err(error)) = spawn_blocking(move || host.keep_figures()).await {
            tracing::warn!(%error, "measured figures of tools could not be saved");
        }
        all
    }

    async fn one_after_another(&self, tools: Vec<&CatalogEntry>) -> Vec<Calibrated> {
        let mut all = Vec::with_capacity(tools.len());
        for entry in tools {
            all.push(self.calibrate_one(entry).await);
        }
        all
    }

    async fn calibrate_one(&self, entry: &CatalogEntry) -> Calibrated {
        let tool = &entry.tool;
        let tier = || tool.latency.standing(Instant::now()).tier(&tool.declared);
        let before = tier();
        let (wanted, parameters) = (Arc::clone(tool), Arc::clone(&entry.spec.parameters));
        let made = apart::at_leisure(move || arguments_for(&wanted, &parameters)).await;
        let (arguments, calls, found) = match made.unwrap_or(Err(NotCalled::NoThread)) {
            Err(reason) => (None, 0, CalibrationOutcome::Skipped(reason.to_string())),
            Ok(arguments) => {
                let (calls, found) = self.time(tool, &arguments).await;
                let shown = Value::Object(redact::members(&arguments));
                ((calls > 0).then_some(shown), calls, found)
            }
        };
        if let CalibrationOutcome::Measured(figures) = found {
            let now = Instant::now();
            tool.latency.probed(now, figures);
            self.catalog().refresh_one(entry, &tool.latency.standing(now));
        }
        let tool = Arc::clone(&entry.tool.identity);
        Calibrated { tool, arguments, calls, found, before, after: tier() }
    }

    /// Calls `tool` up to [`CALLS`] times; returns the number of calls and the outcome.
    async fn time(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
    ) -> (usize, CalibrationOutcome) {
        let mut took = Vec::with_capacity(CALLS);
        let begun = Instant::now();
        while took.len() < CALLS && (took.is_empty() || begun.elapsed() < LONG) {
            if !self.is_quiet(tool).await {
                let reason = "turns keep its server busy (try again later)".to_owned();
                return (took.len(), CalibrationOutcome::Skipped(reason));
            }
            let called = Instant::now();
            match self.probe(tool, arguments).await {
                Ok(()) => took.push(called.elapsed()),
                Err(failure) => {
                    return (took.len() + 1, CalibrationOutcome::Failed(failure.to_string()));
                }
            }
        }
        (took.len(), CalibrationOutcome::Measured(percentiles(&mut took)))
    }

    /// One call outside any turn.
    async fn probe(&self, tool: &Tool, arguments: &Map<String, Value>) -> Result<(), ProbeFailure> {
        let cancel = self.inner.shutdown.child_token();
        let _dropped = cancel.clone().drop_guard();
        let context = CallContext {
            scope: self.scope.clone(),
            session: SessionId("calibration".to_owned()),
            turn: TurnId(0),
            authority: Authority::Operator,
            speaker: Arc::from("calibration"),
            by: None,
            deadline: Instant::now() + tool.max(),
            fresh: true,
            taint: Taint::default(),
            progress: Progress::default(),
            span: Default::default(),
            cancel: cancel.clone(),
            effects: Arc::new(Unseen),
        };
        let (max, started) = (tool.max(), Instant::now());
        let limit = Limit { quiet: max, until: started + max.max(Tier::Deep.ceiling()) };
        let call = tool.handler.call(&context, arguments);
        let call = limit.hold(started, &context.progress, call);
        let output = match cancel.run_until_cancelled(call).await {
            None => return Err(ProbeFailure::Ended),
            Some(Err(waited)) => return Err(ProbeFailure::TimedOut(waited)),
            Some(Ok(Err(error))) => return Err(ProbeFailure::Call(error)),
            Some(Ok(Ok(output))) => output,
        };
        let (Some(schema), Some(value)) = (&tool.output, output.structured) else { return Ok(()) };
        schema.check(value).await.map(drop).map_err(ProbeFailure::Result)
    }

    /// Waits until no turn uses the server of `measured`; false after [`PATIENCE`].
    async fn is_quiet(&self, measured: &Tool) -> bool {
        let server = ServerKey { owner: measured.owner, name: measured.server().to_owned() };
        let until = Instant::now() + PATIENCE;
        loop {
            let snapshot = self.snapshot();
            let mut tools = snapshot.all().iter().map(|entry| &entry.tool);
            if !tools.any(|tool| tool.is_of(&server) && tool.latency.is_running()) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            sleep(LOOK).await;
        }
    }
}

/// Identities matched by `names` (tools, servers, or prefixes followed by `*`); all if `names` is
/// empty. An unmatched name is an error.
pub fn picked(host: &ToolHost, names: &[String]) -> Result<BTreeSet<String>, UnknownTool> {
    let snapshot = host.snapshot();
    let tools = || snapshot.all().iter().map(|entry| &entry.tool);
    for name in names {
        if !tools().any(|tool| means(name, tool)) {
            return Err(UnknownTool(name.clone()));
        }
    }
    let is_wanted = |tool: &Tool| names.is_empty() || names.iter().any(|name| means(name, tool));
    Ok(tools().filter(|it| is_wanted(it)).map(|tool| tool.identity.to_string()).collect())
}

fn means(name: &str, tool: &Tool) -> bool {
    let identity = &*tool.identity;
    match name.strip_suffix('*') {
        Some(prefix) => identity.starts_with(prefix),
        None => name == identity || name == tool.server() || name == tool.bare_name(),
    }
}

/// Arguments for measuring a tool: its probe, else the smallest that fit its schema.
fn arguments_for(tool: &Tool, parameters: &Value) -> Result<Map<String, Value>, NotCalled> {
    let declared = &tool.declared;
    if let Some(probe) = &declared.probe {
        let fitting = tool.input.check_here(Value::Object(probe.clone()));
        return match fitting {
            Ok(Value::Object(arguments)) => Ok(arguments),
            Ok(_) => Err(NotCalled::ProbeIsNoObject),
            Err(what) => Err(NotCalled::ProbeDoesNotFit(what)),
        };
    }
    match forbidden(declared) {
        Some(reason) => Err(NotCalled::Forbidden(reason)),
        None => Ok(minimal(parameters, &tool.input)?),
    }
}

/// Reason not to call a tool without a probe; `None`: it may be called.
fn forbidden(declared: &Declared) -> Option<&'static str> {
    let reasons = [
        (declared.destructive == Some(true), "it may destroy something"),
        (declared.approval == Some(true), "the game master decides each call"),
        (declared.read_only == Some(false), "it changes something"),
        (!declared.may_repeat(), "nothing marks it as read-only or idempotent"),
    ];
    reasons.into_iter().find_map(|(is, reason)| is.then_some(reason))
}

/// True if a tool is measured automatically once its server is ready.
pub fn is_measured_by_itself(declared: &Declared) -> bool {
    declared.probe.is_some() || forbidden(declared).is_none()
}

/// Shows nothing, and declines questions.
struct Unseen;

impl Effects for Unseen {
    fn show(&self, _text: &str) {}

    fn attach(&self, _tool: &str, _attachment: &Attachment) -> bool {
        true
    }
}
