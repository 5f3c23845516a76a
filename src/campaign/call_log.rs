//! Tool calls of a stored session, one JSON object per line, written as they happen.
//!
//! Entry type: [`CallLog`]. **Never**: holds secrets of the configuration: arguments come redacted,
//! and a server may repeat in a result what it was given.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::Value;

use super::{
    clock::now,
    file_error::{FileError, read_if_there},
    kept::{KeptError, KeptSession, owner_of},
};
use crate::{
    domain::{Owner, Person, PersonId, Scope},
    files,
    session::{ToolLine, TurnLine},
};

/// Action in the error when calls cannot be added.
const LOGGING: &str = "log tool calls in";

pub struct CallLog {
    path: PathBuf,
    file: File,
    session: String,
    owner: Owner,
    /// Bytes at the time of opening.
    before: usize,
}

#[derive(Serialize)]
struct Entry<'a> {
    session: &'a str,
    /// Unix time in ms; the same for all calls of a turn. Lines of earlier versions have none.
    at: i64,
    turn: u64,
    npc: Option<&'a str>,
    speaker: &'a str,
    /// Speaker; lines of earlier versions have only the name.
    speaker_id: Option<PersonId>,
    /// Address of the MCP server.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(flatten)]
    call: &'a ToolLine,
}

impl CallLog {
    pub fn open(path: PathBuf, session: &str) -> Result<Self, FileError> {
        let opened = || {
            let file = files::append_private(&path)?;
            let before = file.metadata()?.len();
            Ok((file, usize::try_from(before).unwrap_or(usize::MAX)))
        };
        let (file, before) = opened().map_err(FileError::on(LOGGING, &path))?;
        Ok(Self { path, file, session: session.to_owned(), owner: owner_of(session), before })
    }

    pub fn add(&mut self, line: &TurnLine) -> Result<(), FileError> {
        let at = now();
        for call in line.tools.iter().map(ToolLine::kept) {
            let entry = Entry {
                session: &self.session,
                at,
                turn: line.turn,
                npc: line.npc.as_deref(),
                speaker: &line.speaker,
                speaker_id: line.from.map(|id| self.owner.person(id.0, &line.speaker)),
                server: call.server.as_deref(),
                call: &call,
            };
            // One write per line, so readers never see half a line.
            let text = serde_json::to_string(&entry).map_err(io::Error::from);
            let added = text.and_then(|text| self.file.write_all(format!("{text}\n").as_bytes()));
            added.map_err(FileError::on(LOGGING, &self.path))?;
        }
        Ok(())
    }

    /// Removes the calls of these turns, among those logged since it was opened.
    pub fn take_back(&mut self, turns: &[u64]) -> Result<(), FileError> {
        let taken = |call: &Value| call["turn"].as_u64().is_some_and(|turn| turns.contains(&turn));
        self.remove(self.before, taken)
    }

    /// Removes the calls that `person` led to.
    pub fn forget(&mut self, person: &Person) -> Result<(), FileError> {
        self.remove(0, |call| is_of(call, person))
    }

    fn remove(&mut self, from: usize, which: impl Fn(&Value) -> bool) -> Result<(), FileError> {
        if remove(&self.path, from, which)? {
            self.file =
                files::append_private(&self.path).map_err(FileError::on(LOGGING, &self.path))?;
        }
        Ok(())
    }
}

/// The log of a session of `scope`; `None`: its name is no file's name, or another owner has a session of it.
pub fn log_of(data_dir: &Path, session: &str, scope: &Scope) -> Result<Option<PathBuf>, KeptError> {
    match KeptSession::open(data_dir, session, scope) {
        Ok(kept) => Ok(kept.call_log()),
        Err(KeptError::Name(_) | KeptError::Elsewhere { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Like [`CallLog::forget`], for a log that no session has open.
pub fn forget_calls(path: &Path, person: &Person) -> Result<(), FileError> {
    remove(path, 0, |call| is_of(call, person)).map(drop)
}

/// Number of calls in the log at `path` that `person` led to; 0 without a log.
pub fn calls_of(path: &Path, person: &Person) -> Result<usize, FileError> {
    let theirs = |line: &&[u8]| serde_json::from_slice(line).is_ok_and(|call| is_of(&call, person));
    Ok(read_if_there(path)?.map_or(0, |text| text.split(|it| *it == b'\n').filter(theirs).count()))
}

fn is_of(call: &Value, person: &Person) -> bool {
    call["speaker"].as_str().is_some_and(|name| person.is(call["speaker_id"].as_str(), name))
}

/// Removes matching lines after the first `from` bytes; true if it removed any.
fn remove(path: &Path, from: usize, which: impl Fn(&Value) -> bool) -> Result<bool, FileError> {
    let Some(text) = read_if_there(path)? else { return Ok(false) };
    let (before, since) = text.split_at(from.min(text.len()));
    let stays = |line: &&[u8]| !serde_json::from_slice(line).is_ok_and(|call| which(&call));
    let left: Vec<u8> =
        since.split_inclusive(|it| *it == b'\n').filter(stays).flatten().copied().collect();
    if left.len() == since.len() {
        return Ok(false);
    }
    let replaced = files::replace_private(path, &[before, &left].concat());
    replaced.map_err(FileError::on("write", path))?;
    Ok(true)
}
