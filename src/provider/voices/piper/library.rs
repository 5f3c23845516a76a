//! Piper voices in memory.
//!
//! Entry type: [`Library`]. **Never**: loads a voice twice.

use std::{path::PathBuf, sync::Arc};

use super::{
    files::{Files, Name},
    network::Network,
    settings::Settings,
};
use crate::provider::{
    Error, Kind,
    voices::neural::cores::{Cores, Kept, unusable},
};

/// A voice in memory.
pub struct Loaded {
    /// Its description.
    pub settings: Settings,
    /// Its network.
    pub network: Network,
}

/// The voices below some folders.
pub struct Library {
    models: Vec<PathBuf>,
    voices: Kept<Files, Loaded>,
    cores: Cores,
}

/// Name of a voice in errors.
pub fn called(id: &str) -> String {
    format!("the Piper voice '{id}'")
}

impl Library {
    /// Of the voices below `models`, loaded and spoken with on `cores`; nothing is loaded yet.
    pub fn new(models: &[PathBuf], cores: Cores) -> Self {
        Self { models: models.to_owned(), voices: Kept::default(), cores }
    }

    /// Cores that the networks share.
    pub const fn cores(&self) -> &Cores {
        &self.cores
    }

    /// The voice of `id`, loaded on the first call. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::Missing`] when its files are not there, [`Kind::Protocol`] when they do not serve.
    pub async fn voice(&self, id: &str) -> Result<Arc<Loaded>, Error> {
        let (name, files) = self.files(id)?;
        let (what, key) = (called(name.voice), files.clone());
        let load =
            || async move { self.cores.computed(&what, move || Loaded::read(&files)).await? };
        self.voices.get_or_load(&key, load).await
    }

    /// Reason the voice `id` is missing; only looks whether its files are there.
    pub fn lacks(&self, id: &str) -> Option<Error> {
        self.files(id).err()
    }

    fn files<'i>(&self, id: &'i str) -> Result<(Name<'i>, Files), Error> {
        let name = Name::of(id).ok_or_else(|| {
            let text = format!("piper has no voice \"{id}\" (use the name of a folder of models)");
            Error::new(Kind::InvalidRequest, text)
        })?;
        let files = name.files(&self.models)?;
        Ok((name, files))
    }
}

impl Loaded {
    /// The voice in `files`.
    ///
    /// # Errors
    /// They cannot be read, or are no voice.
    pub fn read(files: &Files) -> Result<Self, Error> {
        let name = files.network.display();
        let (settings, network) = files.read()?;
        let settings = Settings::read(&settings)
            .map_err(|error| unusable(&called(&format!("{name}.json")), error))?;
        let network = Network::load(network, &settings)
            .map_err(|error| unusable(&called(&name.to_string()), error))?;
        Ok(Self { settings, network })
    }
}
