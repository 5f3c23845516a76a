//! Errors of PostgreSQL as errors of the memory.
//!
//! Entry: `?`, by [`From`]. **Never**: reveals a password, or takes a refusal for an absence.

use std::error::Error as _;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::error::DbError;

use super::address::Address;
use crate::memory::Error;

/// SQLSTATE classes that may pass: connection lost, transaction rolled back, no resources, wrong
/// state, operator intervention, system error.
const PASSING: [&str; 6] = ["08", "40", "53", "55", "57", "58"];
/// A failover happened, and this server is read-only.
const READ_ONLY: &str = "25006";
/// The server ended a session whose program was silent in a transaction.
const SILENT: &str = "25P03";
/// An equal key was inserted at the same time.
const TWICE: &str = "23505";

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(said) = error.as_db_error() {
            return refused(said);
        }
        // "error connecting to server" alone is no help.
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        let lost = error.is_closed() || has_io(&error) || text.starts_with("error connecting");
        if lost || text.starts_with("error performing TLS") {
            Self::Away(text)
        } else {
            Self::Failed(text)
        }
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                error.into()
            }
            PoolError::Timeout(_) => Self::Away("PostgreSQL does not answer in time".to_owned()),
            other => Self::Away(other.to_string()),
        }
    }
}

impl Error {
    pub(super) fn at(self, place: &Address) -> Self {
        match self {
            Self::Away(why) => Self::Away(format!(
                "PostgreSQL at {place}: {why} (start it, or correct 'memory.url')"
            )),
            Self::Asked(why) => Self::Asked(format!("PostgreSQL at {place}: {why}")),
            other => other,
        }
    }
}

fn refused(said: &DbError) -> Error {
    let code = said.code().code();
    let text = said.message();
    let class = code.get(..2).unwrap_or_default();
    let way = match code {
        "28P01" | "28000" => "correct user and password in 'memory.url'",
        "3D000" => "create it, or correct 'memory.url'",
        "42501" => "give the user of 'memory.url' the right to",
        _ if [READ_ONLY, SILENT, TWICE].contains(&code) || PASSING.contains(&class) => {
            return Error::Away(text.to_owned());
        }
        _ if class == "XX" => return Error::Damaged(text.to_owned()),
        _ => return Error::Failed(format!("{text} (SQLSTATE {code})")),
    };
    Error::Asked(format!("{text} ({way})"))
}

fn has_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|cause| cause.downcast_ref::<std::io::Error>().is_some())
}
