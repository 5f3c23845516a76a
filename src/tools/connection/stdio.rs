//! Servers as child processes, confined to configured paths; they never outlive this process.
//! **Never**: passes on this process's environment.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{io::BufReader, net::unix::pipe, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use super::{
    options::{Sandbox, Secret},
    tail::Tail,
};
use crate::{
    domain::fnv1a,
    launch::{self, Confinement, HeldFile, LaunchError, Launched, Pipes, Plan, Refusal},
};

/// Time a child has to exit after its input has closed.
const GRACE: Duration = Duration::from_secs(2);
/// Longest wait for the exit after the output has ended.
const EXITING: Duration = Duration::from_millis(200);
/// Variables a confined child gets its own folders for.
const OWN_FOLDERS: [&str; 2] = ["HOME", "TMPDIR"];

pub struct Child {
    launched: Launched,
    _stderr: AbortOnDropHandle<()>,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the command is empty")]
    NoCommand,
    #[error("cannot find the program '{0}' (install it, or give its full path)")]
    NoProgram(String),
    #[error("'{0}' may not be run (chmod +x it, or name its interpreter)")]
    MayNotRun(String),
    #[error("cannot start '{program}': {reason}")]
    Failed { program: String, reason: String },
    #[error("cannot start its supervisor: {0} (is this machine short of memory?)")]
    NoSupervisor(io::Error),
}

pub struct Streams {
    pub read: BufReader<pipe::Receiver>,
    pub write: pipe::Sender,
}

/// Launch settings of all children.
pub struct Room {
    /// This executable, which supervises and confines them.
    pub launcher: PathBuf,
    pub homes: PathBuf,
    /// Unreadable files and folders.
    pub hidden: Vec<PathBuf>,
    /// Variables of ours that every child gets.
    pub environment: Vec<(String, Secret)>,
}

pub struct Start<'a> {
    pub room: &'a Room,
    /// Unique among children.
    pub name: &'a str,
    pub command: &'a [String],
    /// `None`: ours.
    pub folder: Option<&'a Path>,
    pub environment: Vec<(&'a str, &'a Secret)>,
    pub sandbox: &'a Sandbox,
    pub tail: Arc<Tail>,
    /// Called for every line of its stderr.
    pub shown: Box<dyn Fn(&str) + Send>,
}

impl Child {
    pub async fn start(start: Start<'_>) -> Result<(Self, Streams), StartError> {
        let program = start.command.first().ok_or(StartError::NoCommand)?.clone();
        let started = launch::start(&start.room.launcher, &start.plan()).await;
        let (launched, Pipes { stdin, stdout, stderr }) =
            started.map_err(|error| not_started(program, error))?;
        let follow = tokio::spawn(start.tail.follow(stderr, start.shown));
        let streams = Streams { read: BufReader::new(stdout), write: stdin };
        Ok((Self { launched, _stderr: AbortOnDropHandle::new(follow) }, streams))
    }

    /// Files it can no longer read once they are replaced.
    pub fn held(&self) -> &[HeldFile] {
        self.launched.held()
    }

    /// Ends the child and its descendants: politely first, then by force. Close its input before.
    pub async fn end(self) {
        self.launched.end(GRACE).await;
    }

    /// Describes how the child ended; `None`: it still runs after a short wait.
    pub async fn exit(&mut self) -> Option<String> {
        timeout(EXITING, self.launched.exit()).await.ok().map(str::to_owned)
    }
}

impl Start<'_> {
    fn plan(&self) -> Plan {
        let confinement = self.room.confinement(self.name, self.command, self.sandbox);
        let is_own = |name: &str| self.environment.iter().any(|(own, _)| *own == name);
        let is_replaced = |name: &str| confinement.is_some() && OWN_FOLDERS.contains(&name);
        let common = self.room.environment.iter().map(|(name, value)| (name.as_str(), value));
        let common = common.filter(|(name, _)| !is_own(name) && !is_replaced(name));
        let all = common.chain(self.environment.iter().copied());
        let mut environment: Vec<(String, String)> =
            all.map(|(name, value)| (name.to_owned(), value.0.clone())).collect();
        if let Some(Confinement { home, scratch, .. }) = &confinement {
            let folders = OWN_FOLDERS.into_iter().zip([home, scratch]);
            let folders = folders.filter(|(name, _)| !is_own(name));
            environment
                .extend(folders.map(|(name, path)| (name.to_owned(), path.display().to_string())));
        }
        let folder = self.folder.map(Path::to_owned);
        Plan { command: self.command.to_vec(), folder, environment, confinement }
    }
}

