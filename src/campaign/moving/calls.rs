//! Logs of tool calls of the sessions of an export.
//!
//! Entry functions: [`calls_of_sessions`], [`write_calls`], [`calls_left_out`]. **Never**: changes a log that is there.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use crate::{
    campaign::{
        KeptError, Scoped,
        call_log::log_of,
        file_error::{FileError, read_if_there},
    },
    domain::Scope,
    files,
    memory::{Deletion, Error, Session},
};

/// Calls of the `sessions` of a scope, each as a line of its log, without those of people whose words wait
/// for their deletion.
pub async fn calls_of_sessions(
    at: Scoped<'_>,
    data_dir: &Path,
    sessions: &[Session],
) -> Result<BTreeMap<String, Vec<String>>, CallsError> {
    let deletions = at.store.deletions().await?;
    let mut calls = BTreeMap::new();
    for session in sessions {
        let log = log_of(data_dir, &session.id, at.scope)?;
        let text = log.map(|path| read_if_there(&path)).transpose()?.flatten();
        let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default()).into_owned();
        let is_whole = |line: &&str| {
            let call = serde_json::from_str::<Value>(line);
            call.is_ok_and(|call| call.is_object() && !is_deleted(&call, at.scope, &deletions))
        };
        let lines: Vec<String> = text.lines().filter(is_whole).map(str::to_owned).collect();
        if !lines.is_empty() {
            calls.insert(session.id.clone(), lines);
        }
    }
    Ok(calls)
}

fn is_deleted(call: &Value, scope: &Scope, deletions: &[Deletion]) -> bool {
    deletions.iter().any(|deletion| {
        let session = deletion.from.session.as_ref().is_none_or(|it| call["session"] == it.0);
        deletion.from.owner == scope.owner && session && call["speaker_id"] == deletion.player
    })
}

/// Writes the logs of sessions that have none; returns their number. Blocks.
pub fn write_calls(
    data_dir: &Path,
    scope: &Scope,
    calls: &BTreeMap<String, Vec<String>>,
) -> Result<usize, CallsError> {
    let mut written = 0;
    for (session, lines) in calls {
        let log = log_of(data_dir, session, scope)?;
        let Some(path) = log.filter(|path| !path.exists()) else { continue };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        files::replace_private(&path, text.as_bytes()).map_err(FileError::on("write", &path))?;
        written += 1;
    }
    Ok(written)
}

/// Number of calls that no log of `scope` takes: another owner has their session, or its name is no file's.
pub fn calls_left_out(
    data_dir: &Path,
    scope: &Scope,
    calls: &BTreeMap<String, Vec<String>>,
) -> Result<usize, CallsError> {
    let mut left_out = 0;
    for (session, lines) in calls {
        if log_of(data_dir, session, scope)?.is_none() {
            left_out += lines.len();
        }
    }
    Ok(left_out)
}

/// Reason logs of tool calls were not read or written.
#[derive(Debug, thiserror::Error)]
pub enum CallsError {
    #[error(transparent)]
    Kept(#[from] KeptError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] Error),
}
