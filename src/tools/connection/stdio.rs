//! Servers as child processes, which never outlive this one.
//!
//! Entry type: [`Child`]. Each child leads a process group of its own. A shell that waits on a pipe
//! held by this process ends the group when the pipe closes, whatever closed it; on an orderly
//! close the group is ended here and the shell with it. **Never**: hands on this process's
//! environment.

use std::{io, process::Stdio, sync::Arc, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::{
    io::BufReader,
    process::{ChildStdin, ChildStdout, Command},
    time::{Instant, sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use super::{options::Secret, tail::Tail};

/// Time a child has to end by itself, and again after it was told to.
const GRACE: Duration = Duration::from_secs(2);
/// Longest wait for the end of a child whose output has ended.
const EXITING: Duration = Duration::from_millis(200);
/// How often it is looked whether a group has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Ends the group `$0` when its input ends.
const WATCHDOG: &str = "read _; kill -s TERM -- \"-$0\"; sleep 2; kill -s KILL -- \"-$0\"";

/// A server's process.
pub struct Child {
    child: tokio::process::Child,
    group: Group,
    _stderr: AbortOnDropHandle<()>,
}

/// A child's process group, ended when this is dropped.
struct Group {
    leader: Pid,
    watchdog: tokio::process::Child,
    is_over: bool,
}

/// Why a server's program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command is empty.
    #[error("there is no command")]
    NoCommand,
    /// No such file.
    #[error("there is no program '{0}' (install it, or give its whole path)")]
    NoProgram(String),
    /// No right to run it.
    #[error("'{0}' may not be run (chmod +x it, or name its interpreter)")]
    MayNotRun(String),
    /// The system refused for another reason.
    #[error("cannot start '{program}': {error}")]
    Failed {
        /// As it is configured.
        program: String,
        /// The system's reason.
        error: io::Error,
    },
    /// It was over before its number was known.
    #[error("it ended at once")]
    Ended,
    /// Its standard streams are not there.
    #[error("its streams could not be opened")]
    NoStreams,
    /// Nothing would end it when this program dies.
    #[error("cannot start '/bin/sh', which is to end it: {0}")]
    NoWatchdog(io::Error),
}

/// The streams of a child.
pub struct Streams {
    /// What it says.
    pub read: BufReader<ChildStdout>,
    /// What it is told.
    pub write: ChildStdin,
}

/// What a child is started with.
pub struct Start<'a> {
    /// Program and arguments.
    pub command: &'a [String],
    /// Variables it gets.
    pub environment: Vec<(&'a str, &'a Secret)>,
    /// Where its stderr goes.
    pub tail: Arc<Tail>,
    /// Sees every line of it.
    pub shown: Box<dyn Fn(&str) + Send>,
}

impl Child {
    /// Starts a child.
    ///
    /// # Errors
    /// What is wrong with the command, and the way out.
    pub fn start(start: Start) -> Result<(Self, Streams), StartError> {
        let Some((program, arguments)) = start.command.split_first() else {
            return Err(StartError::NoCommand);
        };
        let environment = start.environment.iter().map(|(name, value)| (*name, value.0.as_str()));
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| not_started(program, error))?;
        let streams = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let leader = streams.ok_or(StartError::Ended)?;
        let group = Group { leader, watchdog: watchdog(leader)?, is_over: false };
        let (Some(write), Some(read), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(StartError::NoStreams);
        };
        let follow = tokio::spawn(start.tail.follow(stderr, start.shown));
        let streams = Streams { read: BufReader::new(read), write };
        Ok((Self { child, group, _stderr: AbortOnDropHandle::new(follow) }, streams))
    }

    /// Ends the child and everything it started: politely first, then by force.
    /// Its input should be closed before.
    pub async fn end(mut self) {
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.group.signal(Signal::TERM);
        } else if self.group.is_there() {
            // Those it left behind.
            self.group.signal(Signal::TERM);
        }
        let until = Instant::now() + GRACE;
        while self.group.is_there() && Instant::now() < until {
            let _ = self.child.try_wait();
            sleep(LOOK).await;
        }
        self.group.signal(Signal::KILL);
        let _ = timeout(GRACE, self.child.wait()).await;
        // The shell goes before its pipe, or it would end a group that is no longer ours.
        let _ = self.group.watchdog.kill().await;
        self.group.is_over = true;
    }

    /// How the child ended, if it has or does in a moment.
    pub async fn exit(&mut self) -> Option<String> {
        let status = timeout(EXITING, self.child.wait()).await.ok()?.ok()?;
        Some(match status.code() {
            Some(code) => format!("exit status {code}"),
            None => status.to_string(),
        })
    }
}

impl Group {
    fn signal(&self, signal: Signal) {
        // A group that has ended takes no signal.
        let _ = kill_process_group(self.leader, signal);
    }

    fn is_there(&self) -> bool {
        test_kill_process_group(self.leader).is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            self.signal(Signal::KILL);
            let _ = self.watchdog.start_kill();
        }
    }
}

/// The shell that ends `group` when this process is no more.
fn watchdog(group: Pid) -> Result<tokio::process::Child, StartError> {
    Command::new("/bin/sh")
        .args(["-c", WATCHDOG, &group.as_raw_nonzero().to_string()])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            let _ = kill_process_group(group, Signal::KILL);
            StartError::NoWatchdog(error)
        })
}

fn not_started(program: &str, error: io::Error) -> StartError {
    let program = program.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => StartError::NoProgram(program),
        io::ErrorKind::PermissionDenied => StartError::MayNotRun(program),
        _ => StartError::Failed { program, error },
    }
}
