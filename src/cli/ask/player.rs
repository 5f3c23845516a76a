//! Plays replies while they are spoken, by files for an installed program. Entry type: [`Player`].

use std::{
    env::{split_paths, temp_dir},
    fs::{self, DirBuilder},
    io::{self, IsTerminal},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio, id},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::super::complain;
use crate::{
    audio::{Clip, SampleRate, write_wav},
    files,
    launch::variable,
};

/// Programs that play a WAV file, in order of preference, with their options.
const PLAYERS: [(&str, &[&str]); 6] = [
    ("pw-play", &[]),
    ("paplay", &[]),
    ("aplay", &[]),
    ("afplay", &[]),
    ("play", &["-q"]),
    ("ffplay", &["-nodisp", "-autoexit", "-loglevel", "quiet"]),
];
/// Reason for silence at a terminal.
pub const NO_PLAYER: &str = "no program that plays sound is installed (install pw-play, paplay, aplay, \
                             afplay, play or ffplay; or record the NPCs with --out FILE.wav)";
/// Interval of checks whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);
/// A program that takes this much longer than its sound is killed.
const LATE: Duration = Duration::from_secs(5);
/// Samples of 10 ms at 48 kHz.
const WINDOW: usize = 480;
/// Quiet windows that make a pause between sentences: 80 ms.
const PAUSE: usize = 8;
/// Loudest sample of a pause.
const QUIET: u16 = 200;
/// Shortest piece: 300 ms.
const SHORTEST: usize = 30 * WINDOW;

pub enum Sound {
    /// Samples at 48 kHz, mono.
    Samples(Vec<i16>),
    /// Nothing follows for now.
    Rest,
    /// Drops all sound not heard yet.
    Stop,
    /// The end.
    End,
}

/// A thread that plays; dropping it stops the sound.
pub struct Player {
    sounds: Sender<Sound>,
    ended: oneshot::Receiver<()>,
    is_idle: Arc<AtomicBool>,
}

/// The receiving end of a [`Player`].
pub struct Told {
    sounds: Receiver<Sound>,
    is_idle: Arc<AtomicBool>,
}

impl Told {
    /// The next sound. `is_idle`: nothing plays or waits meanwhile.
    fn next(&self, is_idle: bool) -> Option<Sound> {
        self.is_idle.store(is_idle, Ordering::Relaxed);
        let sound = self.sounds.recv().ok();
        self.is_idle.store(false, Ordering::Relaxed);
        sound
    }

    /// All sounds so far; counts as played.
    #[cfg(test)]
    pub fn played(&self) -> Vec<Sound> {
        let sounds = self.sounds.try_iter().collect();
        self.is_idle.store(true, Ordering::Relaxed);
        sounds
    }
}

impl Player {
    /// Uses the first of the programs in `PATH`; `None`: no terminal, no program, or `is_silent`.
    pub fn found(is_silent: bool) -> Option<Self> {
        if is_silent || !io::stdout().is_terminal() {
            return None;
        }
        let Some(program) = installed() else {
            complain(NO_PLAYER);
            return None;
        };
        let (player, told, done) = Self::new();
        thread::spawn(move || {
            if let Err(why) = Playing::with(&program, &told) {
                complain(&format!(
                    "cannot play sound: {why} (record it with --out FILE.wav, or turn it off with \
                     --silent)"
                ));
            }
            // The receiver may have been dropped.
            _ = done.send(());
        });
        Some(player)
    }

    /// A player, the record of its sounds, and the sender that ends it.
    pub fn new() -> (Self, Told, oneshot::Sender<()>) {
        let (sender, sounds) = channel();
        let (done, ended) = oneshot::channel();
        let is_idle = Arc::new(AtomicBool::new(true));
        let told = Told { sounds, is_idle: Arc::clone(&is_idle) };
        (Self { sounds: sender, ended, is_idle }, told, done)
    }

    /// True once all its sound has been played.
    pub fn is_idle(&self) -> bool {
        self.is_idle.load(Ordering::Relaxed)
    }

    /// Never waits.
    pub fn tell(&self, sound: Sound) {
        self.is_idle.store(false, Ordering::Relaxed);
        // A thread that cannot play has reported it, and ended.
        _ = self.sounds.send(sound);
    }

    /// Waits until everything has been heard, unless Ctrl-C is pressed or the run was not `whole`.
    pub async fn finish(mut self, whole: bool) {
        self.tell(Sound::End);
        tokio::select! {
            _ = &mut self.ended, if whole => return,
            // Without signals, sound is not played to its end.
            _ = tokio::signal::ctrl_c(), if whole => {}
            else => {}
        }
        self.tell(Sound::Stop);
        _ = self.ended.await;
    }
}

