//! Dependencies of tests from outside, which may be missing: where each is, and the report that it is
//! missing.
//!
//! Entry functions: [`skipped`], [`third_party`], [`not_installed`].

use std::{
    env,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Reports that `what` is not tested: on stderr, past the capture of libtest, and as a line of the
/// file that `GLYPHOXA_TEST_SKIPPED` names.
pub fn skipped(what: &str, reason: &str) {
    let line = format!("SKIPPED: {what}, for {reason}\n");
    // libtest without capture has begun a line.
    _ = io::stderr().write_all(format!("\n{line}").as_bytes());
    let Some(file) = env::var_os("GLYPHOXA_TEST_SKIPPED") else { return };
    let file = OpenOptions::new().append(true).create(true).open(file);
    // One write, so that lines of several processes do not mix.
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("the file of GLYPHOXA_TEST_SKIPPED can be written");
}

/// The folder of `name` among those that `./dev test` installs.
pub fn third_party(name: &str) -> PathBuf {
    let folder = env::var_os("GLYPHOXA_TEST_FILES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/third-party"),
        PathBuf::from,
    );
    folder.join(name)
}

/// Reason why [`third_party`] does not have `name`.
pub fn not_installed(name: &str) -> String {
    match fs::read_to_string(third_party(name).join("skipped")) {
        Ok(reason) => reason.trim().to_owned(),
        Err(_) => "./dev test has not installed it".to_owned(),
    }
}
