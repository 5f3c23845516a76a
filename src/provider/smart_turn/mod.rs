//! Pipecat's Smart Turn v3.2, which hears in 23 languages whether somebody has finished.
//!
//! Entry type: [`SmartTurn`]: one model for all speakers, computed in Rust by a thread of its own. An
//! answer takes a tenth of a CPU-second. **Never**: downloads the model, runs a file that is not the
//! published one, or computes on the runtime's threads.

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

/// Its name in reports; that of its folder, too.
pub const NAME: &str = "smart-turn";
/// Its file.
pub const FILE: &str = "smart-turn-v3.2-cpu.onnx";
/// Length and SHA-256 of that file: the thresholds hold for it, and the runtime can read it.
const PUBLISHED: (u64, &str) =
    (8_679_182, "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f");
/// Pauses that wait to be judged: the answer to a third one would come too late.
const WAITING: usize = 2;
/// Niceness that its thread adds: others go before it.
const NICE: i32 = 10;

/// A pause to judge, and where the answer goes.
type Job = (Vec<Frame>, oneshot::Sender<f32>);

/// The model at work. Cloning shares it; the last one ends its thread.
#[derive(Clone)]
pub struct SmartTurn {
    jobs: SyncSender<Job>,
}

impl SmartTurn {
    /// The model in the file `path`, loaded: a tenth of a second, on the caller's thread.
    ///
    /// # Errors
    /// [`Kind::Missing`] where it is not, or is another than the published one.
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

/// Judges until nobody asks any more.
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

/// The published file, or why this is none. No more of it is read than that has.
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

/// A file that is there and of no use.
fn broken(path: &Path, why: &str) -> Error {
    let text = format!(
        "{NAME} cannot be used from '{}': {why} (glyphoxa models get {NAME})",
        path.display()
    );
    Error::new(Kind::Missing, text)
}
