//! What SQLite's errors mean.

use rusqlite::ErrorCode;

use super::super::Error;

/// What SQLite says, by what can be done about it.
pub fn failure(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            Error::Away(format!("its disk takes nothing (is it full?): {error}"))
        }
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory,
        ) => Error::Away(error.to_string()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged(error.to_string())
        }
        _ => Error::Failed(error.to_string()),
    }
}
