//! The process between us and a program of somebody else.
//!
//! Entry function: [`supervise`]. It starts the program, adopts whatever the program leaves behind
//! (a session of its own does not help against that), and ends all of it when the socket to us
//! closes. **Never**: reads what the program says, or holds a secret longer than the start takes.

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

/// Time everything has to end by itself once it was told to.
const POLITE: Duration = Duration::from_secs(1);
/// Interval between kills of what is left: something may be starting others all the time.
const AGAIN: Duration = Duration::from_millis(2);
/// After this long the kernel keeps what is left, and nobody else can end it either.
const GIVEN_UP: Duration = Duration::from_secs(10);
/// File mode mask of started programs, unless they set another.
const MASK: Mode = Mode::from_raw_mode(0o022);

/// Processes that have ended and were not taken note of yet; who waits for more of them waits too.
const EVENTS: usize = 64;

/// Event that a supervisor handles.
enum Event {
    /// The socket has closed: everything is to end.
    Released,
    /// A process that we started or adopted has ended.
    Ended(i32, ExitStatus),
    /// Nothing is left.
    Empty,
}

/// The started program, and the socket for reports about it.
struct Watched {
    control: UnixStream,
    server: i32,
    scratch: Option<PathBuf>,
}

/// Does what the socket on standard input says; see the module.
pub fn supervise() -> ExitCode {
    // A session of our own: what a terminal sends to the program in front of it is not for us, and
    // the other program has no terminal to write into. It fails only for who leads one already.
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

/// The plan, and the program's three streams.
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

/// Starts the program, confined if that is planned; its process, and the files whose replacement is closed
/// to it.
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

/// Makes the folders a confined program has for itself.
fn prepared(confinement: &Confinement) -> io::Result<()> {
    let private = |path: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    // The home of a program that is tried once lies in there too.
    emptied(&confinement.scratch);
    private(&confinement.scratch)?;
    private(&confinement.home)
}

/// Removes the temporary files. Files that stay behind do no harm.
fn emptied(scratch: &Path) {
    let _ = fs::remove_dir_all(scratch);
}

fn say(mut control: &UnixStream, report: &Report) {
    // Nobody hears it who is gone; then the socket has closed too.
    let _ = serde_json::to_string(report)
        .map_err(io::Error::from)
        .and_then(|line| control.write_all(format!("{line}\n").as_bytes()));
}

/// Waits for the end, from whichever side, and leaves nothing behind. Whether that was done.
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

    /// True if everything has ended before `patience` is over.
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

    /// Nothing of the program runs any more, or nothing can be done about it.
    fn leave(&self, is_empty: bool) -> bool {
        if let Some(scratch) = &self.scratch {
            emptied(scratch);
        }
        is_empty
    }
}

/// Reads until the other end of the socket is gone. Nothing is ever sent.
fn until_released(mut socket: UnixStream, events: &SyncSender<Event>) {
    let mut byte = [0];
    while let Ok(1..) = socket.read(&mut byte) {}
    // Without a receiver everything is over anyway.
    let _ = events.send(Event::Released);
}

/// Takes note of every process that ends, until there is none.
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
