//! Unsuccessful results of commands.
//!
//! Entry type: [`Failure`]. **Never**: prints anything.

use std::{fmt, io};

/// Exit status of a command that did what it should.
pub const DONE: u8 = 0;
/// Exit status of a command that could not.
pub const FAILED: u8 = 1;
/// Exit status of wrong usage or configuration.
pub const WRONG: u8 = 2;

/// Unsuccessful result of a command.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or configuration.
    Usage(String),
    /// It was tried and failed.
    Failed(anyhow::Error),
}

impl Failure {
    /// The usage is wrong, for this reason.
    pub fn usage(why: impl fmt::Display) -> Self {
        Self::Usage(why.to_string())
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The reader of our output has left (`glyphoxa … | head`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
