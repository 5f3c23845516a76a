//! Files of other programs at the memory's path, and files of ours from earlier versions.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use rusqlite::Connection;

use super::*;

/// Visible state of a file.
#[derive(Debug, PartialEq)]
struct State {
    name: String,
    bytes: Vec<u8>,
    mode: u32,
    written: (i64, i64),
}

fn states(folder: &Path) -> Vec<State> {
    let state = |entry: fs::DirEntry| {
        let about = entry.metadata().unwrap();
        State {
            name: entry.file_name().into_string().unwrap(),
            bytes: fs::read(entry.path()).unwrap(),
            mode: about.mode(),
            written: (about.mtime(), about.mtime_nsec()),
        }
    };
    let mut states: Vec<State> =
        fs::read_dir(folder).unwrap().map(|it| state(it.unwrap())).collect();
    states.sort_by(|one, other| one.name.cmp(&other.name));
    states
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A database at `path` made by `sql`; open while kept.
fn database(path: &Path, sql: &str) -> Connection {
    let db = Connection::open(path).unwrap();
    db.execute_batch(sql).unwrap();
    db
}

#[test]
fn databases_of_other_programs_stay_untouched() {
    let (open, closed) = (true, false);
    let cases = [
        ("CREATE TABLE theirs (a);", closed),
        ("CREATE TABLE theirs (a);", open),
        ("PRAGMA journal_mode = WAL; CREATE TABLE theirs (a);", closed),
        ("PRAGMA journal_mode = WAL; CREATE TABLE theirs (a);", open),
        ("CREATE TABLE migration (id INTEGER PRIMARY KEY, name TEXT);", closed),
        ("PRAGMA application_id = 7;", closed),
        (
            "CREATE TABLE theirs (a); PRAGMA journal_mode = WAL; INSERT INTO theirs VALUES (1);",
            open,
        ),
    ];
    for (sql, is_open) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("the ir%20s?.db");
        let theirs = database(&path, sql);
        let _theirs = is_open.then_some(theirs);
        set_mode(&path, 0o644);
        let before = states(folder.path());
        let error = Sqlite::open(&path).err().unwrap();
        assert!(matches!(error, Error::Asked(_)), "{sql}: {error}");
        assert_eq!(states(folder.path()), before, "{sql}");
    }
}

#[test]
fn file_that_is_no_database_stays_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    fs::write(&path, "Dear Anna, ".repeat(99)).unwrap();
    set_mode(&path, 0o644);
    let before = states(folder.path());
    let error = Sqlite::open(&path).err().unwrap();
    assert!(matches!(error, Error::Damaged(_)), "{error}");
    assert_eq!(states(folder.path()), before);
}

#[test]
fn empty_file_is_used_and_closed_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fs::write(&path, "").unwrap();
    set_mode(&path, 0o644);
    let _store = Sqlite::open(&path).unwrap();
    let open: Vec<State> =
        states(folder.path()).into_iter().filter(|it| it.mode & 0o077 != 0).collect();
    assert!(open.is_empty(), "{open:?}");
}

/// The schema is only in the log, as after a crash of the first evening.
#[test]
fn own_file_is_recognised_by_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut db = database(&path, "PRAGMA journal_mode = WAL;");
    migrate::migrate(&mut db, &migrate::STEPS[..1]).unwrap();
    let crashed = tempfile::tempdir().unwrap();
    for file in states(folder.path()) {
        fs::write(crashed.path().join(&file.name), &file.bytes).unwrap();
    }
    let path = crashed.path().join("memory.db");
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(9).any(|part| part == b"migration"), "it is in the log alone");
    Sqlite::open(&path).unwrap();
    drop(db);
}
