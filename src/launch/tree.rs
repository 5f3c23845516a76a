//! Descendants of this process.
//!
//! Entry functions: [`tell`], [`descendants`].

use std::{collections::BTreeMap, fs};

use rustix::process::{Pid, Signal, getpid, kill_process};

pub fn tell(signal: Signal) {
    for pid in descendants() {
        // The process may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// Ancestors before their descendants.
pub fn descendants() -> Vec<Pid> {
    let own = getpid();
    let by_parent = children_of(own).is_none().then(all_by_parent);
    let below = |pid: Pid| match &by_parent {
        Some(all) => all.get(&pid.as_raw_nonzero().get()).cloned().unwrap_or_default(),
        None => children_of(pid).unwrap_or_default(),
    };
    let mut found = below(own);
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(below(pid));
        next += 1;
    }
    found
}

/// A process's children from the kernel's list, if it has one. It includes hidden processes.
fn children_of(pid: Pid) -> Option<Vec<Pid>> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).ok()?;
    let mut found = Vec::new();
    for task in tasks.flatten() {
        let listed = fs::read_to_string(task.path().join("children")).ok()?;
        found.extend(listed.split_whitespace().filter_map(pid_of));
    }
    Some(found)
}

fn all_by_parent() -> BTreeMap<i32, Vec<Pid>> {
    let mut all: BTreeMap<i32, Vec<Pid>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(pid_of) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the name in brackets, which may contain anything: the state, then the parent.
        let after = stat.rsplit(") ").next().unwrap_or_default();
        let parent = after.split(' ').nth(1).and_then(|it| it.parse().ok());
        all.entry(parent.unwrap_or_default()).or_default().push(pid);
    }
    all
}

fn pid_of(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_looking_find_a_child() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it starts");
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
        assert!(descendants().contains(&pid));
        let all = all_by_parent();
        assert!(all[&getpid().as_raw_nonzero().get()].contains(&pid), "{all:?}");
        child.kill().expect("it runs");
        child.wait().expect("it has ended");
        assert!(!descendants().contains(&pid));
    }
}
