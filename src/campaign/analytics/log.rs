//! A session's log of calls, line by line. Entry function: [`read_log`].

use std::{
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use serde::Deserialize;

use crate::{campaign::file_error::FileError, files};

/// Longest line that is read, in bytes; a result may hold megabytes.
const LINE_MAX: u64 = 16 << 20;
/// Action in the error of a log.
const READING: &str = "read tool calls in";

/// A logged call, without its arguments, its result and the person.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct LoggedCall {
    /// Unix time in ms; lines of earlier versions have none.
    pub at: Option<i64>,
    pub turn: u64,
    pub npc: Option<String>,
    /// `server.tool`.
    pub tool: String,
    /// Address of the MCP server.
    pub server: Option<String>,
    pub ok: bool,
    pub ms: f64,
    #[serde(default)]
    pub attempts: u32,
    #[serde(default)]
    pub cached: bool,
    #[serde(default)]
    pub pending: bool,
}

/// Passes the calls of the log at `path` to `each`; returns the number of lines that are none.
/// Blocks. A missing log has no lines.
pub fn read_log(path: &Path, mut each: impl FnMut(LoggedCall)) -> Result<u64, FileError> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(FileError::on(READING, path)(error)),
    };
    let (mut lines, mut line, mut unread) = (BufReader::new(file), Vec::new(), 0);
    loop {
        line.clear();
        let read = lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
        if read.map_err(FileError::on(READING, path))? == 0 {
            return Ok(unread);
        }
        if !line.ends_with(b"\n") {
            // Too long, or cut short at the end of the file.
            lines.skip_until(b'\n').map_err(FileError::on(READING, path))?;
        }
        match serde_json::from_slice(&line) {
            Ok(call) => each(call),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => unread += 1,
        }
    }
}
