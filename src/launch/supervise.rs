//! The supervisor: a process between us and another program, so that nothing of it survives us.
//!
//! Entry function: [`supervise`]. A [`Plan`] and the program's three streams come in over the
//! socket on standard input; [`Report`]s go back over it. The supervisor starts the program and, as
//! its subreaper, adopts every process the program leaves behind, even in a session of its own. It
//! ends when no process is left. When the socket closes, because the caller let go of the program
//! or died, all descendants get SIGTERM and one second ([`POLITE`]), then SIGKILL every 2 ms
//! ([`AGAIN`]), since one may be forking all the time. After 10 s ([`GIVEN_UP`]) only the kernel
//! can still hold a process, and the supervisor gives up with an exit status of failure. **Never**:
//! reads the program's streams, or holds a secret longer than the start takes.

use std::{
    fs,
    io::{self, IoSliceMut, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            fs::DirBuilderExt,
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::Mode,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
    process::{
        DumpableBehavior, Signal, WaitOptions, getpid, set_child_subreaper, set_dumpable_behavior,
        setsid, umask, wait,
    },
};

use super::{
    allowed, confine,
    held::HeldFile,
    plan::{CONFINE, Confinement, LONGEST, Plan, Refusal, Report, SELF},
    tree,
};

const POLITE: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(2);
const GIVEN_UP: Duration = Duration::from_secs(10);
/// File mode mask of started programs, unless they set another.
const MASK: Mode = Mode::from_raw_mode(0o022);

/// Ended processes not handled yet; more of them wait as zombies.
const EVENTS: usize = 64;

enum Event {
    Released,
    Ended(i32, ExitStatus),
    Empty,
}

struct Watched {
    control: UnixStream,
    server: i32,
    scratch: Option<PathBuf>,
}

pub fn supervise() -> ExitCode {
    // Our own session: signals of a terminal do not reach us, and the program has no terminal to
    // write to. Fails only for a session leader.
    let _ = setsid();
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    umask(MASK);
    let Ok(control) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::FAILURE;
    };
    let started = received(&control).and_then(|(plan, streams)| {
        set_child_subreaper(Some(getpid())).map_err(|error| Refusal::Failed(error.to_string()))?;
        let scratch = plan.confinement.as_ref().map(|it| it.scratch.clone());
        Ok((started(plan, streams)?, scratch))
    });
    match started {
        Ok(((server, held), scratch)) => {
            say(&control, &Report::Started { pid: server, held });
            let done = watch(Watched { control, server, scratch });
            if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(refusal) => {
            say(&control, &Report::Refused(refusal));
            ExitCode::FAILURE
        }
    }
}

fn received(mut control: &UnixStream) -> Result<(Plan, Vec<OwnedFd>), Refusal> {
    let failed = |what: &str| Refusal::Failed(what.to_owned());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut length = [0; 4];
    let into = &mut [IoSliceMut::new(&mut length)];
    let got = recvmsg(control, into, &mut rights, RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL);
    if got.map_or(0, |got| got.bytes) != length.len() {
        return Err(failed("only glyphoxa itself runs this command"));
    }
    let streams: Vec<OwnedFd> = rights
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    let length = u32::from_le_bytes(length);
    if streams.len() != 3 || length > LONGEST {
        return Err(failed("its streams did not arrive"));
    }
    let mut text = Vec::new();
    let read = Read::take(&mut control, length.into()).read_to_end(&mut text);
    read.map_err(|error| Refusal::Failed(error.to_string()))?;
    let plan = serde_json::from_slice(&text).map_err(|error| failed(&error.to_string()))?;
    Ok((plan, streams))
}

/// Starts the program, confined if planned; returns its process id, and the files that become
/// unreadable when replaced.
fn started(plan: Plan, streams: Vec<OwnedFd>) -> Result<(i32, Vec<HeldFile>), Refusal> {
    let variable = |name: &str| {
        let mut all = plan.environment.iter();
        all.find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    };
    let Some((name, arguments)) = plan.command.split_first() else {
        return Err(Refusal::NoProgram);
    };
    let program = allowed::found(name, variable("PATH"))?;
    let mut held = Vec::new();
    let mut command = match &plan.confinement {
        Some(confinement) => {
            let rules = prepared(confinement)
                .map(|()| allowed::rules(&program, arguments, variable("PATH"), confinement))
                .and_then(|rules| {
                    if confine::is_possible() {
                        held.extend(rules.held.iter().cloned().filter_map(HeldFile::of));
                    }
                    Ok(serde_json::to_string(&rules)?)
                })
                .map_err(|error| {
                    let home = confinement.home.display();
                    Refusal::Failed(format!("cannot create its home '{home}': {error}"))
                })?;
            let mut command = Command::new(SELF);
            command.arg0("glyphoxa").arg(CONFINE).arg(rules).arg(&program);
            command
        }
        None => Command::new(&program),
    };
    let mut streams = streams.into_iter().map(Stdio::from);
    let mut next = || streams.next().unwrap_or_else(Stdio::null);
    let (stdin, stdout, stderr) = (next(), next(), next());
    let child = command
        .args(arguments)
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Refusal::NoProgram,
            io::ErrorKind::PermissionDenied => Refusal::MayNotRun,
            _ => Refusal::Failed(error.to_string()),
        })?;
    let pid = i32::try_from(child.id()).map_err(|error| Refusal::Failed(error.to_string()))?;
    Ok((pid, held))
}

