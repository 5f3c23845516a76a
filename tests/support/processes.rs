//! Processes as Linux lists them.

use std::{
    fs,
    time::{Duration, Instant},
};

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

/// Waits until none of these runs; fails after half a minute.
#[track_caller]
pub fn all_end(pids: &[&str], what: &str) {
    let until = Instant::now() + Duration::from_secs(30);
    while let Some(pid) = pids.iter().find(|pid| is_there(pid)) {
        assert!(Instant::now() < until, "{pid} is still there after 30 s ({what})");
        std::thread::yield_now();
    }
}

/// State and parent of a process; empty when there is none.
fn stat(pid: &str) -> (String, String) {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name in brackets, which may hold anything.
    let mut rest = text.rsplit(") ").next().unwrap_or_default().split(' ');
    let mut next = || rest.next().unwrap_or_default().to_owned();
    (next(), next())
}
