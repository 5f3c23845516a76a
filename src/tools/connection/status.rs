//! State of each server, for lists and panels. **Never**: holds a secret.

use std::{borrow::Cow, fmt};

use serde::Serialize;
use tokio::time::Instant;

use crate::domain::{Owner, redact};

/// Lines of stderr shown for a failed server.
const LAST_WORDS: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Connecting,
    /// Connects once a session runs.
    NoSession {
        /// A placeholder that only a session provides.
        needs: &'static str,
    },
    /// Connects once another server provides the placeholder `name`.
    Lacking {
        /// A placeholder in its headers or `resource_vars`.
        name: String,
    },
    /// Reconnecting after a failure.
    Reconnecting {
        reason: String,
    },
    Ready,
    /// Failed, with another attempt scheduled.
    Waiting {
        reason: String,
        until: Instant,
    },
    Failed {
        reason: String,
    },
    Stopped,
}

impl State {
    /// Word used in reports.
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

    /// A redacted copy: a reason may quote a secret.
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

#[derive(Clone, Debug)]
pub struct Status {
    /// Its owner; `None`: configured.
    pub owner: Option<Owner>,
    /// Others use the same connection.
    pub is_shared: bool,
    pub name: String,
    /// Prefix of its tools' names.
    pub prefix: String,
    /// Name and version it reports; may be empty.
    pub calls_itself: (String, String),
    pub endpoint: String,
    pub state: State,
    /// Agreed protocol revision.
    pub revision: Option<String>,
    pub tools: Vec<String>,
    pub held: Vec<String>,
    /// Changes of known tools.
    pub changed: Vec<String>,
    /// Tools no model could take, with the reason.
    pub refused: Vec<String>,
    pub resources: Vec<String>,
    /// Files whose replacement restarts its program.
    pub held_files: Vec<String>,
    pub stderr: Vec<String>,
    pub kept: Kept,
}

/// Command that approves the tools of the server `name`.
pub fn way_to_trust(owner: Option<Owner>, name: &str) -> String {
    let command = if owner.is_some() { "/tools server trust" } else { "glyphoxa mcp trust" };
    format!("{command} {name}")
}

/// Memory used for one server; each figure with its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Tools, refused ones included.
    pub tools: usize,
    pub tools_most: usize,
    pub list_bytes: usize,
    pub list_bytes_most: usize,
    pub resource_bytes: usize,
    pub resource_bytes_most: usize,
    /// Unanswered questions of the server.
    pub questions: usize,
    pub questions_most: usize,
    /// Known definitions, including those of former tools.
    pub pinned: usize,
    pub pinned_most: usize,
    pub pinned_bytes: usize,
    pub pinned_bytes_most: usize,
    pub words: usize,
    pub words_most: usize,
    /// Unasked messages received; none is stored.
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

/// One line, and lines below it for problems.
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
