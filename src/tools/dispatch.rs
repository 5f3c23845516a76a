//! One admitted call: cached answers, retries, deadlines, late results. **Never**: repeats a call
//! that may have side effects.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use rand::RngExt;
use serde_json::{Map, Value};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout_at},
};

use super::{
    Attachment, CallContext, CallError, CallErrorKind, CallOutput, CallRecord, CatalogEntry,
    FollowUp, Part, SourceKind,
    cache::{CallKey, canonical},
    context::Limit,
    latency::Ending,
    output::framed,
    state::HostState,
};
use crate::domain::{ToolCall, redact};

/// Most attempts of a repeatable call.
const ATTEMPTS: u32 = 3;
/// Wait before the first retry; doubled each time, with half of it as jitter.
const BACKOFF: Duration = Duration::from_millis(100);

/// A tool and arguments that match its schema.
pub struct Ready {
    pub entry: Arc<CatalogEntry>,
    /// Coerced arguments.
    pub arguments: Map<String, Value>,
}

pub struct Run {
    pub state: Arc<HostState>,
    pub context: CallContext,
    pub ready: Ready,
    pub call: ToolCall,
    /// X-cards used when it was requested or approved; a further one withdraws its result.
    pub halts: u64,
}

/// Outcome of a call.
pub struct Ended {
    result: Result<CallOutput, CallError>,
    /// The host made the result, not the tool.
    is_ours: bool,
    cached: bool,
    attempts: u32,
}

impl Ended {
    /// A call that was not made.
    pub const fn refused(error: CallError) -> Self {
        Self { result: Err(error), is_ours: true, cached: false, attempts: 0 }
    }
}

impl Run {
    pub fn max(&self) -> Duration {
        self.ready.entry.tool.max()
    }

    /// True if its result may get a turn of its own.
    pub fn may_be_late(&self) -> bool {
        self.context.authority.caller().is_some()
            && self.ready.entry.tool.declared.follow_up == Some(true)
    }

