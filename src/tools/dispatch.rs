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
    Decision, FollowUp, SourceKind, ToolHost, cache, host, latency::Ending, limit::Limit,
    output::framed, record,
};
use crate::domain::ToolCall;

/// A pending call that nobody decided.
const APPROVAL_EXPIRES: Duration = Duration::from_secs(60);
/// Times a call that may be repeated goes out.
const ATTEMPTS: u32 = 3;
/// Wait before the first repeat; doubled each time, half of it at random.
const BACKOFF: Duration = Duration::from_millis(100);

/// A tool and arguments that fit its schema.
pub struct Ready {
    /// The tool.
    pub placed: Arc<CatalogEntry>,
    /// The arguments, coerced.
    pub arguments: Map<String, Value>,
}

/// One admitted call.
pub struct Run {
    /// Who runs it.
    pub host: ToolHost,
    /// For which turn.
    pub context: CallContext,
    /// What is run.
    pub ready: Ready,
    /// As the model made it.
    pub call: ToolCall,
}

/// What running it came to.
struct Ended {
    result: Result<CallOutput, CallError>,
    cached: bool,
    attempts: u32,
}

impl Run {
    /// Hard limit of the call.
    pub fn max(&self) -> Duration {
        self.ready.placed.tool.max()
    }

    /// Why the game master must be asked first. The operator needs nobody's leave.
    pub fn needs_approval(&self) -> Option<&'static str> {
        self.context.caller.as_ref()?;
        let declared = &self.ready.placed.tool.declared;
        if declared.approval == Some(true) {
            return Some("this tool always asks");
        }
        let destructive = declared.destructive == Some(true);
        (destructive && self.context.taint.is_set())
            .then_some("it may destroy something, and the turn has read data from outside")
    }

    /// Whether its result may come as a turn of its own.
    pub fn may_be_late(&self) -> bool {
        self.context.caller.is_some() && self.ready.placed.tool.declared.follow_up == Some(true)
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
            Ok((output, cached)) => Ended { result: self.fitting(output), cached, attempts },
            Err(error) => Ended { result: Err(error), cached: false, attempts },
        };
        self.finish(ended, started)
    }

    /// Has the game master asked, and goes on without waiting for the answer.
    pub fn after_approval(self, reason: &'static str, started: Instant) -> CallRecord {
        let pending = self.pending(
            "waiting for the game master's approval (go on without it; its result may come later)",
            started,
        );
        let inner = Arc::clone(&self.host.inner);
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
        let inner = Arc::clone(&self.host.inner);
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
        let Some(caller) = self.context.caller.clone() else { return };
        let request = ApprovalRequest {
            npc: caller.npc,
            tool: Arc::clone(&self.ready.placed.tool.identity),
            arguments: record::redacted_members(&self.ready.arguments),
            reason,
        };
        let asked = self.context.effects.approve(request);
        let decision = timeout(APPROVAL_EXPIRES, asked).await;
        let (context, call) = (self.context.clone(), self.call.clone());
        let started = Instant::now();
        let refusal = match decision {
            Ok(Decision::Approve) => None,
            Ok(Decision::Edit(edited)) => self.take_edited(edited).err(),
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
                self.context.cancel = self.host.inner.shutdown.child_token();
                let limit = Limit::hard(self.max(), started);
                self.within(limit, started).await
            }
        };
        deliver(&context, call, record);
    }

    /// The game master's own arguments, held against the schema; what was hidden from the eye
    /// stays as the model wrote it.
    fn take_edited(&mut self, edited: Map<String, Value>) -> Result<(), CallError> {
        let shown = record::redacted_members(&self.ready.arguments);
        let unchanged = |(key, value): (String, Value)| match self.ready.arguments.get(&key) {
            Some(own) if shown.get(&key) == Some(&value) => (key, own.clone()),
            _ => (key, value),
        };
        let edited: Map<String, Value> = edited.into_iter().map(unchanged).collect();
        match self.ready.placed.tool.input.check(Value::Object(edited)) {
            Ok(Value::Object(arguments)) => self.ready.arguments = arguments,
            Ok(_) => {}
            Err(what) => return Err(CallError::new(CallErrorKind::InvalidArguments, what)),
        }
        Ok(())
    }

    /// A kept answer, or one from the tool; `true`: it was kept.
    async fn answer(&self, attempts: &mut u32) -> Result<(CallOutput, bool), CallError> {
        let tool = &self.ready.placed.tool;
        match tool.declared.cacheable.filter(|lifetime| !lifetime.is_zero()) {
            Some(lifetime) => {
                let key = cache::key(&tool.identity, &self.ready.arguments);
                let cache = &self.host.inner.cache;
                cache.get(key, lifetime, self.context.fresh, self.repeated(attempts)).await
            }
            None => self.repeated(attempts).await.map(|output| (output, false)),
        }
    }

    /// Sends it, again where that can do no harm and may help.
    async fn repeated(&self, attempts: &mut u32) -> Result<CallOutput, CallError> {
        let tool = &self.ready.placed.tool;
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
        let mut jitter = self.host.inner.jitter.lock().unwrap_or_else(PoisonError::into_inner);
        whole.mul_f64(jitter.random_range(0.5..=1.0))
    }

    /// Holds a structured result against the schema the tool declares.
    fn fitting(&self, mut output: CallOutput) -> Result<CallOutput, CallError> {
        let (Some(schema), Some(value)) = (&self.ready.placed.tool.output, &output.structured)
        else {
            return Ok(output);
        };
        match schema.check(value.clone()) {
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
        let (placed, context) = (&self.ready.placed, &self.context);
        let took = started.elapsed();
        self.count(&ended, took);
        let from_outside = placed.tool.source != SourceKind::BuiltIn;
        let text = match &ended.result {
            Ok(output) => {
                for attachment in output.attachments() {
                    context.effects.attach(&placed.tool.identity, attachment);
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
            framed(&placed.tool.identity, &text)
        } else {
            text
        };
        CallRecord {
            id: self.call.id,
            tool: Arc::clone(&placed.tool.identity),
            arguments: Value::Object(record::redacted_members(&self.ready.arguments)),
            result: ended.result,
            for_model,
            took,
            tier: placed.tier,
            cached: ended.cached,
            attempts: ended.attempts,
            pending: false,
        }
    }

    /// Adds the call to the tool's figures; kept answers and calls that never went out say
    /// nothing about it.
    fn count(&self, ended: &Ended, took: Duration) {
        let placed = &self.ready.placed;
        let ending = match &ended.result {
            _ if ended.cached || ended.attempts == 0 => return,
            Ok(_) => Ending::Answered,
            Err(error) => match error.kind {
                CallErrorKind::Cancelled => return,
                CallErrorKind::Timeout => Ending::TimedOut,
                // A built-in that says no has done its work, and so has a manifest's server that
                // does not like the arguments.
                CallErrorKind::Tool if placed.tool.source != SourceKind::Server => Ending::Answered,
                CallErrorKind::Tool => Ending::Failed,
                kind if kind.is_fault() => Ending::Failed,
                _ => Ending::Answered,
            },
        };
        let now = Instant::now();
        placed.tool.latency.record(now, took, ending);
        let standing = placed.tool.latency.standing(now);
        self.host.inner.catalog.refresh_one(placed, &standing);
    }

    /// The record of a call whose result comes later.
    fn pending(&self, text: &str, started: Instant) -> CallRecord {
        let placed = &self.ready.placed;
        CallRecord {
            id: self.call.id.clone(),
            tool: Arc::clone(&placed.tool.identity),
            arguments: Value::Object(record::redacted_members(&self.ready.arguments)),
            result: Ok(CallOutput::text(text)),
            for_model: text.to_owned(),
            took: started.elapsed(),
            tier: placed.tier,
            cached: false,
            attempts: 0,
            pending: true,
        }
    }
}

/// Hands a result to the table after its turn.
fn deliver(context: &CallContext, call: ToolCall, record: CallRecord) {
    host::log(context, &record);
    let Some(caller) = &context.caller else { return };
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
