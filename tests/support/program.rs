//! The real program in a folder of its own, with an environment of its own.
//!
//! Entry types: [`Place`], [`Ran`]. Every wait is bounded by [`BOUND`].

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// Longest run of the program; far more than any needs on a machine that is busy.
const BOUND: Duration = Duration::from_secs(120);
/// Where system programs are.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A working folder; gone when dropped.
pub struct Place {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What a run left.
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
        Self { folder: TempDir::new().expect("a temporary folder"), environment }
    }

    /// A folder with this `glyphoxa.yaml`.
    pub fn with_config(text: &str) -> Self {
        let place = Self::new();
        place.write("glyphoxa.yaml", text);
        place
    }

    /// Sets a variable for the program.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder, and its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
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
        command.args(arguments).current_dir(self.folder.path());
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
    let stdout = within_bound(&stdout, &mut child, &command);
    let stderr = within_bound(&stderr, &mut child, &command);
    let status = child.wait().expect("an exit status").code().expect("no signal ends it");
    Ran { status, stdout, stderr }
}

fn collect(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        read
    });
    receiver
}

fn within_bound(text: &mpsc::Receiver<String>, child: &mut Child, command: &Command) -> String {
    text.recv_timeout(BOUND).unwrap_or_else(|_| {
        let _ = child.kill();
        let said = text.recv_timeout(BOUND).unwrap_or_default();
        panic!("still running after {BOUND:?}: {command:?}\n{said}")
    })
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

/// A file of the repository.
pub fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The text of a file of the repository.
pub fn shipped(name: &str) -> String {
    fs::read_to_string(repository(name)).expect("a shipped file")
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_glyphoxa"));
        command.args(arguments).current_dir(self.folder.path());
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
        command.args(arguments).current_dir(self.folder.path());
        command.env_clear().envs(self.environment.iter().cloned());
        command
    }
}

/// Python's own pseudo-terminal, which lets a program believe that somebody sits before it.
const TERMINAL: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

impl Place {
    /// The same at a terminal.
    pub fn start_at_terminal(&self, arguments: &[&str]) -> Live {
        let mut command = Command::new("python3");
        command.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_glyphoxa")]).args(arguments);
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

    /// The next line with `part` in it; lines before it are passed over.
    #[track_caller]
    pub fn says(&self, part: &str) -> String {
        let mut passed = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(BOUND) {
            if line.contains(part) {
                return line;
            }
            passed.push(line);
        }
        panic!("never said '{part}', but: {passed:#?}")
    }

    /// Limits how long its files may become, in bytes, as `prlimit` reads it.
    pub fn files_grow_to(&self, limit: &str) {
        let id = self.id().to_string();
        let done =
            Command::new("prlimit").args(["--pid", &id, &format!("--fsize={limit}")]).status();
        assert!(done.expect("prlimit runs").success());
    }

    /// Waits for the end of a program that was sent a signal.
    pub fn ended(&mut self) {
        self.stdin = None;
        self.child.wait().expect("an exit status");
    }

    /// Kills the program so that it can do nothing about it.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("an exit status");
    }

    /// What it has said so far, and nobody has asked for.
    pub fn said(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    /// Tells the program to end, as a system does, and waits for it; what does not end is killed.
    pub fn terminate(mut self) -> i32 {
        let id = self.child.id().to_string();
        let ended = Command::new("kill").arg(&id).status();
        assert!(ended.expect("kill runs").success());
        let (_ended, waiting) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            if waiting.recv_timeout(BOUND) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-9", &id]).status();
            }
        });
        self.child.wait().expect("an exit status").code().expect("no signal ends it")
    }

    /// Presses Ctrl-C; the exit status, and what is said from then on.
    pub fn interrupt(mut self) -> (i32, Vec<String>) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill runs").success());
        let mut said = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(BOUND) {
            said.push(line);
        }
        let status = self.child.wait().expect("an exit status");
        (status.code().expect("no signal ends it"), said)
    }

    /// Types bytes that may be no text.
    pub fn types_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("it was not ended").write_all(bytes).expect("the program reads");
    }

    /// Ends the input and waits for the program.
    pub fn leave(mut self) -> i32 {
        self.stdin = None;
        self.child.wait().expect("an exit status").code().expect("no signal ends it")
    }
}
