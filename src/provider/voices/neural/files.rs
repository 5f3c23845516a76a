//! Reads a voice's files.
//!
//! Entry function: [`bounded`].

use std::{
    io,
    io::Read,
    path::{Path, PathBuf},
};

use crate::{
    files,
    provider::{Error, Kind},
};

pub fn shown(folders: &[PathBuf]) -> String {
    let all: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
    all.join("' or '")
}

pub fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let shown = path.display();
    let read = || -> io::Result<Vec<u8>> {
        let file = files::open(path)?;
        let mut bytes = Vec::new();
        if let Ok(length) = usize::try_from(file.metadata()?.len().min(most)) {
            bytes.reserve_exact(length + 1);
        }
        file.take(most + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| missing(format!("cannot read '{shown}': {error}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        let text = format!("'{shown}' has more than \"{most}\" bytes, too many for a voice");
        return Err(Error::new(Kind::Protocol, text));
    }
    Ok(bytes)
}

pub fn missing(text: String) -> Error {
    Error::new(Kind::Missing, text)
}
