//! Starts a program from our side.
//!
//! Entry function: [`start`]. Dropping the result, or the end of this process, ends the program and
//! everything it started. Waits only for the start.

use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream as StdStream,
    },
    path::Path,
    process::Stdio,
    time::Duration,
};

use rustix::{
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
    process::{Pid, Signal, kill_process_group},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf, pipe},
    },
    process::Command,
    time::timeout,
};

use super::{
    held::HeldFile,
    plan::{Plan, Refusal, Report, SUPERVISE},
};

/// Longest wait for a supervisor to end its program, first politely, then by force.
const ENDING: Duration = Duration::from_secs(4);

pub struct Launched {
    supervisor: tokio::process::Child,
    /// The supervisor ends everything once this is closed.
    release: OwnedWriteHalf,
    reports: Lines<BufReader<OwnedReadHalf>>,
    group: Option<Pid>,
    held: Vec<HeldFile>,
    ended: Option<String>,
}

pub struct Pipes {
    pub stdin: pipe::Sender,
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("cannot start the program: {0:?}")]
    Refused(Refusal),
    #[error("cannot start the programs' supervisor: {0}")]
    NoSupervisor(#[from] io::Error),
}

/// Starts `plan`; `launcher` is this program (or, in a bench, the one being measured). Dropping the
/// future ends a half-started program.
pub async fn start(launcher: &Path, plan: &Plan) -> Result<(Launched, Pipes), LaunchError> {
    let (ours, theirs) = StdStream::pair()?;
    let (stdin_read, stdin_write) = io::pipe()?;
    let (stdout_read, stdout_write) = io::pipe()?;
    let (stderr_read, stderr_write) = io::pipe()?;
    let mut supervisor = Command::new(launcher);
    if let Some(folder) = &plan.folder {
        // Relative paths in the command and the confinement are resolved from there.
        supervisor.current_dir(folder);
    }
    let supervisor = supervisor
        .arg0("glyphoxa")
        .arg(SUPERVISE)
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let text = serde_json::to_vec(plan).map_err(io::Error::from)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    let given = [stdin_read.as_fd(), stdout_write.as_fd(), stderr_write.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    rights.push(SendAncillaryMessage::ScmRights(&given));
    let length = length.to_le_bytes();
    sendmsg(&ours, &[IoSlice::new(&length)], &mut rights, SendFlags::NOSIGNAL)
        .map_err(io::Error::from)?;
    // With another copy of these ends open, the program would not notice our end.
    drop((stdin_read, stdout_write, stderr_write));
    ours.set_nonblocking(true)?;
    let (read, mut release) = UnixStream::from_std(ours)?.into_split();
    release.write_all(&text).await?;
    let reports = BufReader::new(read).lines();
    let held = Vec::new();
    let mut launched = Launched { supervisor, release, reports, group: None, held, ended: None };
    match launched.report().await? {
        Some(Report::Started { pid, held }) => {
            (launched.group, launched.held) = (Pid::from_raw(pid), held);
        }
        Some(Report::Refused(refusal)) => return Err(LaunchError::Refused(refusal)),
        Some(Report::Ended(_)) | None => {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
    let pipes = Pipes {
        stdin: pipe::Sender::from_owned_fd(stdin_write.into())?,
        stdout: pipe::Receiver::from_owned_fd(stdout_read.into())?,
        stderr: pipe::Receiver::from_owned_fd(stderr_read.into())?,
    };
    Ok((launched, pipes))
}

impl Launched {
    async fn report(&mut self) -> io::Result<Option<Report>> {
        let Some(line) = self.reports.next_line().await? else { return Ok(None) };
        Ok(Some(serde_json::from_str(&line)?))
    }

    pub fn held(&self) -> &[HeldFile] {
        &self.held
    }

    /// Waits for the program's end, and describes it. Cancel safe.
    pub async fn exit(&mut self) -> &str {
        while self.ended.is_none() {
            self.ended = match self.report().await {
                Ok(Some(Report::Ended(how))) => Some(how),
                Ok(Some(_)) => None,
                Ok(None) | Err(_) => Some("its supervisor has ended".to_owned()),
            };
        }
        self.ended.as_deref().unwrap_or_default()
    }

    /// Ends the program and everything it started after `grace`, in which it may end by itself;
    /// close its input first.
    pub async fn end(mut self, grace: Duration) {
        let _ = timeout(grace, self.exit()).await;
        drop(self.release);
        let done = match timeout(ENDING, self.supervisor.wait()).await {
            Ok(status) => status.is_ok_and(|status| status.success()),
            Err(_) => false,
        };
        if !done {
            // The supervisor was killed; at least its program can still be found.
            let _ = self.supervisor.start_kill();
            if let Some(group) = self.group {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
    }
}
