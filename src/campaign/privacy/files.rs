//! Words of people in the files of kept sessions.
//!
//! Entry function: [`forget_kept`]. **Never**: leaves a person's words where NPCs go on from them.

use std::path::{Path, PathBuf};

use crate::{
    campaign::{
        KeptError, KeptSession, forget_calls, owner_of,
        parts::{kept_sessions, remove_parts},
    },
    domain::Person,
    memory::ForgetFrom,
};

/// Files that still hold a person's words.
#[derive(Debug, thiserror::Error)]
#[error("{first}")]
pub struct Unforgotten {
    /// The sessions whose files these are; an empty name for their folder.
    pub sessions: Vec<String>,
    /// Why, for the first of them.
    pub first: Box<KeptError>,
}

/// Forgets in the files of kept sessions of an owner what somebody has led to: exchanges with NPCs, and
/// calls. Goes on after a file that cannot be changed. Blocks. `only` names the sessions, all if it is
/// empty; `is_open` says whose calls are logged at this moment.
///
/// # Errors
/// Files cannot be read or written; the others are done.
pub fn forget_kept(
    data_dir: &Path,
    person: &Person,
    from: &ForgetFrom,
    only: &[String],
    is_open: impl Fn(&str) -> bool,
) -> Result<(), Unforgotten> {
    let is_meant = |id: &str| {
        owner_of(id) == from.owner
            && from.session.as_ref().is_none_or(|session| id == session.0)
            && (only.is_empty() || only.iter().any(|it| it == id))
    };
    let kept = kept_sessions(&data_dir.join("sessions"), is_meant);
    let kept = kept.map_err(|error| Unforgotten {
        sessions: vec![String::new()],
        first: Box::new(error.into()),
    })?;
    let (mut sessions, mut first) = (Vec::new(), None);
    for (id, parts) in kept {
        if let Err(error) = forget(data_dir, &id, &parts, person, is_open(&id)) {
            sessions.push(id);
            first.get_or_insert(Box::new(error));
        }
    }
    first.map_or(Ok(()), |first| Err(Unforgotten { sessions, first }))
}

/// Forgets in the files of one session, and removes `parts` of them that no program is writing.
fn forget(
    data_dir: &Path,
    id: &str,
    parts: &[PathBuf],
    person: &Person,
    is_open: bool,
) -> Result<(), KeptError> {
    if !remove_parts(&data_dir.join("sessions"), id, parts, is_open)? {
        return Err(KeptError::Busy(id.to_owned()));
    }
    let kept = KeptSession::of_anybody(data_dir, id)?;
    if let Some(calls) = kept.call_log().filter(|_| !is_open) {
        forget_calls(&calls, person)?;
    }
    Ok(kept.forget(person)?)
}
