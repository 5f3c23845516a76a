//! Errors of changes to a world.
//!
//! Entry type: [`WorldError`].

use super::plan::ImportError;
use crate::{memory, yaml::Problem};

/// Problems of a file that are shown; more are counted.
const PROBLEMS_MAX: usize = 20;

/// Reason an order was not carried out, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// Nothing is called so.
    #[error("unknown entity '{0}' (/entity list shows all)")]
    Unknown(String),
    /// Several things are.
    #[error("'{name}' is ambiguous (choose one of: {names})")]
    Several {
        /// The name that was given.
        name: String,
        /// Names of the candidates.
        names: String,
    },
    /// It makes no id.
    #[error("invalid name '{0}' (use letters or digits)")]
    NoName(String),
    /// Something is called so already.
    #[error("'{name}' already exists: {by} (/entity show; to change it, remove it first)")]
    Taken {
        /// The name that was given.
        name: String,
        /// The entity that has the name.
        by: String,
    },
    /// The file would bring it back.
    #[error(
        "'{0}' is in the configured campaign file and would return at the next start (remove it \
         there)"
    )]
    OfFile(String),
    /// Somebody was faster.
    #[error("it was already removed")]
    Gone,
    /// A file does not say which campaign it is.
    #[error(
        "'{0}' has no campaign name (add campaign: {{ name: … }}, or use /entity import to add \
         it to the campaign that is played)"
    )]
    Nameless(String),
    /// Problems of a file.
    #[error("{}", refused(.0))]
    File(Vec<Problem>),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
}

impl From<ImportError> for WorldError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Problems(problems) => Self::File(problems),
            ImportError::Store(error) => Self::Store(error),
        }
    }
}

/// Every problem, or as many as anybody reads at once.
fn refused(problems: &[Problem]) -> String {
    let mut lines: Vec<String> =
        problems.iter().take(PROBLEMS_MAX).map(ToString::to_string).collect();
    if let Some(more) = problems.len().checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) {
        lines.push(format!("and {more} more (glyphoxa import shows all)"));
    }
    lines.push("nothing was imported (fix the file and send it again)".to_owned());
    lines.join("\n")
}
