//! Effects of tools that a step calls. Entry type: [`StepEffects`].

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    campaign::link::TableLink,
    logic::music::MusicOrder,
    session::Command,
    tools::{ApprovalRequest, Attachment, Decision, Effects, FollowUp, Form},
};

/// Added to the number of X-cards once a step is cancelled: withdraws what it still waits for.
const CANCELLED: u64 = 1 << 32;

/// The face's effects, until the step is cancelled or an X-card is used; late results go to the
/// step.
pub struct StepEffects {
    pub face: Arc<dyn Effects>,
    pub link: Option<TableLink>,
    /// X-cards used when the run began.
    pub halts: u64,
    pub cancel: CancellationToken,
    pub late: mpsc::Sender<FollowUp>,
}

impl StepEffects {
    fn is_live(&self) -> bool {
        let is_halted = |link: &TableLink| link.halts.count() != self.halts;
        !self.cancel.is_cancelled() && !self.link.as_ref().is_some_and(is_halted)
    }
}

impl Effects for StepEffects {
    fn show(&self, text: &str) {
        if self.is_live() {
            self.face.show(text);
        }
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        self.is_live() && self.face.attach(tool, attachment)
    }

    fn tell_dm(&self, text: &str) {
        self.face.tell_dm(text);
    }

    fn halts(&self) -> u64 {
        let withdrawn = if self.cancel.is_cancelled() { CANCELLED } else { 0 };
        self.link.as_ref().map_or(0, |link| link.halts.count()) + withdrawn
    }

    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        let link = self.link.as_ref().filter(|_| self.is_live());
        if let Some(why) = link.and_then(|link| link.effects.lacks_loudspeaker()) {
            return Err(why);
        }
        match link.is_some_and(|link| link.try_send(self.halts, Command::Music(order))) {
            true => Ok(()),
            false => Err("no music can be played here"),
        }
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        self.face.lacks_approver()
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        let (decided, cancel) = (self.face.approve(request), self.cancel.clone());
        async move {
            let decided = cancel.run_until_cancelled(decided).await;
            decided.unwrap_or_else(|| Decision::Deny("the workflow was stopped".to_owned()))
        }
        .boxed()
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        let (answered, cancel) = (self.face.elicit(form), self.cancel.clone());
        async move { cancel.run_until_cancelled(answered).await.flatten() }.boxed()
    }

    fn follow_up(&self, late: FollowUp) {
        // One step makes one call, and waits for one result.
        _ = self.late.try_send(late);
    }
}
