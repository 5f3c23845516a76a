//! Effects of tools called by a command: part of its answer.
//!
//! Entry type: [`CommandEffects`]. **Never**: shows everyone the answer to one game master.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::{sync::watch, time::timeout};

use crate::discord::{
    guild::{Guild, GuildEffects},
    ui::message::{FILE_BYTES, file_name},
};
use crate::{
    session::ToolLine,
    tools::{ApprovalRequest, Attachment, Decision, Effects, FollowUp, Form},
};

/// Longest wait for late results.
const LATE: Duration = Duration::from_secs(90);
/// Most files in an answer (Discord's limit).
const FILES_MAX: usize = 10;

/// Collects tools' output while a command runs.
pub struct CommandEffects {
    /// Way to the game master of the running session.
    session: Option<Arc<GuildEffects>>,
    /// `None`: the command has answered.
    notes: Mutex<Option<Notes>>,
    /// Number of late results.
    late: watch::Sender<usize>,
    /// True if only this answer can show late results in private.
    waits: bool,
}

#[derive(Debug, Default)]
pub struct Notes {
    pub lines: Vec<String>,
    /// Names and contents.
    pub files: Vec<(String, Vec<u8>)>,
}

impl CommandEffects {
    pub fn new(guild: &Guild) -> Arc<Self> {
        let session = guild.session().ok().map(|session| Arc::clone(&session.effects));
        let waits = session.is_none() || guild.log_channel().is_none();
        let notes = Mutex::new(Some(Notes::default()));
        Arc::new(Self { session, notes, late: watch::Sender::new(0), waits })
    }

    /// Waits for `count` late results, at most 90 s, unless they go to the log channel. Cancel
    /// safe.
    pub async fn late_results(&self, count: usize) {
        if !self.waits {
            return;
        }
        let mut late = self.late.subscribe();
        if timeout(LATE, late.wait_for(|come| *come >= count)).await.is_err() {
            self.show("No result yet, and I can't show it later (ask again).");
        }
    }

    /// Takes the output; later output goes to the game master.
    pub fn take(&self) -> Notes {
        self.notes().take().unwrap_or_default()
    }

    /// Held to add a line, never across an await.
    fn notes(&self) -> MutexGuard<'_, Option<Notes>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Effects for CommandEffects {
    fn show(&self, text: &str) {
        match (&mut *self.notes(), &self.session) {
            (Some(notes), _) => notes.lines.push(text.to_owned()),
            (None, Some(session)) => session.tell_dm(text),
            (None, None) => tracing::warn!("a late result of a command has no recipient"),
        }
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        // Made for the table; other attachments may be for the asker only.
        if let (Some(session), Some(_)) = (&self.session, &attachment.caption) {
            return session.attach(tool, attachment);
        }
        let name = file_name(tool, &attachment.mime);
        let size = attachment.bytes.len();
        let mut notes = self.notes();
        match &mut *notes {
            Some(notes) if notes.files.len() < FILES_MAX && size <= FILE_BYTES => {
                notes.files.push((name, attachment.bytes.to_vec()));
                return true;
            }
            Some(notes) => notes.lines.push(format!("{tool} returned more than I can show here")),
            None => tracing::warn!(tool, "cannot show a late picture of a command"),
        }
        false
    }

    fn tell_dm(&self, text: &str) {
        // Only game masters call tools by commands.
        self.show(text);
    }

    fn halts(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.halts())
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        self.session.is_none().then_some("start a session: /session start")
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        match &self.session {
            Some(session) => session.approve(request),
            None => {
                let why =
                    "no game master can be asked without a session (start one: /session start)";
                ready(Decision::Deny(why.to_owned())).boxed()
            }
        }
    }

    fn follow_up(&self, late: FollowUp) {
        self.show(&ToolLine::late(&late));
        self.late.send_modify(|come| *come += 1);
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        match &self.session {
            Some(session) => session.elicit(form),
            None => ready(None).boxed(),
        }
    }
}