fn prepared(confinement: &Confinement) -> io::Result<()> {
    let private = |path: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    // May contain the home of a program on trial.
    emptied(&confinement.scratch);
    private(&confinement.scratch)?;
    private(&confinement.home)
}

/// Leftover temporary files do no harm.
fn emptied(scratch: &Path) {
    let _ = fs::remove_dir_all(scratch);
}

fn say(mut control: &UnixStream, report: &Report) {
    // If no one reads it, the socket has closed too.
    let _ = serde_json::to_string(report)
        .map_err(io::Error::from)
        .and_then(|line| control.write_all(format!("{line}\n").as_bytes()));
}

/// Waits for the end from either side, then ends the rest; false if some process survives.
fn watch(watched: Watched) -> bool {
    let (sender, events) = mpsc::sync_channel(EVENTS);
    let Ok(socket) = watched.control.try_clone() else { return false };
    let others = sender.clone();
    thread::spawn(move || until_released(socket, &others));
    thread::spawn(move || reap(&sender));
    while let Ok(event) = events.recv() {
        match event {
            Event::Ended(pid, status) => watched.ended(pid, status),
            Event::Empty => return watched.leave(true),
            Event::Released => break,
        }
    }
    tree::tell(Signal::TERM);
    let mut is_empty = watched.empty_within(&events, POLITE);
    let until = Instant::now() + GIVEN_UP;
    while !is_empty && Instant::now() < until {
        tree::tell(Signal::KILL);
        is_empty = watched.empty_within(&events, AGAIN);
    }
    watched.leave(is_empty)
}

impl Watched {
    fn ended(&self, pid: i32, status: ExitStatus) {
        if pid == self.server {
            let how = match status.code() {
                Some(code) => format!("exit status {code}"),
                None => status.to_string(),
            };
            say(&self.control, &Report::Ended(how));
        }
    }

    fn empty_within(&self, events: &Receiver<Event>, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended(pid, status)) => self.ended(pid, status),
                Ok(Event::Released) => {}
                Ok(Event::Empty) | Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }

    fn leave(&self, is_empty: bool) -> bool {
        if let Some(scratch) = &self.scratch {
            emptied(scratch);
        }
        is_empty
    }
}

fn until_released(mut socket: UnixStream, events: &SyncSender<Event>) {
    let mut byte = [0];
    while let Ok(1..) = socket.read(&mut byte) {}
    // Without a receiver everything is over anyway.
    let _ = events.send(Event::Released);
}

/// Reports every ended process, until none is left.
fn reap(events: &SyncSender<Event>) {
    loop {
        let event = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                Event::Ended(pid.as_raw_nonzero().get(), ExitStatus::from_raw(status.as_raw()))
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => Event::Empty,
        };
        let is_last = matches!(event, Event::Empty);
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}
