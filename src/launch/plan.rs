//! Messages to a supervisor, and from it.
//!
//! Entry types: [`Plan`], [`Report`]. Both go over a socket, since arguments and environments of processes
//! can be read by others.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::held::HeldFile;

/// This program, whatever has become of its file.
pub const SELF: &str = "/proc/self/exe";
/// The argument that makes this program a supervisor.
pub const SUPERVISE: &str = "supervise-program";
/// The one that makes it confine itself and become another program.
pub const CONFINE: &str = "confine-program";
/// Longest plan in bytes: a command line and an environment as Linux takes them.
pub const LONGEST: u32 = 4 * 1024 * 1024;

/// A program to be started.
#[derive(Serialize, Deserialize)]
pub struct Plan {
    /// Program and arguments, at least the program.
    pub command: Vec<String>,
    /// The folder it runs in, absolute; `None`: ours.
    pub folder: Option<PathBuf>,
    /// All variables it gets.
    pub environment: Vec<(String, String)>,
    /// Paths it may reach; `None`: all that we may.
    pub confinement: Option<Confinement>,
}

/// Paths a program may reach beside the system's folders and those it was installed in.
#[derive(Serialize, Deserialize)]
pub struct Confinement {
    /// Read, and programs run.
    pub read: Vec<PathBuf>,
    /// Read and written, and programs run.
    pub write: Vec<PathBuf>,
    /// Not reached where a folder above is opened; what lies around `home` never is, the rest where
    /// `read` or `write` names it.
    pub hidden: Vec<PathBuf>,
    /// Its own home; kept from one start to the next.
    pub home: PathBuf,
    /// For its temporary files; emptied before and after it.
    pub scratch: PathBuf,
    /// The home of the person who runs us, which is not opened as a whole.
    pub person: Option<PathBuf>,
    /// True if paths of its command line are opened too.
    pub opens_arguments: bool,
}

/// Message of a supervisor, one JSON object a line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// It runs.
    Started {
        /// Its process.
        pid: i32,
        /// Files that it can no longer read once they are replaced.
        held: Vec<HeldFile>,
    },
    /// It does not.
    Refused(Refusal),
    /// It has ended, as a sentence's end says: "exit status 7".
    Ended(String),
}

/// Reason a program was not started.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No such file.
    NoProgram,
    /// No right to run it.
    MayNotRun,
    /// The system's reason, or what was no plan.
    Failed(String),
}
