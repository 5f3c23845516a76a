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

pub struct Loaded {
    pub settings: Settings,
    pub network: Network,
}

pub struct Library {
    models: Vec<PathBuf>,
    voices: Kept<Files, Loaded>,
    cores: Cores,
}

pub fn called(id: &str) -> String {
    format!("the Piper voice '{id}'")
}

impl Library {
    pub fn new(models: &[PathBuf], cores: Cores) -> Self {
        Self { models: models.to_owned(), voices: Kept::default(), cores }
    }

    pub const fn cores(&self) -> &Cores {
        &self.cores
    }

    /// The voice of `id`, loaded on the first call. Cancel safe. `Kind::Missing` without its
    /// files, `Kind::Protocol` if they are damaged.
    pub async fn voice(&self, id: &str) -> Result<Arc<Loaded>, Error> {
        let (name, files) = self.files(id)?;
        let (what, key) = (called(name.voice), files.clone());
        let load =
            || async move { self.cores.computed(&what, move || Loaded::read(&files)).await? };
        self.voices.get_or_load(&key, load).await
    }

    /// Reason the voice `id` is missing; only checks that its files exist.
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