impl Room {
    /// Confinement of the child `name`; `None`: none.
    fn confinement(&self, name: &str, command: &[String], said: &Sandbox) -> Option<Confinement> {
        let (read, write) = match said {
            Sandbox::Off => return None,
            Sandbox::Confined { read, write } => (read.clone(), write.clone()),
            Sandbox::Foreign => (Vec::new(), Vec::new()),
        };
        let is_foreign = *said == Sandbox::Foreign;
        // Another command gets a home of its own.
        let folder = self.homes.join(folder_name(name, command));
        let scratch = folder.join("tmp");
        let home = if is_foreign { scratch.join("home") } else { folder.join("home") };
        let person = self.environment.iter().find(|(name, _)| name == "HOME");
        Some(Confinement {
            read,
            write,
            hidden: self.hidden.iter().cloned().map(absolute).collect(),
            home: absolute(home),
            scratch: absolute(scratch),
            person: person.map(|(_, home)| PathBuf::from(&home.0)),
            opens_arguments: !is_foreign,
        })
    }
}

/// True if a confined child's error looks like a consequence of its confinement.
pub fn is_refusal(words: &str) -> bool {
    ["ermission denied", "EACCES", "EPERM", "not permitted"].iter().any(|it| words.contains(it))
}

fn folder_name(name: &str, command: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let words = std::iter::once(name).chain(command.iter().map(String::as_str));
    let all: Vec<&str> = words.collect();
    format!("{plain}-{:08x}", fnv1a(all.join("\0").bytes()) >> 32)
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn not_started(program: String, error: LaunchError) -> StartError {
    match error {
        LaunchError::Refused(Refusal::NoProgram) => StartError::NoProgram(program),
        LaunchError::Refused(Refusal::MayNotRun) => StartError::MayNotRun(program),
        LaunchError::Refused(Refusal::Failed(reason)) => StartError::Failed { program, reason },
        LaunchError::NoSupervisor(error) => StartError::NoSupervisor(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Room {
        let of = |(name, value): (&str, &str)| (name.to_owned(), Secret(value.to_owned()));
        Room {
            launcher: launch::SELF.into(),
            homes: PathBuf::from("/data/servers"),
            hidden: vec![PathBuf::from("/data")],
            environment: [("PATH", "/bin"), ("HOME", "/home/me"), ("TMPDIR", "/tmp")]
                .map(of)
                .into(),
        }
    }

    fn planned(own: &[(&str, &str)], sandbox: &Sandbox) -> (Plan, Vec<String>) {
        let own: Vec<(&str, Secret)> =
            own.iter().map(|(name, value)| (*name, Secret((*value).to_owned()))).collect();
        let plan = Start {
            room: &room(),
            name: "a/b",
            command: &["x".to_owned()],
            folder: None,
            environment: own.iter().map(|(name, value)| (*name, value)).collect(),
            sandbox,
            tail: Arc::default(),
            shown: Box::new(|_| {}),
        }
        .plan();
        let mut all: Vec<String> =
            plan.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        all.sort();
        (plan, all)
    }

    #[test]
    fn confined_child_gets_own_home_and_tmp() {
        let confined = Sandbox::Confined { read: Vec::new(), write: Vec::new() };
        let (plan, all) = planned(&[("KEY", "x")], &confined);
        let folder = "/data/servers/a_b-";
        assert!(
            all[0].starts_with(&format!("HOME={folder}")) && all[0].ends_with("/home"),
            "{all:?}"
        );
        assert!(
            all[3].starts_with(&format!("TMPDIR={folder}")) && all[3].ends_with("/tmp"),
            "{all:?}"
        );
        assert_eq!((all[1].as_str(), all[2].as_str()), ("KEY=x", "PATH=/bin"));
        assert_eq!(plan.confinement.unwrap().person, Some(PathBuf::from("/home/me")));
        let (_, all) = planned(&[("HOME", "/srv/x")], &confined);
        assert_eq!(all[0], "HOME=/srv/x");
        let foreign = planned(&[], &Sandbox::Foreign).0.confinement.unwrap();
        assert!(foreign.home.starts_with(&foreign.scratch) && !foreign.opens_arguments);
        let (plan, all) = planned(&[], &Sandbox::Off);
        assert!(plan.confinement.is_none());
        assert_eq!(all, ["HOME=/home/me", "PATH=/bin", "TMPDIR=/tmp"]);
    }
}