    /// Runs within `limit`. Cancel safe.
    pub async fn within(self, limit: Limit, started: Instant) -> CallRecord {
        let cancel = self.context.cancel.clone();
        let mut attempts = 0;
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(CallError::new(CallErrorKind::Cancelled, "the turn ended"))
            }
            answer = limit.hold(started, &self.context.progress, self.answer(&mut attempts)) => {
                answer.map_err(|waited| {
                    let what = format!("timed out after {} ms", waited.as_millis());
                    CallError::new(CallErrorKind::Timeout, what)
                })
            }
        };
        let is_ours = answer.is_err();
        let ended = match answer {
            Ok(Ok((output, cached))) => {
                Ended { result: self.fitting(output).await, is_ours, cached, attempts }
            }
            Ok(Err(error)) | Err(error) => {
                Ended { result: Err(error), is_ours, cached: false, attempts }
            }
        };
        self.finish(ended, started)
    }

    /// Waits as long as the turn allows, unless the tool is known to take longer; a later result
    /// gets a turn of its own.
    pub async fn perhaps_late(self, started: Instant) -> CallRecord {
        let turn = self.context.clone();
        let left = turn.deadline.saturating_duration_since(Instant::now());
        let outlasts = self.ready.entry.outlasts(left);
        let pending =
            self.pending("still at work (go on without it; its result comes later)", started);
        let inner = Arc::clone(&self.state);
        let listed = inner.late_calls.list(&self.context, inner.shutdown.child_token());
        let own = listed.end.clone();
        let (done, mut answer) = oneshot::channel();
        let mut run = self;
        run.context.cancel = own.clone();
        inner.late.spawn(async move {
            let limit = Limit::hard(run.max(), Instant::now());
            let (context, call, halts) = (run.context.clone(), run.call.clone(), run.halts);
            let record = run.within(limit, started).await;
            if let Err(late) = done.send(record) {
                deliver(&context, call, late, halts);
            }
            drop(listed);
        });
        if !outlasts {
            tokio::select! {
                biased;
                () = turn.cancel.cancelled() => own.cancel(),
                answer = timeout_at(turn.deadline, &mut answer) => {
                    if let Ok(Ok(record)) = answer {
                        return record;
                    }
                }
            }
        }
        // From here on the result is delivered separately; one that just arrived is taken here.
        answer.close();
        if let Ok(record) = answer.try_recv() {
            return record;
        }
        CallRecord { took: started.elapsed(), ..pending }
    }

    /// Ends without a call: `result` was given by a system outside. It must match the output
    /// schema, and is framed as outside words.
    pub async fn completed(self, result: Value, started: Instant) -> CallRecord {
        let result = self.fitting(CallOutput::given_outside(result)).await;
        let result = result.map_err(CallError::from_outside);
        self.finish(Ended { result, is_ours: false, cached: false, attempts: 0 }, started)
    }

    /// A cached answer (`true`), or one from the tool.
    async fn answer(&self, attempts: &mut u32) -> Result<(CallOutput, bool), CallError> {
        let tool = &self.ready.entry.tool;
        match tool.declared.cacheable.filter(|lifetime| !lifetime.is_zero()) {
            Some(lifetime) => {
                let cache = &self.state.cache;
                cache.get(self.key(), lifetime, self.context.fresh, self.repeated(attempts)).await
            }
            None => self.repeated(attempts).await.map(|output| (output, false)),
        }
    }

    /// Includes the session if the server may receive its id.
    fn key(&self) -> CallKey {
        let (tool, context) = (&self.ready.entry.tool, &self.context);
        CallKey {
            owner: tool.owner,
            tool: Arc::clone(&tool.identity),
            scope: context.scope.clone(),
            session: (tool.source == SourceKind::Server).then(|| context.session.clone()),
            arguments: canonical(&self.ready.arguments),
        }
    }

    /// Sends the call, with retries if it may be repeated and the error is transient.
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

    /// Checks a structured result against the declared schema.
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

    /// Shows the attachments of `output`, unless the call was withdrawn; text replaces those that
    /// cannot be shown. A built-in's unshown attachment is an error.
    fn shown(&self, mut output: CallOutput) -> Result<CallOutput, CallError> {
        let (tool, context) = (&self.ready.entry.tool, &self.context);
        if context.cancel.is_cancelled() || context.effects.halts() != self.halts {
            return Ok(output);
        }
        for part in &mut output.parts {
            let Part::Media(attachment) = part else { continue };
            let shown = Attachment { asked_by: context.by.clone(), ..attachment.clone() };
            if context.effects.attach(&tool.identity, &shown) {
                continue;
            }
            if tool.source == SourceKind::BuiltIn {
                let what = "it is made, but cannot be shown now: too large, or too many wait";
                return Err(CallError::new(CallErrorKind::Tool, what));
            }
            *part = Part::Text(format!("[{}, not shown to anybody]", shown.mime));
        }
        Ok(output)
    }

    /// Counts the call and makes its record.
    pub fn finish(self, ended: Ended, started: Instant) -> CallRecord {
        let (entry, context) = (&self.ready.entry, &self.context);
        let took = started.elapsed();
        self.count(&ended, took);
        let ended = Ended { result: ended.result.and_then(|it| self.shown(it)), ..ended };
        let text = match &ended.result {
            Ok(output) => output.for_model(),
            Err(error) => CallOutput::text(format!("error: {error}")).for_model(),
        };
        let is_foreign = entry.tool.source != SourceKind::BuiltIn;
        let outside = match &ended.result {
            Ok(output) => is_foreign || output.outside,
            // A sent request may have had any effect.
            Err(error) => error.outside || (is_foreign && ended.attempts > 0),
        };
        if outside {
            context.taint.set();
        }
        let secret = ended.result.as_ref().is_ok_and(|output| output.secret);
        if secret {
            context.taint.set_secrets();
        }
        let for_model = match outside && !ended.is_ours {
            true => framed(&entry.tool.identity, &text),
            false => text,
        };
        CallRecord {
            id: self.call.id,
            tool: Arc::clone(&entry.tool.identity),
            named_by: entry.tool.named_by(),
            server: entry.tool.handler.server_address(),
            arguments: Value::Object(redact::members(&self.ready.arguments)),
            result: ended.result,
            for_model,
            outside,
            secret,
            took,
            tier: entry.tier,
            cached: ended.cached,
            attempts: ended.attempts,
            pending: false,
        }
    }

    /// Adds the call to the tool's figures; cached answers and unsent calls do not count.
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
    pub fn pending(&self, text: &str, started: Instant) -> CallRecord {
        let entry = &self.ready.entry;
        CallRecord {
            id: self.call.id.clone(),
            tool: Arc::clone(&entry.tool.identity),
            named_by: entry.tool.named_by(),
            server: entry.tool.handler.server_address(),
            arguments: Value::Object(redact::members(&self.ready.arguments)),
            result: Ok(CallOutput::text(text)),
            for_model: text.to_owned(),
            outside: false,
            secret: false,
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

/// Delivers a late result to the table, unless it was withdrawn or an X-card was used since
/// `halts`.
pub fn deliver(context: &CallContext, call: ToolCall, record: CallRecord, halts: u64) {
    log(context, &record);
    let Some(caller) = context.authority.caller() else { return };
    let cancelled = context.cancel.is_cancelled()
        || record.result.as_ref().is_err_and(|it| it.kind == CallErrorKind::Cancelled);
    if !cancelled && context.effects.halts() == halts {
        context.effects.follow_up(FollowUp {
            npc: Arc::clone(&caller.npc),
            turn: context.turn,
            by: context.by.clone(),
            withdrawn: context.cancel.clone(),
            call,
            record,
        });
    }
}
