//! One admitted call: kept answers, repeats, deadlines, approval, results after the turn.
//!
//! Entry type: [`Run`]. **Never**: repeats a call that may have side effects.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use rand::RngExt;
use serde_json::{Map, Value};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    ApprovalRequest, CallContext, CallError, CallErrorKind, CallOutput, CallRecord, CatalogEntry,
    Decision, FollowUp, SourceKind, cache, latency::Ending, limit::Limit, output::framed,
    state::HostState,
};
use crate::domain::{ToolCall, redact};

/// Longest wait for the game master's decision.
const APPROVAL_EXPIRES: Duration = Duration::from_secs(60);
/// Most attempts of a call that may be repeated.
const ATTEMPTS: u32 = 3;
/// Wait before the first repeat; doubled each time, half of it at random.
const BACKOFF: Duration = Duration::from_millis(100);

/// A tool and arguments that fit its schema.
pub struct Ready {
    /// The tool as the catalog places it now.
    pub entry: Arc<CatalogEntry>,
    /// The arguments, coerced.
    pub arguments: Map<String, Value>,
}

/// One admitted call.
pub struct Run {
    /// The host that runs it.
    pub state: Arc<HostState>,
    /// The turn it belongs to.
    pub context: CallContext,
    /// The tool and its arguments.
    pub ready: Ready,
    /// As the model made it.
    pub call: ToolCall,
}

/// How a call ended.
struct Ended {
    result: Result<CallOutput, CallError>,
    cached: bool,
    attempts: u32,
}

impl Run {
    /// Hard limit of the call.
    pub fn max(&self) -> Duration {
        self.ready.entry.tool.max()
    }

