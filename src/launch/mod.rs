//! Programs of other people, which this one starts: kept to what they may reach, and ended with it.
//!
//! Entry functions: [`start()`] starts one, [`hide()`] keeps this process's own secrets from all of
//! them. Between this program and another one stands a supervisor, which is this program again
//! ([`supervise`]): it adopts whatever the other one leaves behind, and ends all of it when the
//! socket to us closes, whatever closed it. Where the kernel has Landlock the other program is
//! started by way of [`confine`], which gives up every right that its configuration does not name.
//! **Never**: knows what a program is for, or shows it our environment.

mod allowed;
mod confine;
mod environment;
mod held;
mod hide;
mod install;
mod plan;
mod start;
mod supervise;
mod tree;

use std::{ffi::OsString, process::ExitCode};

pub use self::{
    allowed::{is_there, real},
    confine::is_possible,
    environment::variable,
    held::{HeldFile, replaced},
    hide::hide,
    plan::{Confinement, Plan, Refusal, SELF},
    start::{LaunchError, Launched, Pipes, start},
};

/// Does the work of a supervisor, or of a program that confines itself, if that is what this process
/// was started for. `arguments` are those of the process, its own name left out.
pub fn helper(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    match arguments.next()?.to_str()? {
        plan::SUPERVISE => Some(supervise::supervise()),
        plan::CONFINE => Some(confine::confine(arguments)),
        _ => None,
    }
}
