//! Calls that the notified system may decide beside the game master.
//!
//! Entry methods: [`Guild::notify`], [`Guild::await_callback`]. **Never**: lets an address outlive
//! its request.

use tokio::sync::oneshot;

use super::state::{Guild, Job, nothing};
use crate::{
    campaign::{Callback, CallbackDecision, DecideAt, WaitingCall},
    tools::ApprovalRequest,
};

impl Guild {
    /// Notifies an operator of the call `key`, which waits until `until` (milliseconds since 1970),
    /// with an address for deciding it if a listener runs. Returns the hash of the address's token.
    pub(super) fn notify(
        &mut self,
        key: &str,
        call: &ApprovalRequest,
        until: i64,
    ) -> Option<String> {
        let notifier = self.shared.handles.notifier.clone();
        let mut waiting = WaitingCall {
            npc: call.npc.to_string(),
            tool: call.tool.to_string(),
            guild: self.id.to_string(),
            decide: None,
        };
        let opened = notifier.callback();
        let hash = opened.map(|new| {
            waiting.decide = Some(DecideAt { url: new.address, expires: until / 1_000 });
            let hash = new.callback.hash().to_owned();
            self.await_callback(key, new.callback, new.decision);
            hash
        });
        self.send(notifier.tell(waiting));
        hash
    }

    /// Applies the decision that arrives at an address of the request `key`.
    pub(super) fn await_callback(
        &mut self,
        key: &str,
        callback: Callback,
        decision: oneshot::Receiver<CallbackDecision>,
    ) {
        self.approvals.pending.attach(key, callback);
        let key = key.to_owned();
        self.spawn(async move {
            // Without a decision the request is over, and its address closed.
            let Ok(decision) = decision.await else { return nothing() };
            Box::new(move |guild: &mut Self| guild.decided_outside(&key, decision)) as Job
        });
    }

    fn decided_outside(&mut self, key: &str, decision: CallbackDecision) {
        let mut closed = None;
        decision.apply(|choice| {
            let (in_time, message) = self.approvals.decide_outside(key, choice);
            closed = message;
            in_time
        });
        self.forget_decided();
        self.keep_settings();
        self.close_messages(closed.into_iter().collect());
    }
}
