//! A person's words in the files of stored sessions.
//!
//! **Never**: changes files of a session that another program plays: it would write them again.

use std::path::{Path, PathBuf};

use super::{KeptFiles, KeptOf};
use crate::{
    campaign::{
        KeptError, KeptSession, calls_of,
        file_error::{FileError, names_in, read_if_there},
        forget_calls,
        hold::SessionHold,
        owner_of,
        parts::{kept_sessions, lock_of, remove_parts},
    },
    domain::Person,
    memory::ForgetFrom,
};

#[derive(Debug, thiserror::Error)]
#[error("{first}")]
pub struct Unforgotten {
    /// The sessions of the files; an empty name for their folder.
    pub sessions: Vec<String>,
    /// The first error.
    pub first: Box<KeptError>,
}

/// Removes the exchanges and calls that `person` led to from the sessions `only`, or from all of
/// the owner's if it is empty. `is_open` names sessions of this program. Continues after errors.
/// Blocks.
pub fn forget_kept(
    data_dir: &Path,
    person: &Person,
    from: &ForgetFrom,
    only: &[String],
    is_open: impl Fn(&str) -> bool,
) -> Result<(), Unforgotten> {
    let kept = kept_sessions(&data_dir.join("sessions"), |id| is_meant(id, from, only));
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

/// Lists sessions whose files mention `person`. Goes on after an unreadable file. Blocks.
pub fn of_files(data_dir: &Path, person: &Person, from: &ForgetFrom) -> KeptFiles {
    let mut kept = KeptFiles::default();
    match kept_sessions(&data_dir.join("sessions"), |id| is_from(id, from)) {
        Err(error) => kept.unread = Some(error.into()),
        Ok(sessions) => {
            for (session, parts) in sessions {
                match of_session(data_dir, session, &parts, person) {
                    Ok(of) => kept.of.extend(of),
                    Err(error) => _ = kept.unread.get_or_insert(error),
                }
            }
        }
    }
    kept
}

/// `None`: the session has nothing of `person`.
fn of_session(
    data_dir: &Path,
    session: String,
    parts: &[PathBuf],
    person: &Person,
) -> Result<Option<KeptOf>, KeptError> {
    let mut left = 0;
    for part in parts {
        left += usize::from(is_named_in(part, person)?);
    }
    let kept = KeptSession::of_anybody(data_dir, &session);
    let whole = kept.and_then(|kept| {
        let calls = kept.call_log().map_or(Ok(0), |log| calls_of(&log, person))?;
        Ok((kept.messages_of(person), calls))
    });
    let (messages, calls) = match whole {
        Err(_) if left > 0 => (0, 0),
        whole => whole?,
    };
    let is_any = messages + calls + left > 0;
    Ok(is_any.then_some(KeptOf { session, messages, calls, parts: left }))
}

/// True if `part`, which may be cut off anywhere, contains the identity or a name of `person`.
fn is_named_in(part: &Path, person: &Person) -> Result<bool, FileError> {
    let Some(bytes) = read_if_there(part)? else { return Ok(false) };
    let text = String::from_utf8_lossy(&bytes);
    let names = person.names.iter().chain([&person.id.0]).filter(|name| !name.is_empty());
    // Escaped as in JSON.
    let mut written = names.map(|name| serde_json::Value::from(name.as_str()).to_string());
    Ok(written.any(|name| text.contains(name.trim_matches('"'))))
}

/// A session of `from` that another program plays; this one plays the session `playing`, if any.
///
/// # Errors
/// The folder cannot be read, or a lock cannot be tried.
pub fn played_elsewhere(
    data_dir: &Path,
    from: &ForgetFrom,
    playing: Option<&str>,
) -> Result<Option<String>, FileError> {
    let folder = data_dir.join("sessions");
    for name in names_in(&folder)? {
        let id = name.strip_suffix(".lock");
        if let Some(id) = id.filter(|id| is_from(id, from) && playing != Some(*id))
            && SessionHold::take(lock_of(&folder, id))?.is_none()
        {
            return Ok(Some(id.to_owned()));
        }
    }
    Ok(None)
}

/// True for the sessions `only` of `from`, or for all of them if `only` is empty.
pub fn is_meant(id: &str, from: &ForgetFrom, only: &[String]) -> bool {
    is_from(id, from) && (only.is_empty() || only.iter().any(|it| it == id))
}

pub fn is_from(id: &str, from: &ForgetFrom) -> bool {
    owner_of(id) == from.owner && from.session.as_ref().is_none_or(|session| id == session.0)
}

/// Removes `person` from the files of one session, and its unfinished files not in use.
fn forget(
    data_dir: &Path,
    id: &str,
    parts: &[PathBuf],
    person: &Person,
    is_open: bool,
) -> Result<(), KeptError> {
    let _hold = match is_open {
        true => None,
        false => {
            let hold = SessionHold::take(lock_of(&data_dir.join("sessions"), id))?;
            Some(hold.ok_or_else(|| KeptError::Busy(id.to_owned()))?)
        }
    };
    remove_parts(parts, is_open)?;
    let kept = KeptSession::of_anybody(data_dir, id)?;
    if let Some(calls) = kept.call_log().filter(|_| !is_open) {
        forget_calls(&calls, person)?;
    }
    Ok(kept.forget(person)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::{Owner, PersonId};

    #[test]
    fn left_parts_and_foreign_files_hide_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("sessions");
        fs::create_dir(&sessions).unwrap();
        fs::write(sessions.join("friday.json"), "a diary").unwrap();
        fs::write(sessions.join("monday.json.7.part"), r#"{"by":"Anna \"A\"","text":"my wom"#)
            .unwrap();
        let kept = |id: &str| {
            let person = Person { id: PersonId(id.to_owned()), names: Vec::new() };
            of_files(folder.path(), &person, &ForgetFrom { owner: Owner::Local, session: None })
        };
        let KeptFiles { of, unread } = kept("Anna \"A\"");
        let session = "monday".to_owned();
        assert_eq!(of, [KeptOf { session, messages: 0, calls: 0, parts: 1 }]);
        assert!(matches!(unread, Some(KeptError::Foreign { .. })), "{unread:?}");
        assert!(kept("Ben").of.is_empty());
    }
}
