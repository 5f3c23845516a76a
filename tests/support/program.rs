//! The real program in a folder of its own, with an environment of its own.
//!
//! Entry types: [`Place`], [`Ran`]. Every wait is bounded by [`BOUND`]: a program that takes longer is
//! killed, and the test fails with what it said.

use std::{
    env, fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    os::unix::fs::{DirBuilderExt, symlink},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{skipped::skipped, weights::weights, whole};

/// Longest run of the program; far more than any needs on a machine that is busy.
const BOUND: Duration = Duration::from_secs(120);
/// Most calls that [`untimed`] makes.
const TRIES: usize = 50;
/// Folders of system programs.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A working folder; gone when dropped.
pub struct Place {
    folder: TempDir,
    environment: Vec<(String, String)>,
    /// The program is started with trust in the folder; most tests wrote it themselves.
    is_trusted: bool,
}

/// Output of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    /// An empty folder.
    pub fn new() -> Self {
        let environment = vec![("PATH".to_owned(), PATH.to_owned())];
        let folder = TempDir::new().expect("a temporary folder");
        Self { folder, environment, is_trusted: true }
    }

    /// Leaves it to the program whether it trusts the folder.
    pub fn untrusted(self) -> Self {
        Self { is_trusted: false, ..self }
    }

    /// Arguments before those of a test.
    fn first_arguments(&self) -> Option<&'static str> {
        self.is_trusted.then_some("--trust")
    }

    /// A folder with this `glyphoxa.yaml`.
    pub fn with_config(text: &str) -> Self {
        let place = Self::new();
        place.write("glyphoxa.yaml", text);
        place
    }

    /// A folder with the shipped cast and campaign; `entry` is its recogniser's line in `providers`.
    pub fn with_recogniser(entry: &str) -> Self {
        let (npcs, campaign) = (repository("npcs"), repository("campaigns/ravenford.yaml"));
        let (npcs, campaign) = (npcs.display(), campaign.display());
        Self::with_config(&format!("campaign: {campaign}\nnpc_dir: {npcs}\nproviders:\n{entry}"))
    }

    /// A folder whose program hears with Whisper; `None`, after a report: its files are not here.
    pub fn with_whisper(self) -> Option<Self> {
        Some(self.env("GLYPHOXA_MODELS", &weights()?.display().to_string()))
    }

    /// Like [`Self::with_whisper`], without other model files: NPCs speak with flite, which needs less time.
    pub fn with_whisper_alone(self) -> Option<Self> {
        let whisper = weights()?.join("whisper-tiny.en");
        let models = self.path("models");
        fs::create_dir(&models).expect("a folder is made");
        symlink(whisper, models.join("whisper-tiny.en")).expect("a link is made");
        Some(self.env("GLYPHOXA_MODELS", &models.display().to_string()))
    }

    /// Makes flite say each line as a tone of 0.6 s, for tests of what is said rather than heard; in
    /// `./dev proof` it speaks.
    pub fn brief(self) -> Self {
        if whole() {
            return self;
        }
        let brief = repository("tests/support/brief");
        self.env("PATH", &format!("{}:{PATH}", brief.display()))
    }

    /// Sets a variable for the program.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.set_env(name, value);
        self
    }

    /// Like `env`, in place.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder, and its folders, which are private as the program's own.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let mut folders = fs::DirBuilder::new();
        folders.recursive(true).mode(0o700);
        folders.create(path.parent().expect("a folder")).expect("a folder is made");
        fs::write(path, content).expect("a file is written");
    }

    /// Names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs `glyphoxa` with nothing on stdin.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_typing(arguments, "")
    }

    /// Runs `glyphoxa` with `typed` on stdin.
    pub fn run_typing(&self, arguments: &[&str], typed: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_glyphoxa"));
        command.args(self.first_arguments()).args(arguments).current_dir(self.folder.path());
        command.env_clear().envs(self.environment.iter().cloned());
        run(command, typed)
    }
}

