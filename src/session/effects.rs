//! What tools may do to the table: the face's part, and results that come after their turn.
//!
//! Entry type: [`TableEffects`]. **Never**: waits.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::{sync::mpsc, time::Instant};

use super::{
    TableEvent,
    overrides::TurnTier,
    table::Table,
    turns::{Purpose, Utterance},
};
use crate::{
    engine::Cause,
    tools::{ApprovalRequest, Attachment, CallErrorKind, Decision, Effects, FollowUp, Form},
};

/// The face's effects, with the table's own way back for late results.
pub struct TableEffects {
    face: Arc<dyn Effects>,
    late: mpsc::Sender<FollowUp>,
}

impl TableEffects {
    /// Effects on a table that takes late results at `late`.
    pub fn new(face: Arc<dyn Effects>, late: mpsc::Sender<FollowUp>) -> Self {
        Self { face, late }
    }
}

impl Effects for TableEffects {
    fn show(&self, text: &str) {
        self.face.show(text);
    }

    fn attach(&self, tool: &str, attachment: &Attachment) {
        self.face.attach(tool, attachment);
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        self.face.approve(request)
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.face.elicit(form)
    }

    fn follow_up(&self, late: FollowUp) {
        if let Err(lost) = self.late.try_send(late) {
            let tool = match &lost {
                mpsc::error::TrySendError::Full(late) | mpsc::error::TrySendError::Closed(late) => {
                    &late.record.tool
                }
            };
            tracing::warn!(tool = &**tool, "a late result found no table");
        }
    }
}

impl Table {
    /// Has an NPC tell what came of a call after its turn.
    pub(super) fn late(&mut self, late: FollowUp) {
        let now = Instant::now();
        let refused =
            late.record.result.as_ref().err().filter(|error| {
                matches!(error.kind, CallErrorKind::Denied | CallErrorKind::Expired)
            });
        if let Some(error) = refused {
            let notice = format!("{}: {} was not called: {error}", late.npc, late.record.tool);
            return self.tell(TableEvent::Notice(notice));
        }
        let Some(seat) = self.seats.of_npc(&late.npc) else { return };
        let Some(speaker) = self.speakers.find(&late.speaker) else { return };
        let utterance =
            Utterance { final_at: Some(now), typed: true, ..Utterance::unheard(speaker, now) };
        if self.seats[seat].muted {
            let (npc, tool) = (&late.npc, &late.record.tool);
            let notice = format!("{npc} is muted and does not tell what came of {tool}");
            return self.tell(TableEvent::Notice(notice));
        }
        let tier = TurnTier::fast(format!("the late result of {}", late.record.tool));
        self.ask(Purpose { utterance, seat, tier, cause: Cause::FollowUp(Box::new(late)) });
    }
}
