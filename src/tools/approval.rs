//! Calls that need the game master's approval. The turn goes on without waiting; the approved call
//! is sent unchanged, to the tool as it was defined when asked.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};

use super::{
    ApprovalRequest, Authority, CallError, CallErrorKind, CallRecord, Decision,
    caution::Caution,
    context::Limit,
    dispatch::{Ended, Run, deliver},
};

impl Run {
    /// Reason to ask the game master first. Calls by a person need no approval, and an approved
    /// call is not asked about again.
    pub fn needs_approval(&self) -> Option<Caution> {
        if matches!(self.context.authority, Authority::Operator | Authority::Approved(_)) {
            return None;
        }
        let tool = &self.ready.entry.tool;
        let caution = tool.why_ask(&self.context.taint)?;
        let permits = self.state.permits.get(&self.context.session);
        let is_allowed = permits.is_some_and(|it| it.allows(&tool.identity, &tool.fingerprint));
        (!caution.may_be_waived() || !is_allowed).then_some(caution)
    }

    /// Record of a call without an approver at the table.
    pub fn unapproved(self, caution: Caution, way_out: &str, started: Instant) -> CallRecord {
        let what = format!(
            "it is not called: {}, and no game master is there to approve it ({way_out})",
            caution.text()
        );
        self.finish(Ended::refused(CallError::new(CallErrorKind::Denied, what)), started)
    }

    /// Asks in the background and returns a pending record.
    pub fn after_approval(self, caution: Caution, started: Instant) -> CallRecord {
        let pending = self.pending(
            "waiting for the game master's approval (go on without it; its result may come later)",
            started,
        );
        let inner = Arc::clone(&self.state);
        let listed = inner.late_calls.list(&self.context, inner.shutdown.child_token());
        let mut run = self;
        run.context.cancel = listed.end.clone();
        inner.late.spawn(async move {
            _ = listed.end.run_until_cancelled(run.ask_and_run(caution)).await;
        });
        pending
    }

    async fn ask_and_run(mut self, caution: Caution) {
        let Some(caller) = self.context.authority.caller().cloned() else { return };
        let tool = Arc::clone(&self.ready.entry.tool);
        let request = ApprovalRequest {
            npc: caller.npc,
            by: self.context.by.clone(),
            tool: Arc::clone(&tool.identity),
            arguments: self.ready.arguments.clone(),
            reason: caution.text().into(),
            definition: Arc::clone(&tool.fingerprint),
            may_be_waived: caution.may_be_waived(),
        };
        let expires = Duration::from_millis(self.state.approval_expires.load(Ordering::Relaxed));
        let asked = self.context.effects.approve(request);
        let decision = timeout(expires, asked).await;
        // Read after the decision: an X-card that withdraws the call cancels it.
        self.halts = self.context.effects.halts();
        let (context, call, halts) = (self.context.clone(), self.call.clone(), self.halts);
        let started = Instant::now();
        let followed = match decision {
            Ok(decision) => self.decided(decision, caution).await,
            Err(_) => {
                let what =
                    format!("the game master did not decide within {} s", expires.as_secs_f64());
                Err(CallError::new(CallErrorKind::Expired, what))
            }
        };
        let record = match followed {
            Ok(None) => {
                let limit = Limit::hard(self.max(), started);
                self.within(limit, started).await
            }
            Ok(Some(result)) => self.completed(result, started).await,
            Err(error) => self.finish(Ended::refused(error), started),
        };
        deliver(&context, call, record, halts);
    }

    /// Applies a decision: the call is to be made (`None`), or has this result already.
    async fn decided(
        &mut self,
        decision: Decision,
        caution: Caution,
    ) -> Result<Option<Value>, CallError> {
        match decision {
            Decision::Approve => self.changed()?,
            Decision::Always => {
                self.changed()?;
                self.allow_for_good(caution);
            }
            Decision::Edit(edited) => {
                self.changed()?;
                self.take_edited(edited).await?;
            }
            Decision::Complete(result) => return Ok(Some(result)),
            Decision::Deny(reason) => return Err(CallError::new(CallErrorKind::Denied, reason)),
        }
        Ok(None)
    }

    /// Fails if the tool's definition has changed since the game master was asked.
    fn changed(&self) -> Result<(), CallError> {
        let tool = &self.ready.entry.tool;
        let snapshot = self.state.catalog.snapshot(self.context.scope.owner);
        let now = snapshot.find(&tool.identity);
        if now.is_some_and(|now| now.tool.fingerprint == tool.fingerprint) {
            return Ok(());
        }
        let what =
            "the tool was changed or withdrawn while the game master decided (call it again)";
        Err(CallError::new(CallErrorKind::NotVisible, what))
    }

    /// Allows later calls of this definition in this session; the approver stores it for other
    /// sessions.
    fn allow_for_good(&self, caution: Caution) {
        if caution.may_be_waived() {
            let tool = &self.ready.entry.tool;
            let mut permits = self.state.permits.entry(self.context.session.clone()).or_default();
            permits.allow(&tool.identity, &tool.fingerprint);
        }
    }

    /// Takes the game master's edited arguments, checked against the schema.
    async fn take_edited(&mut self, edited: Map<String, Value>) -> Result<(), CallError> {
        match self.ready.entry.tool.input.check(Value::Object(edited)).await {
            Ok(Value::Object(arguments)) => self.ready.arguments = arguments,
            Ok(_) => {}
            Err(what) => {
                return Err(CallError::new(CallErrorKind::InvalidArguments, what.to_string()));
            }
        }
        Ok(())
    }
}
