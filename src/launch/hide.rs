//! Protects this process's memory, environment and files from other processes and users.
//!
//! Entry function: [`hide`].

use rustix::{
    fs::Mode,
    process::{DumpableBehavior, set_dumpable_behavior, umask},
};

use super::environment;

/// Keeps this process from being read by others of its user, its environment included, and what it
/// writes from being read by other users. The first thing that a program does: nothing else may
/// run beside it.
pub fn hide() {
    environment::take();
    // Without it another process of this user can open our memory, files and environment. It fails
    // on no Linux there is.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    umask(Mode::RWXG | Mode::RWXO);
}