/// The program that plays sound at a terminal.
pub fn installed() -> Option<PathBuf> {
    in_path(&variable("PATH")?)
}

fn options(program: &Path) -> &'static [&'static str] {
    let found = PLAYERS.iter().find(|(name, _)| program.ends_with(name));
    found.map(|(_, options)| *options).unwrap_or_default()
}

/// The first of the players in the folders of `path`.
fn in_path(path: &str) -> Option<PathBuf> {
    let is_here = |path: &PathBuf| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    PLAYERS.iter().find_map(|(name, _)| {
        split_paths(path).map(|folder| folder.join(name)).filter(|it| it.is_file()).find(is_here)
    })
}

#[derive(Default)]
struct Waiting {
    samples: Vec<i16>,
    /// Number of samples that can be played without waiting for a pause.
    whole: usize,
    has_ended: bool,
}

impl Waiting {
    fn take(&mut self, sound: Sound) {
        match sound {
            Sound::Samples(samples) => self.samples.extend(samples),
            Sound::Rest => self.whole = self.samples.len(),
            Sound::Stop => *self = Self { has_ended: self.has_ended, ..Self::default() },
            Sound::End => {
                self.has_ended = true;
                self.whole = self.samples.len();
            }
        }
    }

    /// Sound that can be played without a gap inside a word: all whole samples, or up to a pause.
    fn piece(&mut self) -> Option<Vec<i16>> {
        let end = if self.whole > 0 { self.whole } else { self.last_pause()? };
        self.whole = 0;
        Some(self.samples.drain(..end).collect())
    }

    fn last_pause(&self) -> Option<usize> {
        let windows: Vec<&[i16]> = self.samples.chunks_exact(WINDOW).collect();
        let is_quiet = |window: &&[i16]| window.iter().all(|it| it.unsigned_abs() <= QUIET);
        let at = windows.windows(PAUSE).rposition(|row| row.iter().all(is_quiet))?;
        let end = (at + PAUSE) * WINDOW;
        (end >= SHORTEST).then_some(end)
    }
}

/// A program, and a temporary folder for its files.
struct Playing<'a> {
    program: &'a Path,
    folder: PathBuf,
}

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        // The system clears its temporary folder.
        _ = fs::remove_dir_all(&self.folder);
    }
}

impl<'a> Playing<'a> {
    /// Plays sound until the end, or until all senders are dropped.
    fn with(program: &'a Path, told: &Told) -> Result<(), String> {
        let mut waiting = Waiting::default();
        let Some(first) = told.next(true) else { return Ok(()) };
        waiting.take(first);
        let folder = temp_dir().join(format!("glyphoxa-replies-{}", id()));
        // An existing folder belongs to another process.
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| format!("cannot create '{}': {error}", folder.display()))?;
        let playing = Self { program, folder };
        loop {
            let Some(piece) = waiting.piece() else {
                if waiting.has_ended {
                    return Ok(());
                }
                let is_idle = waiting.samples.is_empty();
                let Some(sound) = told.next(is_idle) else { return Ok(()) };
                waiting.take(sound);
                continue;
            };
            if !playing.play(piece, told, &mut waiting)? {
                return Ok(());
            }
        }
    }

    /// Plays a piece while receiving more; false if stopped.
    fn play(&self, samples: Vec<i16>, told: &Told, waiting: &mut Waiting) -> Result<bool, String> {
        let clip = Clip { samples, rate: SampleRate::HZ_48000 };
        let path = self.folder.join("reply.wav");
        let written = files::replace_private(&path, &write_wav(&clip));
        written.map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
        let name = self.program.display();
        let started = Command::new(self.program)
            .args(options(self.program))
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = started.map_err(|error| format!("cannot start {name}: {error}"))?;
        let sound = Duration::from_millis(clip.samples.len() as u64 / 48);
        let until = Instant::now() + sound + LATE;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(true),
                // Ctrl-C ends every program at the terminal.
                Ok(Some(status)) if status.code().is_none() => {
                    waiting.take(Sound::Stop);
                    return Ok(true);
                }
                Ok(Some(status)) => return Err(format!("{name} failed ({status})")),
                Ok(None) if Instant::now() < until => {}
                Ok(None) => {
                    end(&mut child);
                    return Err(format!("{name} did not finish in time"));
                }
                Err(error) => return Err(format!("cannot watch {name}: {error}")),
            }
            match told.sounds.recv_timeout(LOOK) {
                Ok(Sound::Stop) => {
                    waiting.take(Sound::Stop);
                    end(&mut child);
                    return Ok(true);
                }
                Ok(sound) => waiting.take(sound),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    end(&mut child);
                    return Ok(false);
                }
            }
        }
    }
}

fn end(child: &mut Child) {
    // It may have ended already.
    _ = child.kill();
    _ = child.wait();
}
