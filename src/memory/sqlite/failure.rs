//! Errors of SQLite as errors of the memory.

use rusqlite::ErrorCode;

use super::super::Error;

pub fn failure(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            let code = error.sqlite_error().map_or(0, |error| error.extended_code);
            disk(&format!("{error}, code {code}"))
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

/// The disk accepts no writes; nothing is lost meanwhile.
pub fn disk(why: &str) -> Error {
    Error::Away(format!(
        "cannot write to its disk: {why} (is it full? make room on the disk of 'data_dir'; waiting \
         lines are written then)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_error_states_cause_and_remedy() {
        // SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: no room for the log's index.
        for code in [13, 4_874] {
            let said = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let told = failure(said).to_string();
            assert!(told.contains("is it full? make room"), "{told}");
            assert!(told.contains(&format!("code {code}")), "{told}");
        }
    }
}