/// Runs a command to its end.
pub fn run(mut command: Command, typed: &str) -> Ran {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let typed = typed.to_owned();
    // A program that reads nothing closes the pipe; that is its right.
    std::thread::spawn(move || stdin.write_all(typed.as_bytes()));
    let stdout = collect(child.stdout.take().expect("a pipe"));
    let stderr = collect(child.stderr.take().expect("a pipe"));
    let until = Instant::now() + BOUND;
    let status = exit_before(until, &mut child);
    match (status, text(&stdout, until), text(&stderr, until)) {
        (Some(status), Ok(stdout), Ok(stderr)) => {
            Ran { status: status.code().expect("no signal ends it"), stdout, stderr }
        }
        // A process that it has started may hold a pipe open.
        (status, stdout, stderr) => panic!(
            "not over after {BOUND:?}: {command:?}\n{:#?}",
            (
                status,
                stdout.unwrap_or_else(|so_far| so_far),
                stderr.unwrap_or_else(|so_far| so_far)
            )
        ),
    }
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

/// Waits for the end of a process; one that runs on until then is killed, and `None` is returned.
fn exit_before(until: Instant, child: &mut Child) -> Option<ExitStatus> {
    let id = child.id().to_string();
    let (runs, ended) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let is_late = ended.recv_timeout(left(until)) == Err(mpsc::RecvTimeoutError::Timeout);
        if is_late {
            let _ = Command::new("kill").args(["-9", &id]).status();
        }
        is_late
    });
    let status = child.wait().expect("an exit status");
    drop(runs);
    let was_killed = watch.join().expect("nothing panics there");
    (!was_killed).then_some(status)
}

