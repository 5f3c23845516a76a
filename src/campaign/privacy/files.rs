//! Words of people in the files of kept sessions.
//!
//! Entry function: [`forget_kept`]. **Never**: leaves a person's words where NPCs go on from them.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    campaign::{FileError, KeptError, KeptSession, forget_calls, owner_of},
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
    let kept = kept(&data_dir.join("sessions"), is_meant);
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

/// Kept sessions in `folder` that are meant, with what killed programs have left of their files.
fn kept(
    folder: &Path,
    is_meant: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Vec<PathBuf>>, FileError> {
    let files = match fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(FileError::on("read", folder)(error)),
    };
    let mut kept = BTreeMap::<_, Vec<_>>::new();
    for file in files {
        let name = file.map_err(FileError::on("read", folder))?.file_name();
        let Some(name) = name.to_str() else { continue };
        let part = name.strip_suffix(".part").and_then(|it| it.rsplit_once('.'));
        let whole = part.map_or(name, |(whole, _process)| whole);
        let id = whole.strip_suffix(".calls.jsonl").or_else(|| whole.strip_suffix(".json"));
        if let Some(id) = id.filter(|id| is_meant(id)) {
            let parts = kept.entry(id.to_owned()).or_default();
            parts.extend(part.map(|_| folder.join(name)));
        }
    }
    Ok(kept)
}

/// Forgets in the files of one session, and removes `parts` of them that no program is writing.
fn forget(
    data_dir: &Path,
    id: &str,
    parts: &[PathBuf],
    person: &Person,
    is_open: bool,
) -> Result<(), KeptError> {
    let mut kept = KeptSession::of_anybody(data_dir, id)?;
    if !parts.is_empty() {
        // This program may be writing its own part of a session that it holds.
        let own = format!(".{}.part", std::process::id());
        let is_own = |part: &Path| part.to_str().is_some_and(|part| part.ends_with(&own));
        let _hold = if is_open { None } else { kept.hold()? };
        for part in parts.iter().filter(|part| !is_open || !is_own(part)) {
            match fs::remove_file(part) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FileError::on("delete", part)(error).into());
                }
                _ => {}
            }
        }
    }
    if let Some(calls) = kept.call_log().filter(|_| !is_open) {
        forget_calls(&calls, person)?;
    }
    Ok(kept.forget(person)?)
}
