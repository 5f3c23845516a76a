//! The `memory` part of `glyphoxa.yaml`.
//!
//! Entry function: [`options`]. **Never**: opens the file.

use std::path::{Path, PathBuf};

use crate::yaml::Fields;

/// What is remembered, where and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// The file.
    pub path: PathBuf,
    /// Days after which a session is deleted; `None`: never.
    pub retention_days: Option<u64>,
}

/// What `fields` say; paths are relative to `folder`, the default lies in `data_dir`.
pub fn options(fields: Option<Fields<'_>>, (folder, data_dir): (&Path, &Path)) -> MemoryOptions {
    let path = fields.and_then(|fields| fields.text("path")).map(|path| folder.join(path));
    MemoryOptions {
        path: path.unwrap_or_else(|| data_dir.join("memory.db")),
        retention_days: fields.and_then(|fields| fields.whole("retention_days")),
    }
}
