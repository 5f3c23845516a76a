//! Names of the world's things, for finding them in what was said.
//!
//! Entry type: [`Known`]. **Never**: says what there is to somebody; who may know of a thing is
//! asked of the store.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Mutex, time::Instant};

use super::Memory;
use crate::{
    logic::words::{Phrases, Words},
    memory::{EntityFilter, Error, Viewer},
};

/// Names are read again after so long.
const FRESH: Duration = Duration::from_secs(30);
/// Things whose names are known.
const NAMES_MAX: usize = 10_000;
/// Things that one utterance names at most.
const NAMED_MAX: usize = 16;

/// The names, as they were last read.
#[derive(Default)]
pub struct Known(Mutex<Option<(Instant, Arc<Names>)>>);

/// Names and the ids of what they are names of.
#[derive(Default)]
pub struct Names(Phrases<String>);

impl Known {
    /// The names there are. Cancel safe.
    pub async fn get(&self, memory: &Memory) -> Result<Arc<Names>, Error> {
        let mut held = self.0.lock().await;
        if let Some((read, names)) = &*held
            && read.elapsed() < FRESH
        {
            return Ok(Arc::clone(names));
        }
        let filter = EntityFilter { limit: NAMES_MAX, ..EntityFilter::default() };
        let entities = memory.store.entities(&memory.campaign, filter, Viewer::Dm).await?;
        let mut names = Names::default();
        for entity in entities {
            for name in std::iter::once(&entity.name).chain(&entity.aliases) {
                names.0.insert(without_article(name), entity.id.clone());
            }
        }
        let names = Arc::new(names);
        *held = Some((Instant::now(), Arc::clone(&names)));
        Ok(names)
    }
}

impl Names {
    /// The thing of this name.
    pub fn id_of(&self, name: &str) -> Option<&str> {
        let words = Words::of(without_article(name));
        let whole = self.0.at(&words, 0).find(|found| found.end == words.len());
        whole.map(|found| found.value.as_str())
    }

    /// The things that `words` name, each once, in their order.
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

/// "The Watch" is also just the watch.
fn without_article(name: &str) -> &str {
    let cut = name.get(..4).filter(|start| start.eq_ignore_ascii_case("the "));
    cut.map_or(name, |start| &name[start.len()..])
}
