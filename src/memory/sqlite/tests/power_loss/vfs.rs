//! A layer over SQLite's file access that records operations in watched folders.
//!
//! Entry type: [`Watched`]. As SQLite's default it opens every file of the process; files outside
//! watched folders are passed through. Watched files are read and written normally, but flushes are
//! only recorded.
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

/// A folder whose files are watched until dropped.
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

/// A watched file opened by SQLite.
struct Open {
    record: Arc<Mutex<Record>>,
    file: usize,
    /// Its first flush also flushes the names in the folder.
    flushes_names: bool,
    /// SQLite's own file methods.
    own: &'static sqlite3_io_methods,
    _ours: Box<sqlite3_io_methods>,
}

/// The layer below.
static BELOW: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());
/// The watched folders and their records.
static FOLDERS: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<Record>>>>> =
    LazyLock::new(Mutex::default);
/// Open watched files, by their address in SQLite.
static OPEN: LazyLock<Mutex<HashMap<usize, Open>>> = LazyLock::new(Mutex::default);

impl Watched {
    /// Puts `files` into the empty `folder` and watches it.
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

    /// Records an event outside the files.
    pub fn happens(&self, event: Event) {
        locked(&self.record).events.push(event);
    }

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
        // SAFETY: SQLite's table lives as long as the process, and so does ours, which differs only
        // in functions with the behaviour SQLite requires.
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

/// The record of a watched file's folder, and the file's name there.
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

/// SQLite's `xOpen`.
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    path: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    got: *mut c_int,
) -> c_int {
    let below = BELOW.load(Ordering::Acquire);
    // SAFETY: SQLite passes arguments that suit the layer below too; `file` has the size that layer
    // asks for.
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
    /// The number of a file, assigned if new.
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

/// SQLite's `xDelete`.
unsafe extern "C" fn delete(_: *mut sqlite3_vfs, path: *const c_char, flush: c_int) -> c_int {
    let below = BELOW.load(Ordering::Acquire);
    // SAFETY: SQLite passes arguments that suit the layer below too.
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

/// Records an event of an open file; returns SQLite's methods for it.
fn happens(
    file: *mut sqlite3_file,
    event: impl FnOnce(usize) -> Event,
) -> &'static sqlite3_io_methods {
    let open = locked(&OPEN);
    let open = &open[&file.addr()];
    locked(&open.record).events.push(event(open.file));
    open.own
}

/// SQLite's `xWrite`.
unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes that many bytes, and this layer opened the file.
    unsafe {
        let new = std::slice::from_raw_parts(bytes.cast::<u8>(), length.try_into().unwrap());
        let (at_byte, bytes_new) = (at.try_into().unwrap(), new.to_vec());
        let own = happens(file, |file| Event::Wrote { file, at: at_byte, bytes: bytes_new });
        own.xWrite.map_or(SQLITE_CANTOPEN, |function| function(file, bytes, length, at))
    }
}

/// SQLite's `xTruncate`.
unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: sqlite3_int64) -> c_int {
    let end = length.try_into().unwrap();
    let own = happens(file, |file| Event::Cut { file, length: end });
    // SAFETY: this layer opened the file.
    own.xTruncate.map_or(SQLITE_CANTOPEN, |function| unsafe { function(file, length) })
}

/// SQLite's `xSync`: the first one of a new journal flushes the folder too.
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

/// SQLite's `xClose`.
unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let open = locked(&OPEN).remove(&file.addr());
    let Some(open) = open else { return SQLITE_CANTOPEN };
    // SAFETY: this layer opened the file; its methods are valid until it is closed.
    open.own.xClose.map_or(SQLITE_CANTOPEN, |function| unsafe { function(file) })
}
