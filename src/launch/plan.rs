//! Messages to and from a supervisor.
//!
//! Entry types: [`Plan`], [`Report`]. Both go over a socket, since others can read a process's
//! arguments and environment.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::held::HeldFile;

/// This program, even if its file was replaced.
pub const SELF: &str = "/proc/self/exe";
pub const SUPERVISE: &str = "supervise-program";
pub const CONFINE: &str = "confine-program";
/// Longest plan in bytes: a command line and an environment at Linux's limits.
pub const LONGEST: u32 = 4 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
pub struct Plan {
    /// Program and arguments, at least the program.
    pub command: Vec<String>,
    pub folder: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    /// `None`: the program may reach all that we may.
    pub confinement: Option<Confinement>,
}

/// Paths a program may reach beside the system's folders and its installation.
#[derive(Serialize, Deserialize)]
pub struct Confinement {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    /// Closed even if a folder above is open, unless `read` or `write` names it. The surroundings
    /// of `home` stay closed in any case.
    pub hidden: Vec<PathBuf>,
    pub home: PathBuf,
    pub scratch: PathBuf,
    /// Our user's home, which is not opened as a whole.
    pub person: Option<PathBuf>,
    /// True if paths on its command line are opened too.
    pub opens_arguments: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Started {
        pid: i32,
        /// Files that become unreadable when replaced.
        held: Vec<HeldFile>,
    },
    Refused(Refusal),
    Ended(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    NoProgram,
    MayNotRun,
    Failed(String),
}
