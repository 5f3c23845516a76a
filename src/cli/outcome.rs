//! Unsuccessful results of commands. Entry type: [`Failure`].

use std::{fmt, io};

/// Exit status of success.
pub const DONE: u8 = 0;
/// Exit status of a failure.
pub const FAILED: u8 = 1;
/// Exit status of wrong usage or configuration.
pub const WRONG: u8 = 2;

#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or configuration.
    Usage(String),
    /// A failed attempt.
    Failed(anyhow::Error),
}

impl Failure {
    pub fn usage(why: impl fmt::Display) -> Self {
        Self::Usage(why.to_string())
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The reader of our output has closed the pipe (`glyphoxa … | head`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
