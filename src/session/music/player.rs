//! Player of a table's music, shared by the table and its face.
//!
//! Entry type: [`MusicPlayer`]. Its clock is the pulling of frames: unpulled music stands still.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{Notify, watch};

use super::{
    super::events::{TableEvent, WeakTableEvents},
    decoding::decode_ahead,
};
use crate::logic::music::{Mixer, MusicFrame, MusicOrder, MusicStatus, Samples, Track};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    Npc,
    Player,
    /// A notice is read out; each of several begins and ends.
    Notice,
}

#[derive(Clone)]
pub struct MusicPlayer(Arc<Shared>);

struct Shared {
    playing: Mutex<Playing>,
    /// True while a track sounds or is about to. Changed while `playing` is held.
    sounds: watch::Sender<bool>,
    /// Signals an order.
    ordered: Notify,
    events: WeakTableEvents,
}

struct Playing {
    mixer: Mixer,
    npc: bool,
    player: bool,
    notices: usize,
}

impl MusicPlayer {
    /// `events` report unplayable files to the game master.
    pub fn new(events: WeakTableEvents) -> Self {
        let playing = Playing { mixer: Mixer::new(), npc: false, player: false, notices: 0 };
        Self(Arc::new(Shared {
            playing: Mutex::new(playing),
            sounds: watch::Sender::new(false),
            ordered: Notify::new(),
            events,
        }))
    }

    /// Applies an order. A track begins once its cushion is decoded, after some milliseconds.
    pub fn order(&self, order: MusicOrder) {
        match order {
            MusicOrder::Play(track) => {
                let source = self.decoded(Arc::clone(&track), Duration::ZERO);
                let mut playing = self.playing();
                playing.mixer.play(track, source);
                self.tell(&playing);
            }
            MusicOrder::Stop => {
                let mut playing = self.playing();
                playing.mixer.stop();
                self.tell(&playing);
            }
            MusicOrder::Volume(percent) => self.playing().mixer.set_volume(percent),
        }
        self.0.ordered.notify_one();
    }

    /// Plays `track` from a point `from` its beginning; a loop goes round.
    pub fn play_from(&self, track: Arc<Track>, from: Duration) {
        let source = self.decoded(Arc::clone(&track), from);
        let mut playing = self.playing();
        playing.mixer.play_from(track, source, from);
        self.tell(&playing);
        self.0.ordered.notify_one();
    }

    /// Resolves once there was an order since the last call, by anyone. For the table. Cancel safe.
    pub async fn ordered(&self) {
        self.0.ordered.notified().await;
    }

    pub fn silence(&self) {
        let mut playing = self.playing();
        playing.mixer.silence();
        self.tell(&playing);
        self.0.ordered.notify_one();
    }

    /// Ducks the music, or restores it once no NPC, player or notice is audible.
    pub fn duck(&self, under: Under, is_audible: bool) {
        let mut playing = self.playing();
        match under {
            Under::Npc => playing.npc = is_audible,
            Under::Player => playing.player = is_audible,
            Under::Notice if is_audible => playing.notices += 1,
            Under::Notice => playing.notices = playing.notices.saturating_sub(1),
        }
        let is_ducked = playing.npc || playing.player || playing.notices > 0;
        playing.mixer.duck(is_ducked);
    }

    pub fn status(&self) -> MusicStatus {
        self.playing().mixer.status()
    }

    /// Titles of the tracks of [`Self::status`], with the time into each.
    pub fn positions(&self) -> Vec<(String, Duration)> {
        self.playing().mixer.positions()
    }

    /// Mixes the next 20 ms; false and silence if nothing sounds. Sound decoded too late leaves a
    /// gap and follows afterwards.
    pub fn next(&self, into: &mut MusicFrame) -> bool {
        let mut playing = self.playing();
        let sounds = playing.mixer.render(into);
        self.tell(&playing);
        sounds
    }

    /// Like [`Self::next`] for recordings faster than real time: waits for the decoder.
    pub fn next_whole(&self, into: &mut MusicFrame) -> bool {
        let mut playing = self.playing();
        playing.mixer.wait();
        let sounds = playing.mixer.render(into);
        self.tell(&playing);
        sounds
    }

    pub fn sounds(&self) -> watch::Receiver<bool> {
        self.0.sounds.subscribe()
    }

    fn decoded(&self, track: Arc<Track>, from: Duration) -> Box<dyn Samples> {
        let (events, title) = (self.0.events.clone(), track.title.clone());
        Box::new(decode_ahead(track, from, move |why| {
            tracing::warn!(track = title, error = why, "cannot play a track");
            if let Some(events) = events.upgrade() {
                events.tell(TableEvent::Private(format!("cannot play '{title}': {why}")));
            }
        }))
    }

    fn tell(&self, playing: &Playing) {
        let sounds = !playing.mixer.is_silent();
        self.0.sounds.send_if_modified(|told| std::mem::replace(told, sounds) != sounds);
    }

    fn playing(&self) -> MutexGuard<'_, Playing> {
        self.0.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
