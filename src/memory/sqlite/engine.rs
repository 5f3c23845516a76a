//! One writing connection and a few reading ones, on their own threads; one more reads single rows on
//! the caller's thread.
//!
//! Entry types: [`Writer`], [`Readers`]. **Never**: answers a write before it is on the disk.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, TryLockError},
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{super::Error, connect::connect, disk, failure};
use crate::panics::caught_now;

/// Writes waiting for the disk: minutes of a busy table, about one per turn. When full, callers
/// wait.
const WRITES_CAPACITY: usize = 256;
const READERS: usize = 3;
/// Page cache of a reader, in KiB: enough for a campaign's world.
const CACHE_KIB: i32 = 12 * 1_024;
/// Page cache of the connection for single rows, in KiB.
const CACHE_HERE_KIB: i32 = 256;

/// A write to be committed with others.
trait Job: Send {
    /// Runs within the transaction; returns whether to keep it.
    fn run(&mut self, db: &Connection) -> bool;
    fn finish(self: Box<Self>, committed: Result<(), Error>);
}

struct Write<W, T> {
    work: Option<W>,
    done: Option<Result<T, Error>>,
    answer: oneshot::Sender<Result<T, Error>>,
}

impl<W, T> Job for Write<W, T>
where
    W: FnOnce(&Connection) -> Result<T, Error> + Send,
    T: Send,
{
    fn run(&mut self, db: &Connection) -> bool {
        self.done = self.work.take().map(|work| unbroken(|| work(db)));
        matches!(self.done, Some(Ok(_)))
    }

    fn finish(self: Box<Self>, committed: Result<(), Error>) {
        let done = match (self.done, committed) {
            (Some(Ok(_)), Err(error)) => Err(error),
            (Some(done), _) => done,
            (None, committed) => Err(committed.err().unwrap_or_else(closed)),
        };
        // The caller may be gone; the write stays.
        _ = self.answer.send(done);
    }
}

fn closed() -> Error {
    Error::Away("it is shutting down".to_owned())
}

/// The writing connection. Commits waiting jobs together.
pub struct Writer {
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    /// Makes writes fail in tests.
    #[cfg(test)]
    pub away: std::sync::atomic::AtomicBool,
    /// Makes writes wait in tests.
    #[cfg(test)]
    pub silent: tokio::sync::watch::Sender<bool>,
}

impl Writer {
    /// Writes with `db` until dropped. Fails if no thread can start.
    pub fn start(db: Connection) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(WRITES_CAPACITY);
        let thread = thread::Builder::new()
            .name("memory".to_owned())
            .spawn(move || write_all(&db, queue))
            .map_err(|error| Error::Away(error.to_string()))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
            #[cfg(test)]
            away: Default::default(),
            #[cfg(test)]
            silent: Default::default(),
        })
    }

    /// Runs `work` within a transaction; answers once it is on the disk.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        #[cfg(test)]
        if self.away.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(closed());
        }
        #[cfg(test)]
        drop(self.silent.subscribe().wait_for(|is_silent| !is_silent).await);
        let (answer, done) = oneshot::channel();
        let job = Box::new(Write { work: Some(work), done: None, answer });
        #[cfg(test)]
        let _held = held();
        let jobs = self.jobs.as_ref().ok_or_else(closed)?;
        jobs.send(job).await.map_err(|_| closed())?;
        done.await.map_err(|_| closed())?
    }
}

/// Keeps a test's paused clock from advancing until dropped: the writer's thread is busy, and
/// timeouts would fire too early.
#[cfg(test)]
fn held() -> oneshot::Sender<()> {
    let (held, dropped) = oneshot::channel();
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        // The expected drop is an error here.
        runtime.spawn_blocking(move || dropped.blocking_recv());
    }
    held
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to write.
            _ = thread.join();
        }
    }
}

fn write_all(db: &Connection, mut queue: mpsc::Receiver<Box<dyn Job>>) {
    while let Some(first) = queue.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < WRITES_CAPACITY
            && let Ok(next) = queue.try_recv()
        {
            batch.push(next);
        }
        let committed = commit(db, &mut batch);
        if committed.is_err() && !db.is_autocommit() {
            // A transaction that cannot be rolled back here is rolled back at the next opening of
            // the file.
            _ = db.execute_batch("ROLLBACK");
        }
        for job in batch {
            job.finish(committed.clone());
        }
    }
}

/// Runs all jobs in one transaction; a failing job affects no other.
fn commit(db: &Connection, batch: &mut [Box<dyn Job>]) -> Result<(), Error> {
    let run = |sql: &str| db.execute_batch(sql).map_err(failure);
    run("BEGIN IMMEDIATE")?;
    for job in batch {
        run("SAVEPOINT job")?;
        if !job.run(db) {
            if db.is_autocommit() {
                // A full disk rolls back the whole transaction.
                return Err(disk("the whole transaction was taken back"));
            }
            run("ROLLBACK TO job")?;
        }
        run("RELEASE job")?;
    }
    run("COMMIT")
}

