//! Replies as one recording, and to be heard.
//!
//! Entry type: [`WavSink`]. **Never**: leaves a half-written file.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context;

use super::player::{Player, Sound};
use crate::{
    audio::{Clip, Frame, Gain, SampleRate, write_wav},
    files,
    session::VoiceOut,
};

/// Collects the speech of all NPCs, as it would be heard. Cloning shares it.
#[derive(Clone)]
pub struct WavSink(Arc<Mutex<Collected>>);

/// What came so far.
struct Collected {
    samples: Vec<i16>,
    gain: Gain,
    /// Plays it too; `None`: it is only collected.
    player: Option<Player>,
}

impl VoiceOut for WavSink {
    fn play(&mut self, _npc: &str, frame: Frame) {
        let mut collected = self.collected();
        let mut samples = frame.samples().to_vec();
        collected.gain.apply(&mut samples);
        collected.samples.extend_from_slice(&samples);
        collected.tell(Sound::Samples(samples));
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.collected().gain.ramp_to(db, over);
    }

    fn rest(&mut self) {
        self.collected().tell(Sound::Rest);
    }

    fn stop(&mut self) -> usize {
        self.collected().tell(Sound::Stop);
        // A recording plays nothing ahead.
        0
    }
}

impl Collected {
    fn tell(&self, sound: Sound) {
        if let Some(player) = &self.player {
            player.tell(sound);
        }
    }
}

impl WavSink {
    /// Collects, and has `player` play, what comes.
    pub fn new(player: Option<Player>) -> Self {
        let gain = Gain::new(SampleRate::HZ_48000);
        Self(Arc::new(Mutex::new(Collected { samples: Vec::new(), gain, player })))
    }

    /// Waits until everything was heard; Ctrl-C drops the rest, and so does a run that was not `whole`.
    pub async fn heard_out(&self, whole: bool) {
        let player = self.collected().player.take();
        if let Some(player) = player {
            player.finish(whole).await;
        }
    }

    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes everything collected, whole or not at all; nothing without speech.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let samples = std::mem::take(&mut self.collected().samples);
        if samples.is_empty() {
            super::super::complain(&format!("'{}' not written: no NPC spoke", path.display()));
            return Ok(());
        }
        let wav = write_wav(&Clip { samples, rate: SampleRate::HZ_48000 });
        files::replace(path, &wav).with_context(|| format!("cannot write '{}'", path.display()))
    }
}

/// Why a recording cannot be written, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// There is a folder of this name.
    #[error("--out '{}' is a folder (name a file in it)", .0.display())]
    Folder(PathBuf),
    /// It is to be of another format.
    #[error(
        "--out '{}' is not a .wav file (replies are written as WAV: 48 kHz mono, 16-bit PCM; name \
         it '{}')",
        .0.display(), .0.with_extension("wav").display()
    )]
    Format(PathBuf),
    /// Its folder is not there.
    #[error("--out '{}': missing folder '{}' (create it first)", .path.display(), .folder.display())]
    NoFolder {
        /// The file that is wanted.
        path: PathBuf,
        /// What is not there.
        folder: PathBuf,
    },
    /// The disk takes nothing there.
    #[error("--out '{}' cannot be written: {error} (name another file)", .path.display())]
    Disk {
        /// The file that is wanted.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
}

/// Whether `path` can be written when the time comes.
///
/// # Errors
/// Why not, with the way out.
pub fn check(path: &Path) -> Result<(), SinkError> {
    let path = path.to_owned();
    if path.is_dir() {
        return Err(SinkError::Folder(path));
    }
    if path.extension().is_some_and(|end| !end.eq_ignore_ascii_case("wav")) {
        return Err(SinkError::Format(path));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let folder = folder.to_owned();
        return Err(SinkError::NoFolder { path, folder });
    }
    files::replaceable(&path).map_err(|error| SinkError::Disk { path, error })
}
