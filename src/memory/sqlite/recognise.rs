//! Recognises whether the memory's file is ours, without changing it.
//!
//! Entry function: [`recognise`]. An ordinary connection would switch another program's database to
//! WAL mode and might checkpoint its log when closing. This one is read-only and `immutable`:
//! SQLite takes no lock, reads no log and creates no file. The log is searched as bytes instead,
//! because after a crash the first tables may exist only there. **Never**: writes.

use std::{
    fmt::Write,
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};

use super::{
    super::Error,
    failure,
    migrate::{Tables, tables},
};

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: u64 = 100;
/// Offset of the application id that other programs set; ours is 0.
const APPLICATION: usize = 68;
const JOURNAL: &[u8] = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
/// Offset in a journal: number of pages before the transaction.
const PAGES_BEFORE: usize = 16;
/// Searched bytes of the log; its first transaction creates a table.
const LOG_MAX: u64 = 1 << 20;
/// Text of every schema, and of ours, which begins with it.
const CREATES: [&[u8]; 2] = [b"CREATE ", b"CREATE TABLE migration ("];

/// Refuses the file at `path` if it is another program's or no database; accepts a missing or empty
/// one.
pub fn recognise(path: &Path) -> Result<(), Error> {
    // SQLite puts a log beside a link's target.
    let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
    // Opening a pipe would block.
    if !fs::metadata(&real).is_ok_and(|about| about.is_file() && about.len() > 0) {
        return Ok(());
    }
    let others = || {
        let path = path.display();
        Error::Asked(format!(
            "'{path}' is the database of another program (set memory.path to another file)"
        ))
    };
    let header = beginning(&real, HEADER)
        .map_err(|error| Error::Away(format!("cannot open '{}': {error}", path.display())))?;
    if is_begun(&real) {
        return Ok(());
    }
    if !header.starts_with(MAGIC) {
        return Err(Error::Damaged("file is not a database".to_owned()));
    }
    if number(&header, APPLICATION) != 0 {
        return Err(others());
    }
    let log = beginning(&beside(&real, "-wal"), LOG_MAX).unwrap_or_default();
    let [any, ours] = CREATES.map(|text| log.windows(text.len()).any(|part| part == text));
    match look(&real) {
        Ok(Tables::Ours) => Ok(()),
        _ if ours => Ok(()),
        Ok(Tables::Others) => Err(others()),
        Ok(Tables::None) if any => Err(others()),
        Ok(Tables::None) => Ok(()),
        // A power cut may leave a file that is complete only with its log.
        Err(_) if !log.is_empty() => Ok(()),
        Err(error) => Err(error),
    }
}

fn look(path: &Path) -> Result<Tables, Error> {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        // Writing to a string cannot fail.
        _ = write!(address, "%{byte:02x}");
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    tables(&Connection::open_with_flags(address, flags).map_err(failure)?)
}

/// True if the first transaction of the file at `path` was cut off: SQLite empties such a file on
/// opening.
fn is_begun(path: &Path) -> bool {
    let journal = beginning(&beside(path, "-journal"), HEADER).unwrap_or_default();
    journal.starts_with(JOURNAL) && number(&journal, PAGES_BEFORE) == 0
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
    four.map_or(0, |four| u32::from_be_bytes(*four))
}

fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The path with `end` appended to the name.
pub fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
