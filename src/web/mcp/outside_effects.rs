//! Effects of a program's calls besides their answers. Entry types: [`CallEffects`], [`NoTable`].

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::{
    campaign::TableLink,
    domain::one_line,
    logic::music::MusicOrder,
    session::Command,
    tools::{ApprovalRequest, Attachment, Decision, Effects, FollowUp, Form},
};

/// Longest late result in a notice, in characters.
const RESULT_MAX: usize = 300;
/// Way to an approver, for calls without a table.
const WAY_OUT: &str = "a game master decides: start a session first";

/// Effects without a table: nothing is shown, and calls that need approval are refused.
pub struct NoTable;

impl Effects for NoTable {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        false
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        Some(WAY_OUT)
    }
}

/// Effects of one tool called for a program; its late result goes to the caller while that waits,
/// else to the game master.
pub struct CallEffects {
    pub link: Option<TableLink>,
    pub late: mpsc::Sender<FollowUp>,
}

impl Effects for CallEffects {
    fn show(&self, text: &str) {
        if let Some(link) = &self.link {
            link.effects.show(text);
        }
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        self.link.as_ref().is_some_and(|link| link.effects.attach(tool, attachment))
    }

    fn tell_dm(&self, text: &str) {
        if let Some(link) = &self.link {
            link.effects.tell_dm(text);
        }
    }

    fn halts(&self) -> u64 {
        self.link.as_ref().map_or(0, |link| link.halts.count())
    }

    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        let link = self.link.as_ref();
        match link.is_some_and(|link| link.try_send(link.halts.count(), Command::Music(order))) {
            true => Ok(()),
            false => Err("no music can be played here"),
        }
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        self.link.as_ref().map_or(Some(WAY_OUT), |link| link.effects.lacks_approver())
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        match &self.link {
            Some(link) => link.effects.approve(request),
            None => {
                ready(Decision::Deny("no game master is there to approve it".to_owned())).boxed()
            }
        }
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        match &self.link {
            Some(link) => link.effects.elicit(form),
            None => ready(None).boxed(),
        }
    }

    fn follow_up(&self, late: FollowUp) {
        let Err(TrySendError::Closed(late) | TrySendError::Full(late)) = self.late.try_send(late)
        else {
            return;
        };
        let record = &late.record;
        let result = match &record.result {
            Ok(output) => one_line(&output.for_model(), RESULT_MAX),
            Err(error) => one_line(&error.to_string(), RESULT_MAX),
        };
        self.tell_dm(&format!("{}, called by a program outside: {result}", record.tool));
    }
}