pub struct Readers {
    free: Arc<Mutex<Vec<Connection>>>,
    turns: Arc<Semaphore>,
    /// Never waits for a lock of the file.
    here: Mutex<Connection>,
}

impl Readers {
    /// Fails if the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut free = Vec::new();
        for _ in 0..READERS {
            free.push(reader(path, CACHE_KIB)?);
        }
        let here = reader(path, CACHE_HERE_KIB)?;
        here.busy_timeout(Duration::ZERO).map_err(failure)?;
        let (free, turns) = (Arc::new(Mutex::new(free)), Arc::new(Semaphore::new(READERS)));
        Ok(Self { free, turns, here: Mutex::new(here) })
    }

    /// Runs `work`, one statement for a single row, on the caller's thread: handing it to another
    /// thread would take longer than the statement. `None`: the connection is in use, or `work`
    /// failed; then [`Self::read`] waits, and returns the error.
    pub fn read_here<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Option<T> {
        let reader = match self.here.try_lock() {
            Ok(reader) => reader,
            Err(TryLockError::Poisoned(reader)) => reader.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        unbroken(|| work(&reader)).ok()
    }

    /// Runs `work` on the current data.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| closed())?;
        let free = Arc::clone(&self.free);
        let done = tokio::task::spawn_blocking(move || {
            // Held while the connection is lent, even if the caller gave up.
            let _turn = turn;
            let reader = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut reader) = reader else { return Err(closed()) };
            let done = unbroken(|| snapshot(&mut reader, work));
            free.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            done
        });
        done.await.map_err(|error| Error::Failed(error.to_string()))?
    }
}

/// A connection that only reads, with a page cache of `cache` KiB.
fn reader(path: &Path, cache: i32) -> Result<Connection, Error> {
    let reader = connect(path)?;
    reader.pragma_update(None, "query_only", true).map_err(failure)?;
    reader.pragma_update(None, "cache_size", -cache).map_err(failure)?;
    Ok(reader)
}

/// Runs `work`; after a panic the connection stays usable.
fn unbroken<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    caught_now(work).unwrap_or_else(|fault| Err(Error::Failed(fault.to_string())))
}

/// Runs `work` on one snapshot of the file.
fn snapshot<T>(
    reader: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    let state = reader.transaction().map_err(failure)?;
    work(&state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaks() {
        panic!("once");
    }

    /// A new file with an empty table.
    fn opened(path: &Path) -> (Writer, Readers) {
        let db = connect(path).unwrap();
        db.execute_batch("CREATE TABLE kept (n INTEGER)").unwrap();
        (Writer::start(db).unwrap(), Readers::open(path).unwrap())
    }

    fn insert(db: &Connection) -> Result<usize, Error> {
        db.execute("INSERT INTO kept VALUES (1)", []).map_err(failure)
    }

    fn count(db: &Connection) -> Result<i64, Error> {
        db.query_row("SELECT count(*) FROM kept", [], |row| row.get(0)).map_err(failure)
    }

    #[tokio::test]
    async fn panicking_work_fails_alone_and_is_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, readers) = opened(&folder.path().join("memory.db"));
        let broken = writer.write(move |db| {
            insert(db)?;
            breaks();
            Ok(())
        });
        let error = broken.await.unwrap_err().to_string();
        assert!(error.contains("src/memory/sqlite/engine.rs:"), "{error}");
        writer.write(insert).await.unwrap();
        for _ in 0..=READERS {
            let broken = readers.read(|_| {
                breaks();
                Ok(())
            });
            assert!(broken.await.is_err());
        }
        assert_eq!(readers.read(count).await.unwrap(), 1, "what had panicked is taken back");
    }

    #[tokio::test]
    async fn row_is_read_here_as_last_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let (writer, readers) = opened(&path);
        assert_eq!(readers.read_here(count), Some(0));
        writer.write(insert).await.unwrap();
        assert_eq!(readers.read_here(count), Some(1));
        // As another program that shares the file.
        insert(&connect(&path).unwrap()).unwrap();
        assert_eq!(readers.read_here(count), Some(2));
        assert_eq!(readers.read_here(|_| Ok(readers.read_here(count))), Some(None), "in use");
        assert_eq!(readers.read_here(insert), None, "it only reads");
        let broken = readers.read_here(|_| {
            breaks();
            Ok(())
        });
        assert_eq!(broken, None);
        assert_eq!(readers.read_here(count), Some(2), "it is still usable");
    }
}
