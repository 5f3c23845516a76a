//! Names of the world's things, found in utterances.
//!
//! Entry type: [`KnownNames`]. The store decides who may know of them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use tokio::time::{Instant, timeout};

use super::memory::Memory;
use crate::{
    logic::{
        spoken_names::spoken_as,
        words::{Phrases, Words},
    },
    memory::{EntityFilter, Error, Viewer},
};

const FRESH: Duration = Duration::from_secs(30);
/// Longest wait of a turn for a reading; after it, the turn uses the previous names.
const PATIENCE: Duration = Duration::from_millis(5);
/// Most things with known names.
const NAMES_MAX: usize = 10_000;
/// Most things named by one utterance.
const NAMED_MAX: usize = 16;

#[derive(Clone, Default)]
pub struct KnownNames(Arc<Mutex<NameIndex>>);

/// The names last read, and a reading in progress.
#[derive(Default)]
struct NameIndex {
    names: Option<(Instant, Arc<Names>)>,
    reading: Option<Reading>,
}

type Reading = Shared<BoxFuture<'static, Result<Arc<Names>, Error>>>;

#[derive(Default)]
pub struct Names(Phrases<String>);

impl KnownNames {
    /// All names. Cancel safe: a reading continues for the next caller.
    pub async fn get(&self, memory: &Memory) -> Result<Arc<Names>, Error> {
        self.get_by(|| Names::read(memory.clone())).await
    }

    pub fn forget(&self) {
        self.held().names = None;
    }

    async fn get_by<F>(&self, read: impl FnOnce() -> F) -> Result<Arc<Names>, Error>
    where
        F: Future<Output = Result<Names, Error>> + Send + 'static,
    {
        let (old, reading) = {
            let mut held = self.held();
            let old = match &held.names {
                Some((read, names)) if read.elapsed() < FRESH => return Ok(Arc::clone(names)),
                old => old.as_ref().map(|(_, names)| Arc::clone(names)),
            };
            let reading = held.reading.get_or_insert_with(|| self.clone().reading(read()));
            (old, reading.clone())
        };
        match old {
            None => reading.await,
            Some(old) => timeout(PATIENCE, reading).await.unwrap_or(Ok(old)),
        }
    }

    /// Reads the names in a task of its own, with or without a caller.
    fn reading(self, read: impl Future<Output = Result<Names, Error>> + Send + 'static) -> Reading {
        let began = Instant::now();
        let task = tokio::spawn(async move {
            let read = read.await.map(Arc::new);
            let mut held = self.held();
            held.reading = None;
            if let Ok(names) = &read {
                held.names = Some((began, Arc::clone(names)));
            }
            read
        });
        let ended =
            task.map(|ended| ended.unwrap_or_else(|error| Err(Error::Failed(error.to_string()))));
        ended.boxed().shared()
    }

    fn held(&self) -> MutexGuard<'_, NameIndex> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    async fn read(memory: Memory) -> Result<Self, Error> {
        let filter = EntityFilter { limit: NAMES_MAX, ..EntityFilter::default() };
        let entities = memory.store.entities(&memory.scope, filter, Viewer::Dm).await?;
        let mut names = Self::default();
        for entity in entities {
            for name in std::iter::once(&entity.name).chain(&entity.aliases) {
                names.insert(name, &entity.id);
            }
        }
        Ok(names)
    }

    fn insert(&mut self, name: &str, id: &str) {
        for said in spoken_as(name) {
            self.0.insert(&said, id.to_owned());
        }
    }

    pub fn id_of(&self, name: &str) -> Option<&str> {
        spoken_as(name).iter().find_map(|said| {
            let words = Words::of(said);
            let whole = self.0.at(&words, 0).find(|found| found.end == words.len());
            whole.map(|found| found.value.as_str())
        })
    }

    /// Things that `words` name, without repetition, in order.
    pub fn named_in(&self, words: &Words) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for found in (0..words.len()).flat_map(|start| self.0.at(words, start)) {
            if ids.len() < NAMED_MAX && !ids.contains(&found.value.as_str()) {
                ids.push(found.value);
            }
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::oneshot, task::yield_now, time::advance};

    use super::*;

    fn named(name: &str) -> Names {
        let mut names = Names::default();
        names.insert(name, "id");
        names
    }

    #[test]
    fn common_words_are_names_only_with_article() {
        let is_named = |name: &str, text: &str| !named(name).named_in(&Words::of(text)).is_empty();
        assert!(is_named("the keep", "how old is the keep?") && !is_named("the keep", "keep it"));
        assert!(is_named("The Rusty Tankard", "at our Rusty Tankard"));
        assert!(is_named("die Burg", "wir gehen zur Burg") && !is_named("die Burg", "eine Burg"));
        for name in ["the keep", "The Rusty Tankard", "die Burg", "Mira"] {
            assert!(named(name).id_of(name).is_some(), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_name_reads_serve_the_next_lookup() {
        let known = KnownNames::default();
        let knows = async |read: oneshot::Receiver<Names>, name: &str| {
            let read = || async { read.await.map_err(|error| Error::Failed(error.to_string())) };
            let names = known.get_by(read).await.map_err(|error| error.to_string())?;
            Ok::<_, String>(names.id_of(name).is_some())
        };
        let (first, read) = oneshot::channel();
        // The waiting ended before the reading.
        assert!(timeout(PATIENCE, knows(read, "Mira")).await.is_err());
        assert!(first.send(named("Mira")).is_ok());
        yield_now().await;
        let none = || oneshot::channel().1;
        assert_eq!(knows(none(), "Mira").await, Ok(true), "nothing is read again");
        advance(FRESH).await;
        let (second, read) = oneshot::channel();
        assert_eq!(knows(read, "Mira").await, Ok(true), "the old ones");
        assert!(second.send(named("Vesper")).is_ok());
        yield_now().await;
        assert_eq!(knows(none(), "Vesper").await, Ok(true));
        advance(FRESH).await;
        assert!(knows(none(), "Vesper").await.is_err(), "a failure is reported");
    }
}
