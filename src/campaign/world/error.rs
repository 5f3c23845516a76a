use super::plan::ImportError;
use crate::{memory, yaml::Problem};

/// Most problems shown; more are counted.
const PROBLEMS_MAX: usize = 20;

/// Why an order was not carried out, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    #[error("unknown entity '{0}' (/entity list shows all)")]
    Unknown(String),
    #[error("'{name}' is ambiguous (choose one of: {names})")]
    Several { name: String, names: String },
    /// The name makes no id.
    #[error("invalid name '{0}' (use letters or digits)")]
    NoName(String),
    /// The name exists already.
    #[error("'{name}' already exists: {by} (/entity show; to change it, remove it first)")]
    Taken { name: String, by: String },
    /// The file would restore it.
    #[error(
        "'{0}' is in the configured campaign file and would return at the next start (remove it \
         there)"
    )]
    OfFile(String),
    /// Removed or changed meanwhile.
    #[error("it was already removed")]
    Gone,
    /// The file names no campaign.
    #[error(
        "'{0}' has no campaign name (add campaign: {{ name: … }}, or use /entity import to add \
         it to the campaign that is played)"
    )]
    Nameless(String),
    #[error("{}", refused(.0))]
    File(Vec<Problem>),
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

/// The problems, at most [`PROBLEMS_MAX`].
fn refused(problems: &[Problem]) -> String {
    let mut lines: Vec<String> =
        problems.iter().take(PROBLEMS_MAX).map(ToString::to_string).collect();
    if let Some(more) = problems.len().checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) {
        lines.push(format!("and {more} more (glyphoxa import shows all)"));
    }
    lines.push("nothing was imported (fix the file and send it again)".to_owned());
    lines.join("\n")
}
