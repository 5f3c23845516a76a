//! Tool calls of a kept session, a JSON object a line, written as they come.
//!
//! Entry type: [`CallLog`]. **Never**: holds what a key calls secret; records come redacted.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

use crate::{
    files,
    session::{ToolLine, TurnLine},
};

/// The open log of one session.
pub struct CallLog {
    path: PathBuf,
    file: File,
    session: String,
    /// Bytes that were there before.
    before: usize,
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
        let unlogged = || format!("cannot log tool calls in '{}'", path.display());
        let folder = fs::create_dir_all(path.parent().unwrap_or(Path::new(".")));
        let file = folder.and_then(|()| append(&path)).with_context(unlogged)?;
        let before = file.metadata().with_context(unlogged)?.len().try_into()?;
        Ok(Self { path, file, session: session.to_owned(), before })
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

    /// Removes the calls of these turns, of those since it was opened.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn take_back(&mut self, turns: &[u64]) -> anyhow::Result<()> {
        let taken = |call: &Value| call["turn"].as_u64().is_some_and(|turn| turns.contains(&turn));
        self.remove(self.before, taken)
    }

    /// Removes the calls that speakers of these names led to.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn forget(&mut self, names: &[String]) -> anyhow::Result<()> {
        self.remove(0, |call| is_of(call, names))
    }

    fn remove(&mut self, from: usize, which: impl Fn(&Value) -> bool) -> anyhow::Result<()> {
        if remove(&self.path, from, which)? {
            self.file = append(&self.path)
                .with_context(|| format!("cannot log tool calls in '{}'", self.path.display()))?;
        }
        Ok(())
    }
}

/// Removes from a log that nobody has open the calls that speakers of these names led to.
///
/// # Errors
/// It cannot be read or written.
pub fn forget_calls(path: &Path, names: &[String]) -> anyhow::Result<()> {
    remove(path, 0, |call| is_of(call, names)).map(drop)
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn is_of(call: &Value, names: &[String]) -> bool {
    call["speaker"].as_str().is_some_and(|speaker| names.iter().any(|name| name == speaker))
}

/// Removes calls after the first `from` bytes; whether there were any.
fn remove(path: &Path, from: usize, which: impl Fn(&Value) -> bool) -> anyhow::Result<bool> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => {
            let shown = path.display();
            return Err(anyhow::Error::new(error).context(format!("cannot read '{shown}'")));
        }
    };
    let (before, since) = text.split_at(from.min(text.len()));
    let stays = |line: &&[u8]| !serde_json::from_slice(line).is_ok_and(|call| which(&call));
    let left: Vec<u8> =
        since.split_inclusive(|it| *it == b'\n').filter(stays).flatten().copied().collect();
    if left.len() == since.len() {
        return Ok(false);
    }
    files::replace(path, &[before, &left].concat())
        .with_context(|| format!("cannot write '{}'", path.display()))?;
    Ok(true)
}
