//! Kokoro in memory: its network, its speed on this machine and its voices.
//!
//! Entry type: [`Library`]. **Never**: loads or measures anything twice.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use super::{
    alphabet::number,
    network::{Network, RATE},
    speed::{Speed, measured, too_slow},
    style::{BYTES, Style},
};
use crate::provider::{
    Error,
    voices::neural::{
        cores::{Cores, Kept, unusable},
        files::{bounded, missing, shown},
    },
};

const FOLDER: &str = "kokoro";
const NETWORK: &str = "kokoro-v1.0.int8.onnx";
const VOICE: &str = "bin";
/// Largest network that is read; the quantised one has 92 MB, the original 325 MB.
const MOST_NETWORK: u64 = 384 * 1024 * 1024;
/// Phonemes spoken to measure the speed: about two seconds.
const TRIAL: &str = "həlˈO, məd fɹˈɛnd ənd wˈɛlkəm.";

pub const CALLED: &str = "Kokoro";

pub struct Measured {
    pub speed: Speed,
    /// `None`: too slow here, and unloaded.
    network: Option<Network>,
}

pub struct Ready {
    found: Arc<Measured>,
    pub style: Arc<Style>,
}

pub struct Library {
    models: Vec<PathBuf>,
    slowest: f32,
    cores: Cores,
    networks: Kept<PathBuf, Measured>,
    styles: Kept<PathBuf, Style>,
}

pub fn called(id: &str) -> String {
    format!("the Kokoro voice '{id}'")
}

impl Ready {
    pub fn network(&self) -> Result<&Network, Error> {
        self.found.network.as_ref().ok_or_else(|| unusable(CALLED, "they were unloaded"))
    }

    pub fn speed(&self) -> Speed {
        self.found.speed
    }
}

impl Library {
    /// Uses `cores`, unless a second of sound takes more than `slowest` seconds.
    pub fn new(models: &[PathBuf], slowest: f32, cores: Cores) -> Self {
        let (networks, styles) = (Kept::default(), Kept::default());
        Self { models: models.to_owned(), slowest, cores, networks, styles }
    }

    pub const fn cores(&self) -> &Cores {
        &self.cores
    }

    /// The voice `id`, loaded and measured on the first call. Cancel safe. Fails if its files are
    /// missing or damaged, or this machine is too slow.
    pub async fn voice(&self, id: &str) -> Result<Ready, Error> {
        let path = self.file(id)?;
        let (what, from) = (called(id), path.clone());
        let load = || async move {
            let read = move || read_style(&from);
            self.cores.computed(&what, read).await?
        };
        let style = self.styles.get_or_load(&path, load).await?;
        let folder = path.parent().unwrap_or(&path).to_owned();
        let find = || self.found(folder.clone(), Arc::clone(&style));
        let found = self.networks.get_or_load(&folder, find).await?;
        if found.network.is_none() {
            return Err(too_slow(found.speed, self.slowest));
        }
        Ok(Ready { found, style })
    }

    /// Reason the voice `id` is missing, as far as known.
    pub fn lacks(&self, id: &str) -> Option<Error> {
        let path = match self.file(id) {
            Ok(path) => path,
            Err(error) => return Some(error),
        };
        let found = self.networks.loaded(&path.parent()?.to_owned())?;
        found.network.is_none().then(|| too_slow(found.speed, self.slowest))
    }

    /// The network in `folder`, and its speed with `style`.
    async fn found(&self, folder: PathBuf, style: Arc<Style>) -> Result<Measured, Error> {
        let slowest = self.slowest;
        let try_it = move || Measured::read(&folder, &style, slowest);
        let found = self.cores.computed(CALLED, try_it).await??;
        if found.network.is_some() {
            tracing::info!(speed = %found.speed, "kokoro is fast enough on this machine");
        } else {
            tracing::warn!(error = %too_slow(found.speed, slowest), "NPCs cannot speak with kokoro");
        }
        Ok(found)
    }

    /// The file of the voice `id` in the first folder with the network.
    fn file(&self, id: &str) -> Result<PathBuf, Error> {
        let mut folders = self.models.iter().map(|models| models.join(FOLDER));
        let folder = folders.find(|folder| folder.join(NETWORK).is_file()).ok_or_else(|| {
            let folders = shown(&self.models);
            missing(format!("kokoro is not in '{folders}' (glyphoxa models get kokoro)"))
        })?;
        let path = folder.join(id).with_extension(VOICE);
        // A name of letters, digits and "_" stays in the folder.
        let is_name = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && path.is_file() {
            return Ok(path);
        }
        let there = voices_in(&folder).join(", ");
        Err(missing(format!("kokoro has no voice '{id}' in '{}' ({there})", folder.display())))
    }
}

pub fn voices(models: &[PathBuf]) -> Vec<String> {
    let mut folders = models.iter().map(|models| models.join(FOLDER));
    let folder = folders.find(|folder| folder.join(NETWORK).is_file());
    folder.map(|folder| voices_in(&folder)).unwrap_or_default()
}

fn voices_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let voice = |name: String| Some(name.strip_suffix(VOICE)?.strip_suffix('.')?.to_owned());
    let mut voices: Vec<String> = names.filter_map(voice).collect();
    voices.sort();
    voices
}

fn read_style(path: &Path) -> Result<Style, Error> {
    let bytes = bounded(path, BYTES as u64)?;
    Style::read(&bytes).map_err(|error| unusable(&called(&path.display().to_string()), error))
}

impl Measured {
    /// The network in `folder`; unloaded again if a second of sound in `style` takes more than
    /// `slowest` seconds.
    fn read(folder: &Path, style: &Style, slowest: f32) -> Result<Self, Error> {
        let path = folder.join(NETWORK);
        let what = format!("{CALLED} in '{}'", folder.display());
        let bytes = bounded(&path, MOST_NETWORK)?;
        let network = Network::load(bytes).map_err(|error| unusable(&what, error))?;
        let sounds: Vec<i32> = TRIAL.chars().filter_map(number).collect();
        let begun = Instant::now();
        let speak =
            || network.speak(&sounds, style, 1.0).map(|samples| RATE.duration_of(samples.len()));
        let speed = measured(slowest, || begun.elapsed(), speak);
        let speed = speed.map_err(|error| unusable(&what, error))?;
        Ok(Self { speed, network: (speed.0 <= slowest).then_some(network) })
    }
}
