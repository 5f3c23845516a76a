//! Figures saved for the next run, and reports of them.

use std::path::Path;

use super::{
    report::Report,
    state::FILE_NAME,
    store::{NotKept, read},
};
use crate::{domain::Owner, tools::ToolHost};

impl ToolHost {
    /// Saves new figures for the next run; does nothing without a folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_figures(&self) -> Result<(), NotKept> {
        let figures = self.catalog().figures();
        figures.remember(&self.catalog().tools());
        figures.write()
    }
}

/// Report of the installation's tools from the figures in `folder` for `environment`.
pub fn report(folder: &Path, environment: &str) -> Report {
    report_of(folder, environment, |owner, _| owner.is_none())
}

/// Report of the tools accepted by `is_meant`, which gets owner and identity.
pub fn report_of(
    folder: &Path,
    environment: &str,
    is_meant: impl Fn(Option<Owner>, &str) -> bool,
) -> Report {
    Report::new(read(&folder.join(FILE_NAME)).newest(environment, is_meant))
}
