//! Piper voices in memory, and the threads that compute with them.
//!
//! Entry type: [`Library`]. **Never**: loads a voice twice, or computes more at once than there are
//! cores.

use std::{
    collections::HashMap,
    fmt::Display,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread::available_parallelism,
};

use tokio::{
    sync::{OnceCell, Semaphore},
    task::spawn_blocking,
};

use super::{
    files::{Files, Name},
    network::Network,
    settings::Settings,
};
use crate::provider::{Error, Kind};

/// A voice in memory.
pub struct Loaded {
    /// What its description says.
    pub settings: Settings,
    /// What speaks.
    pub network: Network,
}

/// Where a voice is kept, or will be.
type Kept = Arc<OnceCell<Arc<Loaded>>>;

/// The voices below some folders.
pub struct Library {
    models: Vec<PathBuf>,
    voices: Mutex<HashMap<Files, Kept>>,
    /// Held while something is computed.
    at_work: Arc<Semaphore>,
}

impl Library {
    /// Of the voices below `models`; nothing is loaded yet.
    pub fn new(models: &[PathBuf]) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let at_work = Arc::new(Semaphore::new(cores));
        Self { models: models.to_owned(), voices: Mutex::default(), at_work }
    }

    /// The voice of `id`, loaded by whoever comes first. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::Missing`] when its files are not there, [`Kind::Protocol`] when they do not serve.
    pub async fn voice(&self, id: &str) -> Result<Arc<Loaded>, Error> {
        let (name, files) = self.files(id)?;
        let kept = self.kept(&files);
        let voice = name.voice.to_owned();
        let load = || async move {
            let load = move || Loaded::read(&files).map(Arc::new);
            self.computed(&voice, load).await?
        };
        kept.get_or_try_init(load).await.cloned()
    }

    /// Why there is no voice of `id`; only looks whether its files are there.
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

    /// What `work` for the voice `id` comes to on a thread of its own, once a core is free.
    ///
    /// # Errors
    /// The runtime has panicked: whatever a file makes it do, it is the voice that fails.
    pub async fn computed<T: Send + 'static>(
        &self,
        id: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.at_work).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _until_done = permit;
            work()
        });
        done.await.map_err(|_| unusable(id, "the runtime broke over them"))
    }

    fn kept(&self, files: &Files) -> Kept {
        let mut voices = self.voices.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(voices.entry(files.clone()).or_default())
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
        let settings =
            Settings::read(&settings).map_err(|error| unusable(&format!("{name}.json"), error))?;
        let network = Network::load(network, &settings)
            .map_err(|error| unusable(&name.to_string(), error))?;
        Ok(Self { settings, network })
    }
}

/// A voice whose files do not serve.
pub fn unusable(id: &str, why: impl Display) -> Error {
    let text =
        format!("the files of the Piper voice '{id}' cannot be used: {why} (get them again)");
    Error::new(Kind::Protocol, text)
}
