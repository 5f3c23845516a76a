//! The table's side of its music: what scenes ask for, and players' voices.
//!
//! Entry type: [`TableMusic`].

use std::time::Duration;

use tokio::time::Instant;

use super::player::{MusicPlayer, Under};
use crate::{
    logic::music::{MusicOrder, MusicStatus},
    tools::builtin::Music,
};

/// A voice has ended after so long without it: pauses between words are shorter.
const VOICE_HOLDS: Duration = Duration::from_millis(300);

/// A table's music and the tracks that it may play.
pub struct TableMusic {
    player: MusicPlayer,
    tracks: Music,
    /// Last time a player's voice was heard; `None` once it has ended.
    heard_at: Option<Instant>,
}

impl TableMusic {
    /// Music that `player` plays, of these tracks.
    pub const fn new(player: MusicPlayer, tracks: Music) -> Self {
        Self { player, tracks, heard_at: None }
    }

    /// Changes what sounds.
    pub fn order(&self, order: MusicOrder) {
        self.player.order(order);
    }

    /// Plays music that fits `words`; no words: fades out. Returns a notice for the game master if nothing
    /// fits.
    pub fn set(&self, words: &str) -> Option<String> {
        if words.trim().is_empty() {
            self.order(MusicOrder::Stop);
            return None;
        }
        match self.tracks.library().find(words).into_iter().next() {
            Some(track) => {
                self.order(MusicOrder::Play(track));
                None
            }
            None => Some(format!("no music matches '{words}' (see /music list)")),
        }
    }

    /// Drops everything at once.
    pub fn silence(&self) {
        self.player.silence();
    }

    /// The music that sounds, and its volume.
    pub fn status(&self) -> MusicStatus {
        self.player.status()
    }

    /// A player's voice is heard.
    pub fn voice(&mut self, now: Instant) {
        if self.heard_at.replace(now).is_none() {
            self.player.duck(Under::Player, true);
        }
    }

    /// Swells back when no player has been heard for a while.
    pub fn tick(&mut self, now: Instant) {
        if self.wake_at().is_some_and(|over| over <= now) {
            self.heard_at = None;
            self.player.duck(Under::Player, false);
        }
    }

    /// Next time at which [`Self::tick`] has something to do.
    pub fn wake_at(&self) -> Option<Instant> {
        self.heard_at.map(|at| at + VOICE_HOLDS)
    }
}
