//! Pipecat's Smart Turn v3.2, which hears in 23 languages whether a speaker has finished.
//!
//! Entry type: [`SmartTurn`]: one model for all speakers, in Rust on its own thread. An answer
//! takes a tenth of a CPU-second. **Never**: downloads the model, or runs another file than the
//! published one.

mod features;
mod network;
mod trim;

#[cfg(test)]
mod tests;

use std::{
    io::Read,
    path::Path,
    sync::mpsc::{self as blocking, SyncSender},
    thread,
};

use rustix::process::nice;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use self::network::Network;
use super::{Error, Kind, TurnJudge};
use crate::{audio::Frame, domain::hex, files};

/// Its name in reports and its folder.
pub const NAME: &str = "smart-turn";
pub const FILE: &str = "smart-turn-v3.2-cpu.onnx";
/// Length and SHA-256 of that file: the thresholds hold for it, and the runtime can read it.
const PUBLISHED: (u64, &str) =
    (8_679_182, "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f");
/// Queued pauses: the answer to a third one would come too late.
const WAITING: usize = 2;
/// Niceness of its thread: others come first.
const NICE: i32 = 10;

/// A pause to judge, and where the answer goes.
type Job = (Vec<Frame>, oneshot::Sender<f32>);

/// The running model. Clones share it; dropping the last one ends its thread.
#[derive(Clone)]
pub struct SmartTurn {
    jobs: SyncSender<Job>,
}

impl SmartTurn {
    /// Loads the model in `path`: a tenth of a second, on the caller's thread. [`Kind::Missing`]
    /// unless it is the published file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let published = read(path)?;
        let (started, starting) = blocking::sync_channel(0);
        let (jobs, waiting) = blocking::sync_channel::<Job>(WAITING);
        let work = move || {
            // The network's own thread inherits it.
            let _ = nice(NICE);
            match Network::load(&published) {
                Ok(network) => {
                    drop(published);
                    if started.send(Ok(())).is_ok() {
                        work(network, &waiting);
                    }
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            }
        };
        let spawned = thread::Builder::new().name("turn judge".to_owned()).spawn(work);
        let loaded = spawned.map_err(|error| broken(path, &error.to_string()))?;
        match starting.recv() {
            Ok(Ok(())) => Ok(Self { jobs }),
            Ok(Err(error)) => Err(broken(path, &error.to_string())),
            Err(_) => {
                let _ = loaded.join();
                Err(broken(path, "its thread crashed"))
            }
        }
    }
}

impl TurnJudge for SmartTurn {
    fn name(&self) -> &str {
        NAME
    }

    fn judge(&self, sound: Vec<Frame>) -> Option<oneshot::Receiver<f32>> {
        let (answer, judged) = oneshot::channel();
        self.jobs.try_send((sound, answer)).ok().map(|()| judged)
    }
}

/// Judges pauses until shutdown.
fn work(mut network: Network, waiting: &blocking::Receiver<Job>) {
    while let Ok((sound, answer)) = waiting.recv() {
        if answer.is_closed() {
            continue;
        }
        let samples: Vec<f32> = sound.iter().flat_map(Frame::samples).map(unit).collect();
        match network.probability(&samples) {
            // The receiver may have been dropped.
            Ok(probability) => drop(answer.send(probability)),
            Err(error) => tracing::warn!(%error, "the sound model of turns failed"),
        }
    }
}

/// A sample from −1 to 1.
fn unit(sample: &i16) -> f32 {
    f32::from(*sample) / 32_768.0
}

/// The published file; fails if `path` is another. Reads no more bytes than the published length.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let (length, hash) = PUBLISHED;
    let absent = |error: std::io::Error| {
        let text = format!(
            "{NAME} is not here: cannot read '{}': {error} (glyphoxa models get {NAME})",
            path.display()
        );
        Error::new(Kind::Missing, text)
    };
    let mut published = Vec::new();
    let file = files::open(path).map_err(absent)?;
    file.take(length + 1).read_to_end(&mut published).map_err(absent)?;
    if hex(&Sha256::digest(&published)) != hash {
        return Err(broken(path, "its sha-256 differs from the published file's"));
    }
    Ok(published)
}

/// Error for an unusable file.
fn broken(path: &Path, why: &str) -> Error {
    let text = format!(
        "{NAME} cannot be used from '{}': {why} (glyphoxa models get {NAME})",
        path.display()
    );
    Error::new(Kind::Missing, text)
}
