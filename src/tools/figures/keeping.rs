//! Figures kept for the next run, and shown to others.

use std::path::Path;

use super::{
    report::Report,
    state::FILE_NAME,
    store::{NotKept, read},
};
use crate::{domain::Owner, tools::ToolHost};

impl ToolHost {
    /// Keeps what was measured for the next run. Does nothing without a folder, or when nothing
    /// is new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_figures(&self) -> Result<(), NotKept> {
        let figures = self.catalog().figures();
        figures.remember(&self.catalog().tools());
        figures.write()
    }
}

/// Report of the figures that `folder` holds for `environment`, of the installation's tools alone, to be
/// shown to others.
pub fn report(folder: &Path, environment: &str) -> Report {
    report_of(folder, environment, |owner, _| owner.is_none())
}

/// Report of the figures that `folder` holds for `environment`, of the tools for which `is_meant` holds; it
/// gets the owner who added a tool, if any, and its identity.
pub fn report_of(
    folder: &Path,
    environment: &str,
    is_meant: impl Fn(Option<Owner>, &str) -> bool,
) -> Report {
    Report::new(read(&folder.join(FILE_NAME)).newest(environment, is_meant))
}
