//! A layer over SQLite's own files that writes down what happens to those of watched folders.
//!
//! Entry type: [`Watched`]. SQLite has every file of the process opened by this layer, since it is
//! its default; what lies in no watched folder is handed on and never seen again. Watched files are
//! read and written as ever, but never flushed: that is written down alone.
#![expect(unsafe_code, reason = "SQLite asks for its files through a table of C functions")]

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_int, c_void},
    path::{Path, PathBuf},
    ptr,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, Once, PoisonError,
        atomic::{AtomicPtr, Ordering},
    },
};

use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_OK, SQLITE_OPEN_CREATE, SQLITE_OPEN_MAIN_JOURNAL,
    SQLITE_OPEN_SUPER_JOURNAL, SQLITE_OPEN_WAL, sqlite3_file, sqlite3_int64, sqlite3_io_methods,
    sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

use super::disk::{Event, Files};

/// A folder whose files are watched for as long as this is kept.
pub struct Watched {
    folder: PathBuf,
    record: Arc<Mutex<Record>>,
}

/// Events in a folder so far.
struct Record {
    events: Vec<Event>,
    /// Numbers of the files that have a name.
    names: HashMap<String, usize>,
    /// Number of files so far.
    files: usize,
}

/// A watched file that SQLite has open.
struct Open {
    record: Arc<Mutex<Record>>,
    file: usize,
    /// Its first flush is one of the names in the folder too.
    flushes_names: bool,
    /// SQLite's own methods for files.
    own: &'static sqlite3_io_methods,
    _ours: Box<sqlite3_io_methods>,
}

/// The layer below.
static BELOW: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());
/// The folders whose files are watched, each with its record.
static FOLDERS: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<Record>>>>> =
    LazyLock::new(Mutex::default);
/// Watched files that are open, by where SQLite keeps them.
static OPEN: LazyLock<Mutex<HashMap<usize, Open>>> = LazyLock::new(Mutex::default);

impl Watched {
    /// Puts `files` into `folder`, which is empty, and watches it.
    pub fn new(folder: &Path, files: &Files) -> Self {
        install();
        for (name, bytes) in files {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
        let names = files.keys().cloned().zip(0..).collect();
        let record = Record { events: Vec::new(), names, files: files.len() };
        let record = Arc::new(Mutex::new(record));
        locked(&FOLDERS).insert(folder.to_owned(), Arc::clone(&record));
        Self { folder: folder.to_owned(), record }
    }

    /// Something that did not happen to a file.
    pub fn happens(&self, event: Event) {
        locked(&self.record).events.push(event);
    }

    /// Everything that has happened.
    pub fn into_events(self) -> Vec<Event> {
        std::mem::take(&mut locked(&self.record).events)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        locked(&FOLDERS).remove(&self.folder);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this layer SQLite's default, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the table that SQLite gives stands for as long as the process, and so does ours,
        // which differs in functions that do what SQLite wants of them.
        unsafe {
            let below = sqlite3_vfs_find(ptr::null());
            BELOW.store(below, Ordering::Release);
            let mut ours = *below;
            ours.zName = c"watching".as_ptr();
            ours.pNext = ptr::null_mut();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            let ours = Box::into_raw(Box::new(ours));
            assert_eq!(sqlite3_vfs_register(ours, 1), SQLITE_OK);
        }
    });
}

/// The record of the folder that a file is in, if it is watched, and its name there.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn record_of(path: *const c_char) -> Option<(Arc<Mutex<Record>>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: it is a C string.
    let path = Path::new(unsafe { CStr::from_ptr(path) }.to_str().ok()?);
    let record = Arc::clone(locked(&FOLDERS).get(path.parent()?)?);
    Some((record, path.file_name()?.to_str()?.to_owned()))
}

