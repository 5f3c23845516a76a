//! The program as a process, and what a process uses, as Linux counts it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    time::{Duration, Instant},
};

use super::figures::ms;

/// The program, built for this bench.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_glyphoxa");

/// `glyphoxa ask` that has answered its first line.
pub struct Started {
    program: Child,
    stdin: ChildStdin,
    time: f64,
}

impl Started {
    /// Starts it in `folder`, types `line` and waits for the first report, with `expected` in it.
    pub fn new(folder: &Path, line: &str, expected: &str) -> Self {
        let start = Instant::now();
        let mut program = Command::new(PROGRAM)
            .args(["ask", "--json"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut stdin = program.stdin.take().expect("piped");
        writeln!(stdin, "{line}").expect("it reads");
        let mut first = String::new();
        let stdout = program.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut first).expect("it writes");
        let time = ms(start.elapsed());
        assert!(first.contains(expected), "not what was expected: {first}");
        Self { program, stdin, time }
    }

    /// Its process.
    pub fn id(&self) -> String {
        self.program.id().to_string()
    }

    /// Ends it; the time in ms from its start to the first report.
    pub fn end(mut self) -> f64 {
        drop(self.stdin);
        self.program.wait().expect("it ends");
        self.time
    }
}

/// CPU time of all threads of this process so far, in nanoseconds' precision.
pub fn cpu() -> Duration {
    let threads = fs::read_dir("/proc/self/task").expect("Linux");
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse().ok())
        .map(Duration::from_nanos)
        .sum()
}

/// CPU time of this thread so far, in nanoseconds' precision.
pub fn cpu_of_thread() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split_whitespace().next().and_then(|it| it.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// CPU time of process `pid` so far, also of threads that have ended, to 10 ms.
pub fn cpu_of(pid: &str) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("Linux");
    // The name before it may hold anything but its own end.
    let (_, numbers) = text.rsplit_once(')').expect("a name");
    let ticks = numbers.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Resident memory of process `pid` ("self": this one), in MB of a million bytes.
pub fn resident_mb(pid: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("Linux");
    let line = text.lines().find(|line| line.starts_with("Rss:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kb.expect("a number of kB") * 1_024.0 / 1e6
}
