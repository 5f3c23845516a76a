//! Protects this process's memory, environment and files from other processes and users.
//!
//! Entry function: [`hide`].

use rustix::{
    fs::Mode,
    process::{DumpableBehavior, set_dumpable_behavior, umask},
};

use super::environment;

/// Hides this process's memory and environment from its user's other processes, and its new files
/// from other users. Call it first, before any thread starts.
pub fn hide() {
    environment::take();
    // Without it another process of this user could open our memory, files and environment. It does
    // not fail on Linux.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    umask(Mode::RWXG | Mode::RWXO);
}