/// Opens a file, as `xOpen` of SQLite.
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    path: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    got: *mut c_int,
) -> c_int {
    let below = BELOW.load(Ordering::Acquire);
    // SAFETY: SQLite gives what the layer below wants too; `file` is as large as that one asks.
    unsafe {
        let Some(function) = (*below).xOpen else { return SQLITE_CANTOPEN };
        let done = function(below, path, file, flags, got);
        if done != SQLITE_OK {
            return done;
        }
        let Some((record, name)) = record_of(path) else { return done };
        let own: &'static sqlite3_io_methods = &*(*file).pMethods;
        let mut ours = Box::new(*own);
        ours.xClose = Some(close);
        ours.xWrite = Some(write);
        ours.xTruncate = Some(truncate);
        ours.xSync = Some(sync);
        (*file).pMethods = &raw const *ours;
        let journal =
            flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL) != 0;
        let flushes_names = journal && flags & SQLITE_OPEN_CREATE != 0;
        let number = locked(&record).number(name);
        let open = Open { record, file: number, flushes_names, own, _ours: ours };
        locked(&OPEN).insert(file.addr(), open);
        done
    }
}

impl Record {
    /// The number of a file, which is new where it has none.
    fn number(&mut self, name: String) -> usize {
        if let Some(file) = self.names.get(&name) {
            return *file;
        }
        let file = self.files;
        self.files += 1;
        self.names.insert(name.clone(), file);
        self.events.push(Event::Made { name, file });
        file
    }
}

/// Removes a file, as `xDelete` of SQLite.
unsafe extern "C" fn delete(_: *mut sqlite3_vfs, path: *const c_char, flush: c_int) -> c_int {
    let below = BELOW.load(Ordering::Acquire);
    // SAFETY: SQLite gives what the layer below wants too.
    unsafe {
        let Some(function) = (*below).xDelete else { return SQLITE_CANTOPEN };
        let watched = record_of(path);
        let done = function(below, path, if watched.is_some() { 0 } else { flush });
        if let (Some((record, name)), SQLITE_OK) = (watched, done) {
            let mut record = locked(&record);
            record.names.remove(&name);
            record.events.push(Event::Removed { name });
            if flush != 0 {
                record.events.push(Event::NamesFlushed);
            }
        }
        done
    }
}

/// Writes down what happens to an open file; what SQLite does its files with.
fn happens(
    file: *mut sqlite3_file,
    event: impl FnOnce(usize) -> Event,
) -> &'static sqlite3_io_methods {
    let open = locked(&OPEN);
    let open = &open[&file.addr()];
    locked(&open.record).events.push(event(open.file));
    open.own
}

/// Writes, as `xWrite` of SQLite.
unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives so many bytes, and the file is one that this layer has opened.
    unsafe {
        let new = std::slice::from_raw_parts(bytes.cast::<u8>(), length.try_into().unwrap());
        let (at_byte, bytes_new) = (at.try_into().unwrap(), new.to_vec());
        let own = happens(file, |file| Event::Wrote { file, at: at_byte, bytes: bytes_new });
        own.xWrite.map_or(SQLITE_CANTOPEN, |function| function(file, bytes, length, at))
    }
}

/// Ends a file elsewhere, as `xTruncate` of SQLite.
unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: sqlite3_int64) -> c_int {
    let end = length.try_into().unwrap();
    let own = happens(file, |file| Event::Cut { file, length: end });
    // SAFETY: the file is one that this layer has opened.
    own.xTruncate.map_or(SQLITE_CANTOPEN, |function| unsafe { function(file, length) })
}

/// Flushes, as `xSync` of SQLite: the first of a new journal is one of the folder too.
unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    let mut open = locked(&OPEN);
    let Some(open) = open.get_mut(&file.addr()) else { return SQLITE_CANTOPEN };
    let mut record = locked(&open.record);
    record.events.push(Event::Flushed { file: open.file });
    if std::mem::take(&mut open.flushes_names) {
        record.events.push(Event::NamesFlushed);
    }
    SQLITE_OK
}

/// Closes, as `xClose` of SQLite.
unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let open = locked(&OPEN).remove(&file.addr());
    let Some(open) = open else { return SQLITE_CANTOPEN };
    // SAFETY: the file is one that this layer has opened; its functions stand until it is closed.
    open.own.xClose.map_or(SQLITE_CANTOPEN, |function| unsafe { function(file) })
}
