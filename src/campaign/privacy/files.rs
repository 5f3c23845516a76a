//! Words of people in the files of kept sessions.
//!
//! Entry function: [`forget_kept`]. **Never**: leaves a person's words where NPCs go on from them.

use std::{collections::BTreeSet, fs, io, path::Path};

use super::request::ForgetFrom;
use crate::{
    campaign::{FileError, KeptError, KeptSession, forget_calls, owner_of},
    domain::Person,
};

/// Forgets in the files of kept sessions of an owner what somebody has led to: exchanges with NPCs, and
/// calls. Blocks. `is_open` says whose calls are logged at this moment.
///
/// # Errors
/// A file cannot be read or written.
pub fn forget_kept(
    data_dir: &Path,
    person: &Person,
    from: &ForgetFrom,
    is_open: impl Fn(&str) -> bool,
) -> Result<(), KeptError> {
    let folder = data_dir.join("sessions");
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(FileError::on("read", &folder)(error).into()),
    };
    let is_meant = |id: &str| {
        owner_of(id) == from.owner && from.session.as_ref().is_none_or(|session| id == session.0)
    };
    let mut ids = BTreeSet::new();
    for file in files {
        let name = file.map_err(FileError::on("read", &folder))?.file_name();
        let id = name.to_str().and_then(|name| {
            name.strip_suffix(".calls.jsonl").or_else(|| name.strip_suffix(".json"))
        });
        ids.extend(id.filter(|id| is_meant(id)).map(str::to_owned));
    }
    for id in ids {
        let kept = KeptSession::of_anybody(data_dir, &id)?;
        if let Some(calls) = kept.call_log().filter(|_| !is_open(&id)) {
            forget_calls(&calls, person)?;
        }
        kept.forget(person)?;
    }
    Ok(())
}
