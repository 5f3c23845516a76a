//! Effects of a program's calls besides their answers. Entry types: [`CallEffects`], [`NoTable`].

use futures::future::BoxFuture;
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

impl CallEffects {
    /// Effects of the table, or of none.
    fn shown(&self) -> &dyn Effects {
        match &self.link {
            Some(link) => &*link.effects,
            None => &NoTable,
        }
    }
}

impl Effects for CallEffects {
    fn show(&self, text: &str) {
        self.shown().show(text);
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        self.shown().attach(tool, attachment)
    }

    fn tell_dm(&self, text: &str) {
        self.shown().tell_dm(text);
    }

    fn halts(&self) -> u64 {
        self.link.as_ref().map_or(0, |link| link.halts.count())
    }

    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        if let Some(why) = self.shown().lacks_loudspeaker() {
            return Err(why);
        }
        let link = self.link.as_ref();
        match link.is_some_and(|link| link.try_send(link.halts.count(), Command::Music(order))) {
            true => Ok(()),
            false => Err("no music can be played here"),
        }
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        self.shown().lacks_approver()
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        self.shown().approve(request)
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.shown().elicit(form)
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
