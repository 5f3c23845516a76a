//! The player of a table's music, shared by the table and its face.
//!
//! Entry type: [`MusicPlayer`]. **Never**: has a clock: pulling frames is its clock, and frames that are
//! not pulled stand still.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::{
    super::events::{TableEvent, WeakTableEvents},
    decoding::decode_ahead,
};
use crate::logic::music::{Mixer, MusicFrame, MusicOrder, MusicStatus, Samples, Track};

/// Speech that music makes room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// An NPC is heard.
    Npc,
    /// A player speaks.
    Player,
    /// A notice is read out; of several at once each begins and ends.
    Notice,
}

/// The music of one table. Cloning it shares the music.
#[derive(Clone)]
pub struct MusicPlayer(Arc<Shared>);

struct Shared {
    playing: Mutex<Playing>,
    /// True while a track sounds or is about to. Changed while `playing` is held.
    sounds: watch::Sender<bool>,
    events: WeakTableEvents,
}

struct Playing {
    mixer: Mixer,
    npc: bool,
    player: bool,
    /// Notices that are being read out.
    notices: usize,
}

impl MusicPlayer {
    /// A silent player; `events` report files that cannot be played to the game master.
    pub fn new(events: WeakTableEvents) -> Self {
        let playing = Playing { mixer: Mixer::new(), npc: false, player: false, notices: 0 };
        Self(Arc::new(Shared {
            playing: Mutex::new(playing),
            sounds: watch::Sender::new(false),
            events,
        }))
    }

    /// Changes what sounds. A track begins once it is decoded, which takes some milliseconds.
    pub fn order(&self, order: MusicOrder) {
        match order {
            MusicOrder::Play(track) => {
                let source = self.decoded(Arc::clone(&track));
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
    }

    /// Drops everything at once: the next frame is silence.
    pub fn silence(&self) {
        let mut playing = self.playing();
        playing.mixer.silence();
        self.tell(&playing);
    }

    /// Makes room for speech, or swells back once no NPC, no player and no notice is heard.
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

    /// The music that sounds, and its volume.
    pub fn status(&self) -> MusicStatus {
        self.playing().mixer.status()
    }

    /// Makes the next 20 ms; false when nothing sounds, and `into` is silence. Sound decoded too late
    /// leaves silence, and follows later.
    pub fn next(&self, into: &mut MusicFrame) -> bool {
        let mut playing = self.playing();
        let sounds = playing.mixer.render(into);
        self.tell(&playing);
        sounds
    }

    /// Makes the next 20 ms of a recording, which is faster than its sound: waits for the decoder.
    pub fn next_whole(&self, into: &mut MusicFrame) -> bool {
        let mut playing = self.playing();
        playing.mixer.wait();
        let sounds = playing.mixer.render(into);
        self.tell(&playing);
        sounds
    }

    /// Tells whether anything sounds.
    pub fn sounds(&self) -> watch::Receiver<bool> {
        self.0.sounds.subscribe()
    }

    /// The sound of `track`.
    fn decoded(&self, track: Arc<Track>) -> Box<dyn Samples> {
        let (events, title) = (self.0.events.clone(), track.title.clone());
        Box::new(decode_ahead(track, move |why| {
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

    /// Held for the mixing of a frame.
    fn playing(&self) -> MutexGuard<'_, Playing> {
        self.0.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
