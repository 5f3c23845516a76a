//! Figures kept for the next run, and shown to others.

use std::path::Path;

use super::{
    report::Report,
    state::FILE_NAME,
    store::{NotKept, read},
};
use crate::tools::ToolHost;

impl ToolHost {
    /// Keeps what was measured for the next run. Does nothing without a folder, or when nothing
    /// is new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_figures(&self) -> Result<(), NotKept> {
        let figures = self.catalog().figures();
        figures.remember(self.catalog().snapshot().all().iter().map(|entry| &entry.tool));
        figures.write()
    }
}

/// What `folder` keeps for `environment`, to be shown to others.
pub fn report(folder: &Path, environment: &str) -> Report {
    Report::new(read(&folder.join(FILE_NAME)).newest(environment))
}
