//! `music-ambiance`: plays a track that fits free words, and stops it. The table plays; this only
//! chooses.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::describe::{Millis, declared, input, text};
use crate::{
    domain::{SessionId, Tier},
    logic::music::{Layer, Library, MusicOrder, Track},
    tools::{CallContext, CallError, CallErrorKind, CallOutput, Declared, Definition, SideEffects},
};

/// Most moods that an error lists.
const MOODS_SHOWN: usize = 30;
/// Most sessions whose last track is known.
const SESSIONS_MAX: usize = 1_000;

/// The tracks that tools play. Cloning shares it.
#[derive(Clone)]
pub struct Music(Arc<Parts>);

struct Parts {
    library: ArcSwap<Library>,
    chance: Mutex<Chance>,
}

/// Random choice among equally fitting tracks.
struct Chance {
    rng: StdRng,
    /// Last title of each session.
    last: HashMap<SessionId, String>,
}

impl Music {
    /// The tracks of `library`; `rng` picks among equal matches.
    pub fn new(library: Arc<Library>, rng: StdRng) -> Self {
        let chance = Mutex::new(Chance { rng, last: HashMap::new() });
        Self(Arc::new(Parts { library: ArcSwap::new(library), chance }))
    }

    /// The current tracks.
    pub fn library(&self) -> Arc<Library> {
        self.0.library.load_full()
    }

    /// Replaces the tracks.
    pub fn set_library(&self, library: Library) {
        self.0.library.store(Arc::new(library));
    }

    /// The track that fits `words` best: an effect only if nothing else fits, and not the
    /// `session`'s last one if another fits; `None`: no match.
    pub fn choose(&self, session: &SessionId, words: &str) -> Option<Arc<Track>> {
        let library = self.library();
        let mut chance = self.chance();
        let Chance { rng, last } = &mut *chance;
        let before = last.get(session).map(String::as_str);
        let lasting = library.only(|layer| layer != Layer::Effect);
        let track = lasting.choose(words, before, rng);
        let track = track.or_else(|| library.choose(words, before, rng))?;
        if last.len() >= SESSIONS_MAX && !last.contains_key(session) {
            last.clear();
        }
        last.insert(session.clone(), track.title.clone());
        Some(track)
    }

    fn chance(&self) -> MutexGuard<'_, Chance> {
        self.0.chance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn tools(music: Music) -> Vec<Definition> {
    let declared = Declared {
        effects: Some(SideEffects::Reversible),
        ..declared("music", Millis { estimated: 50, max: 200 }, Tier::Fast)
    };
    let play = Definition {
        name: "play_track".to_owned(),
        description:
            "Plays music or background sound for everyone at the table, such as a tavern, \
                      rain or battle drums, until something else plays. Use it when music is asked \
                      for."
                .to_owned(),
        input: input(
            json!({"mood": {
                "type": "string",
                "description": "a mood, place or title in a few words: tavern, battle, rain at night",
            }}),
            &["mood"],
        ),
        output: None,
        declared: declared.clone(),
        handler: Arc::new(move |context: &CallContext, arguments: &Map<String, Value>| {
            play(&music, context, text(arguments, "mood").unwrap_or_default())
        }),
    };
    let stop = Definition {
        name: "stop_music".to_owned(),
        description: "Fades out all music and background sound at the table.".to_owned(),
        input: input(json!({}), &[]),
        output: None,
        declared: Declared { idempotent: Some(true), ..declared },
        handler: Arc::new(|context: &CallContext, _: &Map<String, Value>| {
            order(context, MusicOrder::Stop)?;
            Ok(CallOutput::json(json!({"stopped": true})))
        }),
    };
    vec![play, stop]
}

fn play(music: &Music, context: &CallContext, words: &str) -> Result<CallOutput, CallError> {
    let track = music.choose(&context.session, words).ok_or_else(|| {
        let library = music.library();
        let moods: Vec<&str> = library.moods().into_iter().take(MOODS_SHOWN).collect();
        let text = format!("no music fits '{words}' (use one of: {})", moods.join(", "));
        CallError::new(CallErrorKind::Tool, text)
    })?;
    order(context, MusicOrder::Play(Arc::clone(&track)))?;
    let mood = track.moods.first().unwrap_or(&track.title);
    Ok(CallOutput::json(json!({"playing": track.title, "mood": mood, "layer": track.layer.name()})))
}

/// Fails with the reason at a table without music.
fn order(context: &CallContext, order: MusicOrder) -> Result<(), CallError> {
    context
        .effects
        .music(order)
        .map_err(|reason| CallError::new(CallErrorKind::Tool, reason.to_owned()))
}

#[cfg(test)]
mod tests;
