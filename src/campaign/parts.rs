//! Unfinished files of stored sessions, left by killed programs. They contain what was said.
//!
//! Entry functions: [`kept_sessions`], [`remove_parts`], [`clear_parts`]. **Never**: removes a part
//! of a session that another program plays; callers hold the session.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process,
};

use super::{
    file_error::{FileError, names_in},
    hold::SessionHold,
};
use crate::files;

/// Stored sessions in `folder` whose names `is_meant` accepts, each with its unfinished files.
pub fn kept_sessions(
    folder: &Path,
    is_meant: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Vec<PathBuf>>, FileError> {
    let mut kept = BTreeMap::<_, Vec<_>>::new();
    for name in names_in(folder)? {
        let whole = files::whole_of(&name);
        let file = whole.unwrap_or(&name);
        let id = file.strip_suffix(".calls.jsonl").or_else(|| file.strip_suffix(".json"));
        if let Some(id) = id.filter(|id| is_meant(id)) {
            let parts = kept.entry(id.to_owned()).or_default();
            parts.extend(whole.map(|_| folder.join(&name)));
        }
    }
    Ok(kept)
}

/// Removes unfinished files of a session. If `is_open`, this program may be writing some itself.
pub fn remove_parts(parts: &[PathBuf], is_open: bool) -> Result<(), FileError> {
    let own = format!(".{}.part", process::id());
    let is_own = |part: &Path| part.to_str().is_some_and(|part| part.ends_with(&own));
    for part in parts.iter().filter(|part| !is_open || !is_own(part)) {
        match fs::remove_file(part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FileError::on("delete", part)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

pub fn lock_of(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

/// Removes the unfinished files of all sessions in `data_dir`. Blocks; logs failures.
pub fn clear_parts(data_dir: &Path) {
    let folder = data_dir.join("sessions");
    let all = match kept_sessions(&folder, |_| true) {
        Ok(all) => all,
        Err(error) => {
            tracing::error!(%error, "cannot look for parts of sessions that were killed");
            return;
        }
    };
    for (id, parts) in all.into_iter().filter(|(_, parts)| !parts.is_empty()) {
        let removed = SessionHold::take(lock_of(&folder, &id)).and_then(|hold| match hold {
            Some(_hold) => remove_parts(&parts, false),
            None => Ok(()),
        });
        if let Err(error) = removed {
            tracing::error!(%error, "a part of a session that was killed is left");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_killed_programs_go_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("sessions");
        fs::create_dir(&sessions).unwrap();
        let parts = ["friday.json.7.part", "friday.calls.jsonl.8.part", "monday.json.7.part"];
        for name in ["friday.json", "notes.part", "friday.json.x.part"].iter().chain(&parts) {
            fs::write(sessions.join(name), "my wombat").unwrap();
        }
        let hold = SessionHold::take(sessions.join("monday.lock")).unwrap().expect("free");
        clear_parts(folder.path());
        let left = || parts.into_iter().filter(|it| sessions.join(it).exists()).collect::<Vec<_>>();
        assert_eq!(left(), [parts[2]]);
        drop(hold);
        clear_parts(folder.path());
        assert_eq!(left(), [""; 0]);
        assert_eq!(fs::read_dir(&sessions).unwrap().count(), 3, "not ours to remove");
    }
}
