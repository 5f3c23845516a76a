//! Music of tables: the configured library, measured in the background. Entry type: [`Levelling`].

use std::{path::PathBuf, sync::Arc};

use rand::rngs::StdRng;
use tokio::{
    sync::Mutex,
    task::{JoinHandle, spawn_blocking},
};
use tokio_util::sync::CancellationToken;

use crate::{
    campaign::level_music,
    config::Config,
    logic::music::{Library, shipped_sound},
    tools::builtin::Music,
};

/// File of measured loudness in `data_dir`.
const KEPT: &str = "loudness.json";

/// Tracks of tables, and their measuring.
pub struct Levelling {
    /// Levelled as far as measured.
    pub music: Music,
    kept: PathBuf,
    work: Mutex<Option<Work>>,
}

/// A library being measured.
struct Work {
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Levelling {
    /// The unmeasured music of `config`; `rng` chooses among equally suitable tracks.
    pub fn new(config: &Config, rng: StdRng) -> Self {
        let music = Music::new(Arc::clone(&config.music), rng);
        Self { music, kept: config.data_dir.join(KEPT), work: Mutex::default() }
    }

    /// Switches to `library` and measures its files in the background, cancelling an earlier
    /// measurement. If dropped early, the earlier library may stay.
    pub async fn begin(&self, library: Arc<Library>) {
        let mut work = self.work.lock().await;
        end(work.take()).await;
        self.music.set_library((*library).clone());
        if library.tracks.iter().all(|track| shipped_sound(&track.file).is_some()) {
            return;
        }
        let stop = CancellationToken::new();
        let (music, kept, until) = (self.music.clone(), self.kept.clone(), stop.clone());
        let task = spawn_blocking(move || {
            level_music(&library, &kept, &until, &mut |levelled| music.set_library(levelled));
        });
        *work = Some(Work { task, stop });
    }

    /// Stops measuring. Cancel safe.
    pub async fn end(&self) {
        end(self.work.lock().await.take()).await;
    }
}

/// Waits for the task, which stops within one piece of sound.
async fn end(work: Option<Work>) {
    if let Some(Work { task, stop }) = work {
        stop.cancel();
        // A panic was logged.
        let _ = task.await;
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::config;

    #[tokio::test]
    async fn another_library_replaces_one_that_is_measured() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.mp3", "b.mp3"] {
            std::fs::create_dir_all(dir.path().join("music")).unwrap();
            std::fs::write(dir.path().join("music").join(name), "no sound").unwrap();
        }
        let file = dir.path().join("glyphoxa.yaml");
        std::fs::write(&file, "npcs: [{ name: Bart, lines: [{ say: hi }] }]\n").unwrap();
        let config = config::load(Some(&file), &|_| None, &[]).unwrap();
        let levelling = Levelling::new(&config, StdRng::seed_from_u64(1));
        assert_eq!(levelling.music.library(), config.music);
        levelling.begin(Arc::clone(&config.music)).await;
        levelling.begin(Arc::new(Library::shipped())).await;
        assert_eq!(*levelling.music.library(), Library::shipped());
        levelling.end().await;
    }
}
