//! Inputs with their sound. Entry function: [`load`]. **Never**: holds a whole recording.

use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
    time::Duration,
};

use anyhow::Context;
use tokio::{sync::mpsc, task::spawn_blocking};

use super::{
    super::{Failure, complain},
    inputs::{Input, STDIN, What},
};
use crate::{
    audio::{SampleRate, decode},
    files,
};

/// In bytes.
const LARGEST: u64 = 512 << 20;
/// Pieces decoded ahead, of some tenths of a second each.
const AHEAD: usize = 32;
/// Rate to which recordings are converted.
pub const RECEIVED: SampleRate = SampleRate::HZ_16000;

pub struct Step {
    pub input: Input,
    /// `None` for text.
    pub recording: Option<Recording>,
}

impl Step {
    /// True if its time is given (`--at`).
    pub const fn has_time(&self) -> bool {
        self.input.at.is_some()
    }

    pub fn length(&self) -> Duration {
        self.recording.as_ref().map_or(Duration::ZERO, |recording| recording.length)
    }
}

/// A recording that was decoded once, so that it is valid.
pub struct Recording {
    file: File,
    hint: Option<String>,
    length: Duration,
}

/// Frames of a recording being decoded.
pub struct RecordedSound {
    pieces: mpsc::Receiver<Vec<i16>>,
    left: Vec<i16>,
}

/// Opens the input; fails if a recording is unreadable.
pub fn load(input: Input) -> Result<Step, Failure> {
    let recording = match &input.what {
        What::Text(_) => None,
        What::File(path) => Some(Recording::open(path).map_err(|why| {
            Failure::Failed(anyhow::anyhow!("cannot hear '{}': {why:#}", path.display()))
        })?),
    };
    Ok(Step { input, recording })
}

impl Recording {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let hint = path.extension().and_then(|end| end.to_str()).map(str::to_owned);
        let file = match path.as_os_str() == STDIN {
            true => spooled(&mut io::stdin().lock()).context("standard input")?,
            false => files::open(path).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidInput => {
                    anyhow::anyhow!("{error} (to read from a pipe, use --in -)")
                }
                io::ErrorKind::IsADirectory => anyhow::anyhow!("{error} (name a file in it)"),
                _ => error.into(),
            })?,
        };
        anyhow::ensure!(
            file.metadata()?.len() <= LARGEST,
            "it is larger than {} MiB (cut it into pieces)",
            LARGEST >> 20
        );
        let mut samples = 0;
        let rate = decode(file.try_clone()?, hint.as_deref(), None, &mut |piece| {
            samples += piece.len();
            Ok(())
        })?;
        let length = Duration::from_secs_f64(samples as f64 / f64::from(rate.hz()));
        Ok(Self { file, hint, length })
    }

    /// Its sound from the beginning, at [`RECEIVED`].
    pub fn play(&self) -> io::Result<RecordedSound> {
        let (mut file, hint) = (self.file.try_clone()?, self.hint.clone());
        file.rewind()?;
        let (decoded, pieces) = mpsc::channel(AHEAD);
        spawn_blocking(move || {
            let ended = decode(file, hint.as_deref(), Some(RECEIVED), &mut |piece| {
                let gone = |_| io::ErrorKind::BrokenPipe.into();
                decoded.blocking_send(piece.to_vec()).map_err(gone)
            });
            if let Some(why) = ended.err().filter(|_| !decoded.is_closed()) {
                complain(&format!("a recording was only heard in part: {why}"));
            }
        });
        Ok(RecordedSound { pieces, left: Vec::new() })
    }
}

impl RecordedSound {
    /// The next frame's samples, fewer at the end; `None` after it.
    pub async fn next(&mut self) -> Option<Vec<i16>> {
        let length = RECEIVED.frame_len();
        while self.left.len() < length {
            match self.pieces.recv().await {
                Some(piece) => self.left.extend(piece),
                None if self.left.is_empty() => return None,
                None => break,
            }
        }
        let rest = self.left.split_off(length.min(self.left.len()));
        Some(std::mem::replace(&mut self.left, rest))
    }
}

/// Copies `pipe` into an unnamed file: sound is not always read from front to back.
fn spooled(pipe: &mut impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut pipe.take(LARGEST + 1), &mut file)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::{Clip, write_wav};

    #[tokio::test]
    async fn recording_is_heard_in_frames_and_held_in_none() {
        for seconds in [1, 20] {
            let samples = vec![9; 16_000 * seconds + 7];
            let wav = write_wav(&Clip { samples, rate: RECEIVED });
            let file = spooled(&mut wav.as_slice()).unwrap();
            let length = Duration::from_secs(seconds as u64);
            let mut heard = Recording { file, hint: None, length }.play().unwrap();
            let (mut samples, mut held) = (0, 0);
            while let Some(frame) = heard.next().await {
                samples += frame.len();
                held = held.max(heard.left.len() + heard.left.capacity());
                assert!(frame.len() == RECEIVED.frame_len() || frame.len() == 7);
            }
            assert_eq!(samples, 16_000 * seconds + 7);
            assert!(held < 32_768, "{held} samples are held");
        }
    }

    #[test]
    fn recording_that_is_too_large_is_not_decoded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.wav");
        File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
        let why = Recording::open(&path).err().unwrap().to_string();
        assert_eq!(why, "it is larger than 512 MiB (cut it into pieces)");
    }
}
