//! Starts other people's programs, confines them and ends them with this one.
//!
//! Entry functions: [`start()`] starts one, [`hide()`] protects our own secrets from all of them.
//! Between us and the program runs a supervisor, which is this program again ([`supervise`]). If
//! the kernel has Landlock, the program is started through [`confine`], which drops every right its
//! configuration does not name. **Never**: knows a program's purpose, or passes on our environment.

mod allowed;
mod confine;
mod environment;
mod held;
mod install;
mod plan;
mod start;
mod supervise;
mod tree;

use std::{ffi::OsString, process::ExitCode};

pub use self::{
    allowed::{is_there, real},
    confine::is_possible,
    environment::{hide, variable},
    held::{HeldFile, replaced},
    plan::{Confinement, Plan, Refusal, SELF},
    start::{LaunchError, Launched, Pipes, start},
};

/// Runs a supervisor or the confinement if this process was started for that; `None`: it was not.
/// `arguments`: without the program's own name.
pub fn helper(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    match arguments.next()?.to_str()? {
        plan::SUPERVISE => Some(supervise::supervise()),
        plan::CONFINE => Some(confine::confine(arguments)),
        _ => None,
    }
}
