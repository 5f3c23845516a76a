//! Tool calls of a kept session, a JSON object a line, written as they come.
//!
//! Entry type: [`CallLog`]. **Never**: holds what a key calls secret; records come redacted.

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::Serialize;

use crate::session::{ToolLine, TurnLine};

/// The open log of one session.
pub struct CallLog {
    path: PathBuf,
    file: File,
    session: String,
}

/// One call with its turn.
#[derive(Serialize)]
struct Entry<'a> {
    session: &'a str,
    turn: u64,
    npc: Option<&'a str>,
    speaker: &'a str,
    #[serde(flatten)]
    call: &'a ToolLine,
}

impl CallLog {
    /// Opens the log at `path` for adding to it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(path: PathBuf, session: &str) -> anyhow::Result<Self> {
        let file = fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))
            .and_then(|()| OpenOptions::new().create(true).append(true).open(&path))
            .with_context(|| format!("cannot log tool calls in '{}'", path.display()))?;
        Ok(Self { path, file, session: session.to_owned() })
    }

    /// Adds the calls of a turn.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, line: &TurnLine) -> anyhow::Result<()> {
        for call in &line.tools {
            let entry = Entry {
                session: &self.session,
                turn: line.turn,
                npc: line.npc.as_deref(),
                speaker: &line.speaker,
                call,
            };
            // One write a line, so that a reader never sees half of one.
            let mut text = serde_json::to_string(&entry)?;
            text.push('\n');
            self.file
                .write_all(text.as_bytes())
                .with_context(|| format!("cannot log tool calls in '{}'", self.path.display()))?;
        }
        Ok(())
    }
}
