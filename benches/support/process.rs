//! What a process uses, as Linux counts it.

use std::{fs, time::Duration};

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

/// Resident memory of process `pid` ("self": this one), in MB of a million bytes.
pub fn resident_mb(pid: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("Linux");
    let line = text.lines().find(|line| line.starts_with("Rss:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kb.expect("a number of kB") * 1_024.0 / 1e6
}
