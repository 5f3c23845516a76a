//! Stored loudness of sound files. Entry type: [`Levels`]. A broken file counts as empty.

use std::{collections::BTreeMap, io, path::Path, time::UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::{files, logic::music::Library};

/// Limit of the stored file, in bytes.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Integrated loudness in LUFS; `None`: silent or undecodable.
    pub lufs: Option<f32>,
    /// Highest sample, in dB of full scale.
    pub peak_db: f32,
}

impl Level {
    /// Level of an undecodable file, which is not retried until it changes.
    pub const UNKNOWN: Self = Self { lufs: None, peak_db: 0.0 };
}

/// Length and time of a file, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    length: u64,
    /// Last change in ms since 1970; 0 if the file system stores none.
    modified_ms: u64,
}

impl Stamp {
    /// `None`: the file does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        let about = path.metadata().ok()?;
        let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ms = since.and_then(|since| u64::try_from(since.as_millis()).ok());
        Some(Self { length: about.len(), modified_ms: modified_ms.unwrap_or_default() })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Measured {
    #[serde(flatten)]
    stamp: Stamp,
    #[serde(flatten)]
    level: Level,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Levels(BTreeMap<String, Measured>);

impl Levels {
    /// Reads the levels at `path`; empty if the file is missing or broken.
    pub fn read(path: &Path) -> Self {
        let bytes = files::read(path, BYTES_MAX).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Writes the levels and creates the folder.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let json = serde_json::to_vec(self).map_err(io::Error::other)?;
        files::replace_private(path, &json)
    }

    /// The level of the file at `path`, if it has not changed since.
    pub fn of(&self, path: &Path, stamp: Stamp) -> Option<Level> {
        let found = self.0.get(&*path.to_string_lossy())?;
        (found.stamp == stamp).then_some(found.level)
    }

    pub fn set(&mut self, path: &Path, stamp: Stamp, level: Level) {
        self.0.insert(path.to_string_lossy().into_owned(), Measured { stamp, level });
    }

    /// Removes files that are not in `library`.
    pub fn keep_only(&mut self, library: &Library) {
        let paths: std::collections::BTreeSet<_> =
            library.tracks.iter().map(|track| track.file.to_string_lossy()).collect();
        self.0.retain(|path, _| paths.contains(path.as_str()));
    }
}
