//! Music as tables play it: the configured library, levelled beside the start.
//!
//! Entry type: [`Levelling`]. **Never**: measures in a runtime's thread.

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

/// File of the measured loudness, in `data_dir`.
const KEPT: &str = "loudness.json";

/// The tracks that tables play, and their measuring.
pub struct Levelling {
    /// Tracks, levelled as far as they are measured.
    pub music: Music,
    kept: PathBuf,
    work: Mutex<Option<Work>>,
}

/// A library that is being measured.
struct Work {
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Levelling {
    /// The music of `config`, not measured yet; `rng` chooses among tracks that fit alike.
    pub fn new(config: &Config, rng: StdRng) -> Self {
        let music = Music::new(Arc::clone(&config.music), rng);
        Self { music, kept: config.data_dir.join(KEPT), work: Mutex::default() }
    }

    /// Plays `library` from now on and measures its files in the background, those of an earlier one no
    /// more. Cancelled before it ends, it may leave the earlier one.
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

    /// Ends the measuring. Cancel safe.
    pub async fn end(&self) {
        end(self.work.lock().await.take()).await;
    }
}

/// Waits for what stops within a piece of sound.
async fn end(work: Option<Work>) {
    if let Some(Work { task, stop }) = work {
        stop.cancel();
        // A panic in it has been shown.
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
