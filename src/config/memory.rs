//! The `memory` part of `glyphoxa.yaml`. **Never**: prints an address with its password.

use std::path::{Path, PathBuf};

use super::reading::Notes;
use crate::{campaign::TranscriptOptions, memory::Address, yaml::Fields};

/// Place, contents and retention of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    pub place: MemoryPlace,
    /// Recorded parts of sessions.
    pub transcripts: TranscriptOptions,
    /// After a session on Discord, the chat model summarises it and proposes facts.
    pub consolidate: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryPlace {
    File(PathBuf),
    /// PostgreSQL, which other programs may share.
    Server(Address),
}

/// Reads `fields`; paths are relative to `folder`, the default is in `data_dir`.
pub fn options(
    fields: Option<Fields<'_>>,
    folder: &Path,
    data_dir: &Path,
    notes: &mut Notes,
) -> MemoryOptions {
    let path = fields.and_then(|fields| fields.text("path")).map(|path| folder.join(path));
    let url = fields.and_then(|fields| server(fields, path.is_some(), notes));
    let file = || MemoryPlace::File(path.unwrap_or_else(|| data_dir.join("memory.db")));
    MemoryOptions {
        place: url.map_or_else(file, MemoryPlace::Server),
        transcripts: TranscriptOptions {
            spill: data_dir.join("memory-waiting"),
            retention_days: fields.and_then(|fields| fields.whole("retention_days")),
        },
        consolidate: fields.and_then(|fields| fields.flag("consolidate")).unwrap_or(true),
    }
}

/// The server of `url`, which excludes other settings.
fn server(fields: Fields<'_>, has_path: bool, notes: &mut Notes) -> Option<Address> {
    let text = fields.text("url").map(str::trim).filter(|text| !text.is_empty())?;
    if has_path {
        let message = "memory has both a path and a url".to_owned();
        notes.problems.add(
            fields.place("url"),
            message,
            "keep path for a file, or url for a server",
        );
        return None;
    }
    let read = text.parse();
    if let Err(wrong) = &read {
        let message = format!("url is not a PostgreSQL address: {wrong}");
        let way_out = "write it as postgres://user:password@host:5432/database";
        notes.problems.add(fields.place("url"), message, way_out);
    }
    read.ok()
}