    /// Why the game master must be asked first. Who calls as a person needs nobody's leave.
    pub fn needs_approval(&self) -> Option<&'static str> {
        self.context.authority.caller()?;
        let declared = &self.ready.entry.tool.declared;
        if declared.approval == Some(true) {
            return Some("this tool always asks");
        }
        let destructive = declared.destructive == Some(true);
        (destructive && self.context.taint.is_set())
            .then_some("it may destroy something, and the turn has read data from outside")
    }

    /// Whether its result may come as a turn of its own.
    pub fn may_be_late(&self) -> bool {
        self.context.authority.caller().is_some()
            && self.ready.entry.tool.declared.follow_up == Some(true)
    }

    /// Runs it within `limit`. Cancel safe.
    pub async fn within(self, limit: Limit, started: Instant) -> CallRecord {
        let cancel = self.context.cancel.clone();
        let mut attempts = 0;
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(CallError::new(CallErrorKind::Cancelled, "the turn ended"))
            }
            answer = limit.hold(started, &self.context.progress, self.answer(&mut attempts)) => {
                answer.unwrap_or_else(|waited| {
                    let what = format!("timed out after {} ms", waited.as_millis());
                    Err(CallError::new(CallErrorKind::Timeout, what))
                })
            }
        };
        let ended = match ended {
            Ok((output, cached)) => Ended { result: self.fitting(output).await, cached, attempts },
            Err(error) => Ended { result: Err(error), cached: false, attempts },
        };
        self.finish(ended, started)
    }

    /// Asks the game master in the background; the turn goes on without the answer.
    pub fn after_approval(self, reason: &'static str, started: Instant) -> CallRecord {
        let pending = self.pending(
            "waiting for the game master's approval (go on without it; its result may come later)",
            started,
        );
        let inner = Arc::clone(&self.state);
        let shutdown = inner.shutdown.clone();
        inner.late.spawn(async move {
            _ = shutdown.run_until_cancelled(self.ask_and_run(reason)).await;
        });
        pending
    }

    /// Waits as long as the turn allows; what comes later is told in a turn of its own.
    pub async fn perhaps_late(self, started: Instant) -> CallRecord {
        let turn = self.context.clone();
        let pending =
            self.pending("still at work (go on without it; its result comes later)", started);
        let inner = Arc::clone(&self.state);
        let own = inner.shutdown.child_token();
        let (done, answer) = oneshot::channel();
        let mut run = self;
        run.context.cancel = own.clone();
        inner.late.spawn(async move {
            let limit = Limit::hard(run.max(), Instant::now());
            let (context, call) = (run.context.clone(), run.call.clone());
            let record = run.within(limit, started).await;
            if let Err(late) = done.send(record) {
                deliver(&context, call, late);
            }
        });
        tokio::select! {
            biased;
            () = turn.cancel.cancelled() => own.cancel(),
            answer = timeout_at(turn.deadline, answer) => {
                if let Ok(Ok(record)) = answer {
                    return record;
                }
            }
        }
        pending
    }

    async fn ask_and_run(mut self, reason: &'static str) {
        let Some(caller) = self.context.authority.caller().cloned() else { return };
        let request = ApprovalRequest {
            npc: caller.npc,
            tool: Arc::clone(&self.ready.entry.tool.identity),
            arguments: redact::members(&self.ready.arguments),
            reason,
        };
        let asked = self.context.effects.approve(request);
        let decision = timeout(APPROVAL_EXPIRES, asked).await;
        let (context, call) = (self.context.clone(), self.call.clone());
        let started = Instant::now();
        let refusal = match decision {
            Ok(Decision::Approve) => None,
            Ok(Decision::Edit(edited)) => self.take_edited(edited).await.err(),
            Ok(Decision::Deny(reason)) => Some(CallError::new(CallErrorKind::Denied, reason)),
            Err(_) => {
                let what = "the game master did not decide within 60 s";
                Some(CallError::new(CallErrorKind::Expired, what))
            }
        };
        let record = match refusal {
            Some(error) => {
                let ended = Ended { result: Err(error), cached: false, attempts: 0 };
                self.finish(ended, started)
            }
            None => {
                self.context.cancel = self.state.shutdown.child_token();
                let limit = Limit::hard(self.max(), started);
                self.within(limit, started).await
            }
        };
        deliver(&context, call, record);
    }

    /// The game master's own arguments, held against the schema; what was hidden from the eye
    /// stays as the model wrote it.
    async fn take_edited(&mut self, edited: Map<String, Value>) -> Result<(), CallError> {
        let shown = redact::members(&self.ready.arguments);
        let unchanged = |(key, value): (String, Value)| match self.ready.arguments.get(&key) {
            Some(own) if shown.get(&key) == Some(&value) => (key, own.clone()),
            _ => (key, value),
        };
        let edited: Map<String, Value> = edited.into_iter().map(unchanged).collect();
        match self.ready.entry.tool.input.check(Value::Object(edited)).await {
            Ok(Value::Object(arguments)) => self.ready.arguments = arguments,
            Ok(_) => {}
            Err(what) => {
                return Err(CallError::new(CallErrorKind::InvalidArguments, what.to_string()));
            }
        }
        Ok(())
    }

    /// A kept answer, or one from the tool; `true`: it was kept.
    async fn answer(&self, attempts: &mut u32) -> Result<(CallOutput, bool), CallError> {
        let tool = &self.ready.entry.tool;
        match tool.declared.cacheable.filter(|lifetime| !lifetime.is_zero()) {
            Some(lifetime) => {
                let key = cache::key(&tool.identity, &self.ready.arguments);
                let cache = &self.state.cache;
                cache.get(key, lifetime, self.context.fresh, self.repeated(attempts)).await
            }
            None => self.repeated(attempts).await.map(|output| (output, false)),
        }
    }

    /// Sends the call, and repeats it where that is harmless and may help.
    async fn repeated(&self, attempts: &mut u32) -> Result<CallOutput, CallError> {
        let tool = &self.ready.entry.tool;
        let allowed = if tool.declared.may_repeat() { ATTEMPTS } else { 1 };
        let _running = tool.latency.running();
        loop {
            *attempts += 1;
            match tool.handler.call(&self.context, &self.ready.arguments).await {
                Err(error) if error.kind.may_pass() && *attempts < allowed => {
                    sleep(self.backoff(*attempts)).await;
                }
                answer => return answer,
            }
        }
    }

    fn backoff(&self, attempt: u32) -> Duration {
        let whole = BACKOFF * 2_u32.saturating_pow(attempt.saturating_sub(1));
        let mut jitter = self.state.jitter.lock().unwrap_or_else(PoisonError::into_inner);
        whole.mul_f64(jitter.random_range(0.5..=1.0))
    }

    /// Checks a structured result against the schema the tool declares.
    async fn fitting(&self, mut output: CallOutput) -> Result<CallOutput, CallError> {
        let (Some(schema), Some(value)) = (&self.ready.entry.tool.output, &output.structured)
        else {
            return Ok(output);
        };
        match schema.check(value.clone()).await {
            Ok(checked) => {
                output.structured = Some(checked);
                Ok(output)
            }
            Err(what) => {
                let what = format!("the tool's result is not what it declares: {what}");
                Err(CallError::new(CallErrorKind::InvalidResult, what))
            }
        }
    }

    /// Counts the call and makes its record.
    fn finish(self, ended: Ended, started: Instant) -> CallRecord {
        let (entry, context) = (&self.ready.entry, &self.context);
        let took = started.elapsed();
        self.count(&ended, took);
        let from_outside = entry.tool.source != SourceKind::BuiltIn;
        let text = match &ended.result {
            Ok(output) => {
                for attachment in output.attachments() {
                    context.effects.attach(&entry.tool.identity, attachment);
                }
                output.for_model()
            }
            Err(error) => CallOutput::text(format!("error: {error}")).for_model(),
        };
        let foreign = match &ended.result {
            Ok(_) => true,
            Err(error) => error.kind == CallErrorKind::Tool,
        };
        let for_model = if from_outside && foreign {
            context.taint.set();
            framed(&entry.tool.identity, &text)
        } else {
            text
        };
        CallRecord {
            id: self.call.id,
            tool: Arc::clone(&entry.tool.identity),
            arguments: Value::Object(redact::members(&self.ready.arguments)),
            result: ended.result,
            for_model,
            took,
            tier: entry.tier,
            cached: ended.cached,
            attempts: ended.attempts,
            pending: false,
        }
    }

    /// Adds the call to the tool's figures; kept answers and calls that never went out say
    /// nothing about it.
    fn count(&self, ended: &Ended, took: Duration) {
        let entry = &self.ready.entry;
        let ending = match &ended.result {
            _ if ended.cached || ended.attempts == 0 => return,
            Ok(_) => Ending::Answered,
            Err(error) => match error.kind {
                CallErrorKind::Cancelled => return,
                CallErrorKind::Timeout => Ending::TimedOut,
                // A built-in that refuses has done its work, and so has a manifest's server that
                // rejects the arguments.
                CallErrorKind::Tool if entry.tool.source != SourceKind::Server => Ending::Answered,
                CallErrorKind::Tool => Ending::Failed,
                kind if kind.is_fault() => Ending::Failed,
                _ => Ending::Answered,
            },
        };
        let now = Instant::now();
        entry.tool.latency.record(now, took, ending);
        let standing = entry.tool.latency.standing(now);
        self.state.catalog.refresh_one(entry, &standing);
    }

    /// The record of a call whose result comes later.
    fn pending(&self, text: &str, started: Instant) -> CallRecord {
        let entry = &self.ready.entry;
        CallRecord {
            id: self.call.id.clone(),
            tool: Arc::clone(&entry.tool.identity),
            arguments: Value::Object(redact::members(&self.ready.arguments)),
            result: Ok(CallOutput::text(text)),
            for_model: text.to_owned(),
            took: started.elapsed(),
            tier: entry.tier,
            cached: false,
            attempts: 0,
            pending: true,
        }
    }
}

/// One log line per call.
pub(super) fn log(context: &CallContext, record: &CallRecord) {
    tracing::debug!(
        session = %context.session,
        turn = context.turn.0,
        npc = context.authority.name(),
        tool = &*record.tool,
        ok = record.result.is_ok(),
        kind = record.result.as_ref().err().map(|error| error.kind.name()),
        pending = record.pending,
        cached = record.cached,
        attempts = record.attempts,
        took_ms = record.took.as_secs_f64() * 1e3,
        "tool call"
    );
}

/// Hands a result to the table after its turn.
fn deliver(context: &CallContext, call: ToolCall, record: CallRecord) {
    log(context, &record);
    let Some(caller) = context.authority.caller() else { return };
    let cancelled = record.result.as_ref().is_err_and(|it| it.kind == CallErrorKind::Cancelled);
    if !cancelled {
        context.effects.follow_up(FollowUp {
            npc: Arc::clone(&caller.npc),
            speaker: Arc::clone(&context.speaker),
            call,
            record,
        });
    }
}
