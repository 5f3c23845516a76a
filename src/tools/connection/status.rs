//! The state of each server, for lists and panels.
//!
//! Entry type: [`Status`]. **Never**: holds a secret.

use std::{borrow::Cow, fmt};

use serde::Serialize;
use tokio::time::Instant;

use crate::domain::{Owner, redact};

/// Lines of its stderr that are shown of a server that failed.
const LAST_WORDS: usize = 5;

/// State of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// On its way for the first time.
    Connecting,
    /// Connected once a session runs.
    NoSession {
        /// A name in its headers or `resource_vars` that only a session gives.
        needs: &'static str,
    },
    /// Connected once a server has given what it names.
    Lacking {
        /// A name in its headers or `resource_vars` that has no value yet.
        name: String,
    },
    /// On its way again after a failure.
    Reconnecting {
        /// Reason for the failure.
        reason: String,
    },
    /// Its tools are offered.
    Ready,
    /// Failed, and tried again at a moment.
    Waiting {
        /// Reason the last attempt failed.
        reason: String,
        /// Time of the next attempt.
        until: Instant,
    },
    /// Failed for good.
    Failed {
        /// Reason the last attempt failed.
        reason: String,
    },
    /// Ended by us.
    Stopped,
}

impl State {
    /// The words used in reports.
    pub fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Connecting => "connecting",
            Self::NoSession { .. } => "waiting for a session",
            Self::Lacking { name } => return Cow::Owned(format!("waiting for {name}")),
            Self::Reconnecting { .. } => "connecting again",
            Self::Ready => "ready",
            Self::Waiting { .. } => "waiting to retry",
            Self::Failed { .. } => "failed",
            Self::Stopped => "stopped",
        })
    }

    /// A copy to be shown: a reason may quote the value of a variable.
    pub(super) fn shown(&self) -> Self {
        let known = |reason: &String| redact::known(reason).into_owned();
        match self {
            Self::Reconnecting { reason } => Self::Reconnecting { reason: known(reason) },
            Self::Waiting { reason, until } => {
                Self::Waiting { reason: known(reason), until: *until }
            }
            Self::Failed { reason } => Self::Failed { reason: known(reason) },
            other => other.clone(),
        }
    }

    /// True if it is on its way for the first time.
    pub(super) fn is_on_its_way(&self) -> bool {
        matches!(self, Self::Connecting | Self::Lacking { .. })
    }

    /// Reason it is not ready, if something is wrong.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Reconnecting { reason }
            | Self::Waiting { reason, .. }
            | Self::Failed { reason } => Some(reason),
            _ => None,
        }
    }
}

/// One server in a report.
#[derive(Clone, Debug)]
pub struct Status {
    /// The owner who added it; `None`: it is configured.
    pub owner: Option<Owner>,
    /// Others use the same connection.
    pub is_shared: bool,
    /// Name of the server.
    pub name: String,
    /// Prefix of its tools' names.
    pub prefix: String,
    /// Name and version that it gives itself; each empty where it gives none.
    pub calls_itself: (String, String),
    /// Location of the server.
    pub endpoint: String,
    /// State of the server.
    pub state: State,
    /// Revision of the protocol that was agreed on.
    pub revision: Option<String>,
    /// Tools it offers.
    pub tools: Vec<String>,
    /// Tools that wait for approval.
    pub held: Vec<String>,
    /// Changes of those of them that were known.
    pub changed: Vec<String>,
    /// Tools no model could take, with the reason.
    pub refused: Vec<String>,
    /// Keys of its resources.
    pub resources: Vec<String>,
    /// Files whose replacement starts its program again.
    pub held_files: Vec<String>,
    /// Last lines of its stderr.
    pub stderr: Vec<String>,
    /// Memory held for it.
    pub kept: Kept,
}

/// Command that accepts what the server `name` lists.
pub fn way_to_trust(owner: Option<Owner>, name: &str) -> String {
    let command = if owner.is_some() { "/tools server trust" } else { "glyphoxa mcp trust" };
    format!("{command} {name}")
}

/// Memory held for one server; each figure with the most that it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Tools, those that are left out included.
    pub tools: usize,
    /// The most that [`Kept::tools`] may be.
    pub tools_most: usize,
    /// Bytes of their list.
    pub list_bytes: usize,
    /// The most that [`Kept::list_bytes`] may be.
    pub list_bytes_most: usize,
    /// Bytes of its resources.
    pub resource_bytes: usize,
    /// The most that [`Kept::resource_bytes`] may be.
    pub resource_bytes_most: usize,
    /// Its questions without an answer yet.
    pub questions: usize,
    /// The most that [`Kept::questions`] may be.
    pub questions_most: usize,
    /// Tools whose first definitions are known, those that it has once had included.
    pub pinned: usize,
    /// The most that [`Kept::pinned`] may be.
    pub pinned_most: usize,
    /// Bytes of what is known of these.
    pub pinned_bytes: usize,
    /// The most that [`Kept::pinned_bytes`] may be.
    pub pinned_bytes_most: usize,
    /// Lines of its stderr.
    pub words: usize,
    /// The most that [`Kept::words`] may be.
    pub words_most: usize,
    /// Messages it has sent unasked; none of them is kept.
    pub unasked: u64,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = |bytes: usize| bytes.div_ceil(1024);
        write!(
            f,
            "keeps {} of {} tools in {} of {} KiB, {} of {} KiB of resources, {} of {} questions, \
             {} of {} definitions in {} of {} KiB, {} of {} lines; has sent {} messages unasked",
            self.tools,
            self.tools_most,
            kib(self.list_bytes),
            kib(self.list_bytes_most),
            kib(self.resource_bytes),
            kib(self.resource_bytes_most),
            self.questions,
            self.questions_most,
            self.pinned,
            self.pinned_most,
            kib(self.pinned_bytes),
            kib(self.pinned_bytes_most),
            self.words,
            self.words_most,
            self.unasked
        )
    }
}

/// A line, and lines below it for what deserves attention.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        write!(f, "{name:<20} {}", self.state.name())?;
        if self.state == State::Ready {
            let count = self.tools.len();
            write!(f, ", {count} tool{}", if count == 1 { "" } else { "s" })?;
            if let Some(revision) = &self.revision {
                write!(f, ", MCP {revision}")?;
            }
            let (own, version) = &self.calls_itself;
            if !own.is_empty() {
                write!(f, ", calls itself '{}'", format!("{own} {version}").trim_end())?;
            }
        }
        if let State::NoSession { needs } = self.state {
            write!(f, " (its headers or resource_vars name {needs})")?;
        }
        writeln!(f)?;
        if self.prefix != *name {
            writeln!(f, "  its tools begin with '{}.'", self.prefix)?;
        }
        if self.state == State::Ready {
            writeln!(f, "  {}", self.kept)?;
        }
        if !self.held_files.is_empty() {
            let files = self.held_files.join(", ");
            writeln!(f, "  restarts when replaced, since it may not read the folder: {files}")?;
        }
        if let Some(reason) = self.state.reason() {
            writeln!(f, "  {reason}")?;
            for line in self.stderr.iter().rev().take(LAST_WORDS).rev() {
                writeln!(f, "  | {line}")?;
            }
        }
        if !self.held.is_empty() {
            let held = self.held.join(", ");
            writeln!(f, "  waiting for approval: {held} ({})", way_to_trust(self.owner, name))?;
            for line in &self.changed {
                writeln!(f, "  {line}")?;
            }
        }
        for refused in &self.refused {
            writeln!(f, "  left out: {refused}")?;
        }
        Ok(())
    }
}
