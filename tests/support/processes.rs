//! Processes as Linux lists them.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

/// Longest wait, far more than a busy machine needs.
const BOUND: Duration = Duration::from_secs(120);
/// Pause between two looks, which leaves the cores to what is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// True if a process runs.
pub fn is_there(pid: &str) -> bool {
    let (state, _) = stat(pid);
    !state.is_empty() && state != "Z"
}

/// True if a process is halted, or gone.
pub fn is_halted(pid: &str) -> bool {
    let (state, _) = stat(pid);
    matches!(state.as_str(), "T" | "Z" | "")
}

/// Everything a process has started, with what it was started as.
pub fn descendants(of: &str) -> Vec<(String, String)> {
    let all: Vec<String> = fs::read_dir("/proc")
        .expect("Linux")
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let parents: Vec<(&String, String)> = all.iter().map(|pid| (pid, stat(pid).1)).collect();
    let mut found = vec![of.to_owned()];
    let mut next = 0;
    while let Some(parent) = found.get(next).cloned() {
        let children = parents.iter().filter(|(_, its)| *its == parent);
        found.extend(children.map(|(pid, _)| (*pid).clone()));
        next += 1;
    }
    let command = |pid: &String| {
        let text = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        text.replace('\0', " ")
    };
    found.iter().skip(1).map(|pid| (pid.clone(), command(pid))).collect()
}

/// Waits until `is_met`; fails after two minutes.
#[track_caller]
pub fn wait_until(what: &str, mut is_met: impl FnMut() -> bool) {
    let until = Instant::now() + BOUND;
    while !is_met() {
        assert!(Instant::now() < until, "not after {BOUND:?}: {what}");
        thread::park_timeout(LOOK);
    }
}

/// Waits until none of these runs; fails after two minutes.
#[track_caller]
pub fn all_end(pids: &[&str], what: &str) {
    let what = format!("{pids:?} have ended ({what})");
    wait_until(&what, || !pids.iter().any(|pid| is_there(pid)));
}

/// State and parent of a process; empty when there is none.
fn stat(pid: &str) -> (String, String) {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name in brackets, which may hold anything.
    let mut rest = text.rsplit(") ").next().unwrap_or_default().split(' ');
    let mut next = || rest.next().unwrap_or_default().to_owned();
    (next(), next())
}
