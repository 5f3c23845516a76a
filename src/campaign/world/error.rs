//! Why something was not done to a world.
//!
//! Entry type: [`WorldError`].

use super::plan::ImportError;
use crate::{memory, yaml::Problem};

/// Problems of a file that are shown; more are counted.
const PROBLEMS_MAX: usize = 20;

/// Why an order was not carried out, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// Nothing is called so.
    #[error("nothing is known of '{0}' (/entity list shows what there is)")]
    Unknown(String),
    /// Several things are.
    #[error("several are called '{name}' (say which: {names})")]
    Several {
        /// What was said.
        name: String,
        /// What they are called.
        names: String,
    },
    /// It makes no id.
    #[error("'{0}' is no name (letters or digits are wanted)")]
    NoName(String),
    /// Something is called so already.
    #[error("'{name}' is there already: {by} (/entity show; to change it, remove it first)")]
    Taken {
        /// What was said.
        name: String,
        /// What is called so.
        by: String,
    },
    /// The file would bring it back.
    #[error(
        "'{0}' is in the configured campaign file and would be back at the next start (take it out \
         there)"
    )]
    OfFile(String),
    /// Somebody was faster.
    #[error("it is gone already")]
    Gone,
    /// A file does not say which campaign it is.
    #[error(
        "'{0}' does not say what its campaign is called (write campaign: {{ name: … }} into it; \
         /entity import takes it into the campaign that is played)"
    )]
    Nameless(String),
    /// What is wrong with a file.
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
    lines.push("nothing was imported (mend the file, and send it again)".to_owned());
    lines.join("\n")
}