/// Reads a pipe to its end.
fn collect(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, pieces) = mpsc::channel();
    std::thread::spawn(move || {
        let mut piece = [0; 8 * 1024];
        loop {
            let length = match pipe.read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return,
                Ok(length) => length,
            };
            if sender.send(piece[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}

/// Everything that came through a pipe.
///
/// # Errors
/// The text so far, when the pipe is still open at `until`.
fn text(pieces: &mpsc::Receiver<Vec<u8>>, until: Instant) -> Result<String, String> {
    let mut bytes = Vec::new();
    loop {
        match pieces.recv_timeout(left(until)) {
            Ok(piece) => bytes.extend(piece),
            Err(why) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let is_whole = why == mpsc::RecvTimeoutError::Disconnected;
                return if is_whole { Ok(text) } else { Err(text) };
            }
        }
    }
}

impl Ran {
    /// The JSON lines of stdout; nothing else may be there.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let parsed = self.stdout.lines().map(serde_json::from_str);
        let parsed: Result<Vec<Value>, _> = parsed.collect();
        parsed.unwrap_or_else(|error| panic!("no JSON lines: {error}\n{self:#?}"))
    }

    /// The only JSON line of stdout.
    #[track_caller]
    pub fn line(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{self:#?}");
        lines.remove(0)
    }

    /// Checks the exit status.
    #[track_caller]
    pub fn ends_with(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// The message on stderr: one line, with the way out in brackets at its end.
    #[track_caller]
    pub fn message(&self) -> &str {
        let message = self.stderr.trim_end();
        let text = message.strip_prefix("error: ").unwrap_or(message);
        assert!(!text.is_empty() && !text.contains('\n'), "one line is wanted: {self:#?}");
        assert!(text.ends_with(')'), "no way out: {text}");
        text
    }
}

/// The first result of `call` that no time limit cut off, of at most [`TRIES`]: built-in tools have 20 to
/// 800 ms, which a busy machine may miss.
#[track_caller]
pub fn untimed<T>(call: impl FnMut() -> T, is_late: impl Fn(&T) -> bool) -> T {
    let mut results = std::iter::repeat_with(call).take(TRIES);
    results.find(|result| !is_late(result)).expect("a result within its time limit")
}

/// True if a time limit cut off a tool call of a line.
pub fn has_late_call(line: &Value) -> bool {
    let is_late = |call: &Value| call["result"]["error"] == "timeout";
    line["tools"].as_array().is_some_and(|calls| calls.iter().any(is_late))
}

/// A file of the repository.
pub fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The text of a file of the repository.
pub fn shipped(name: &str) -> String {
    fs::read_to_string(repository(name)).expect("a shipped file")
}

/// The release build of the program, which `./dev proof` makes and `GLYPHOXA_TEST_RELEASE` names;
/// without it `what` is reported as not tested.
pub fn release_program(what: &str) -> Option<PathBuf> {
    program_named("GLYPHOXA_TEST_RELEASE", what)
}

/// Likewise the program of an earlier version, which `GLYPHOXA_TEST_EARLIER` names.
pub fn earlier_program(what: &str) -> Option<PathBuf> {
    program_named("GLYPHOXA_TEST_EARLIER", what)
}

fn program_named(variable: &str, what: &str) -> Option<PathBuf> {
    let program = env::var_os(variable).map(PathBuf::from);
    if program.is_none() {
        skipped(what, &format!("{variable} names no program"));
    }
    program
}

/// The program while it runs.
pub struct Live {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl Place {
    /// Starts `glyphoxa`; what it says on stdout and stderr comes line by line.
    pub fn start(&self, arguments: &[&str]) -> Live {
        self.start_program(env!("CARGO_BIN_EXE_glyphoxa").as_ref(), arguments)
    }

    /// Like [`Self::start`], with another build of `glyphoxa`.
    pub fn start_program(&self, program: &Path, arguments: &[&str]) -> Live {
        let mut command = Command::new(program);
        command.args(self.first_arguments()).args(arguments).current_dir(self.folder.path());
        command.env_clear().envs(self.environment.iter().cloned());
        Live::of(command)
    }
}

impl Place {
    /// `glyphoxa` by way of a shell, which runs `first` before.
    pub fn after(&self, first: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("bash");
        let program = env!("CARGO_BIN_EXE_glyphoxa");
        command.args(["-c", &format!("{first} && exec \"$0\" \"$@\""), program]);
        command.args(self.first_arguments()).args(arguments).current_dir(self.folder.path());
        command.env_clear().envs(self.environment.iter().cloned());
        command
    }
}

/// Python's own pseudo-terminal, which simulates a person at the terminal.
const TERMINAL: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

impl Place {
    /// Like [`Self::start`], at a terminal.
    pub fn start_at_terminal(&self, arguments: &[&str]) -> Live {
        let mut command = Command::new("python3");
        command.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_glyphoxa")]);
        command.args(self.first_arguments()).args(arguments);
        command.current_dir(self.folder.path());
        command.env_clear().envs(self.environment.iter().cloned());
        Live::of(command)
    }
}

fn forward(pipe: impl Read + Send + 'static, sender: mpsc::Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            // A test that has seen enough listens no more.
            let _ = sender.send(line);
        }
    });
}

/// The first line with each of these parts, in whatever order they come.
///
/// # Errors
/// All lines that came, when a part is missing after [`BOUND`].
fn lines_with(lines: &mpsc::Receiver<String>, parts: &[&str]) -> Result<Vec<String>, Vec<String>> {
    let until = Instant::now() + BOUND;
    let (mut found, mut passed) = (vec![None; parts.len()], Vec::new());
    while let Ok(line) = lines.recv_timeout(left(until)) {
        for (part, found) in parts.iter().zip(&mut found) {
            if found.is_none() && line.contains(part) {
                *found = Some(line.clone());
            }
        }
        if found.iter().all(Option::is_some) {
            return Ok(found.into_iter().flatten().collect());
        }
        passed.push(line);
        // A program that never stops talking would keep the wait going.
        if left(until).is_zero() {
            break;
        }
    }
    Err(passed)
}

/// The first line of `pipe` with `part` in it; `child`, whose pipe it is, is killed when it never
/// says so. Reads on after that line, so that the pipe never fills.
#[track_caller]
pub fn first_line(child: &mut Child, pipe: impl Read + Send + 'static, part: &str) -> String {
    let (sender, lines) = mpsc::channel();
    forward(pipe, sender);
    match lines_with(&lines, &[part]) {
        Ok(mut found) => found.remove(0),
        Err(passed) => {
            let _ = child.kill();
            let _ = child.wait();
            panic!("never said '{part}', but: {passed:#?}")
        }
    }
}

/// The port that a server of the tests says first on its stdout.
#[track_caller]
pub fn port_of(child: &mut Child) -> u16 {
    let stdout = child.stdout.take().expect("a pipe");
    first_line(child, stdout, "").trim().parse().expect("a port")
}

impl Drop for Live {
    fn drop(&mut self) {
        // Mostly it has ended; where a test has failed it has not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Live {
    /// Starts any program.
    pub fn of(mut command: Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        let (sender, lines) = mpsc::channel();
        forward(child.stdout.take().expect("a pipe"), sender.clone());
        forward(child.stderr.take().expect("a pipe"), sender);
        Self { stdin: child.stdin.take(), child, lines }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types a line.
    pub fn types(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it was not ended");
        writeln!(stdin, "{line}").expect("the program reads");
    }

    /// Result of a typed line, typed again while a tool misses its time limit.
    #[track_caller]
    pub fn asked(&mut self, line: &str) -> Value {
        let ask = || -> Value {
            self.types(line);
            serde_json::from_str(&self.says("\"outcome\"")).expect("a line of JSON")
        };
        untimed(ask, has_late_call)
    }

    /// The next line with `part` in it; lines before it are passed over.
    #[track_caller]
    pub fn says(&self, part: &str) -> String {
        self.says_all(&[part]).remove(0)
    }

    /// The next line with each of these parts, in whatever order they come; other lines are passed
    /// over.
    #[track_caller]
    pub fn says_all(&self, parts: &[&str]) -> Vec<String> {
        match lines_with(&self.lines, parts) {
            Ok(found) => found,
            Err(passed) => panic!("never said {parts:?}, but: {passed:#?}"),
        }
    }

    /// All lines up to the next with `part` in it, that one included.
    #[track_caller]
    pub fn says_until(&self, part: &str) -> Vec<String> {
        let (until, mut said) = (Instant::now() + BOUND, Vec::new());
        while let Ok(line) = self.lines.recv_timeout(left(until)) {
            said.push(line);
            if said.last().is_some_and(|line| line.contains(part)) {
                return said;
            }
        }
        panic!("never said '{part}', but: {said:#?}")
    }

    /// Limits how long its files may become, in bytes, as `prlimit` reads it.
    pub fn files_grow_to(&self, limit: &str) {
        let id = self.id().to_string();
        let done =
            Command::new("prlimit").args(["--pid", &id, &format!("--fsize={limit}")]).status();
        assert!(done.expect("prlimit runs").success());
    }

    /// Waits for the end of the program; what does not end is killed, and the test fails.
    #[track_caller]
    fn exit(&mut self) -> ExitStatus {
        match exit_before(Instant::now() + BOUND, &mut self.child) {
            Some(status) => status,
            None => panic!("still running after {BOUND:?}, and last said: {:#?}", self.said()),
        }
    }

    /// True if it has ended, by itself or killed.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits for the end of a program that was sent a signal.
    #[track_caller]
    pub fn ended(&mut self) {
        self.stdin = None;
        self.exit();
    }

    /// Kills the program so that it can do nothing about it.
    #[track_caller]
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.exit();
    }

    /// Output so far that was not read yet.
    pub fn said(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    /// Lines until its output ends.
    pub fn rest(&self) -> Vec<String> {
        let until = Instant::now() + BOUND;
        // The pipes end with the program.
        std::iter::from_fn(|| self.lines.recv_timeout(left(until)).ok()).collect()
    }

    /// Tells the program to end, as a system does, and waits for it.
    #[track_caller]
    pub fn terminate(mut self) -> i32 {
        let id = self.child.id().to_string();
        let ended = Command::new("kill").arg(&id).status();
        assert!(ended.expect("kill runs").success());
        self.exit().code().expect("no signal ends it")
    }

    /// Presses Ctrl-C; the exit status, and what is said from then on.
    #[track_caller]
    pub fn interrupt(mut self) -> (i32, Vec<String>) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill runs").success());
        let status = self.exit();
        (status.code().expect("no signal ends it"), self.rest())
    }

    /// Types bytes that may be no text.
    pub fn types_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("it was not ended").write_all(bytes).expect("the program reads");
    }

    /// Ends the input and waits for the program.
    #[track_caller]
    pub fn leave(mut self) -> i32 {
        self.stdin = None;
        self.exit().code().expect("no signal ends it")
    }
}
