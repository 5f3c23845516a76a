//! The table's side of its music: music of scenes, ducking under players, and music that goes on.
//!
//! Entry type: [`TableMusic`].

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    super::continuation::{KeptMusic, KeptTrack},
    player::{MusicPlayer, Under},
};
use crate::{
    logic::{
        command::NpcNames,
        music::{
            Layer, MusicOrder, MusicStatus, MusicWish, Track, WishContext, wishes, wishes_within,
        },
    },
    tools::builtin::Music,
};

/// Silence after which a voice has ended; longer than pauses between words.
const VOICE_HOLDS: Duration = Duration::from_millis(300);
/// Step of "softer" and "louder", in percent.
const VOLUME_STEP: u8 = 20;
/// Lowest volume of "softer"; below it the music seems stopped.
const VOLUME_MIN: u8 = 10;
const VOLUME_MAX: u8 = 100;

pub struct TableMusic {
    player: MusicPlayer,
    tracks: Music,
    /// Last voice of a player; `None` once it has ended.
    received_at: Option<Instant>,
    /// It goes on from before the table was opened.
    pub goes_on: bool,
}

impl TableMusic {
    pub const fn new(player: MusicPlayer, tracks: Music) -> Self {
        Self { player, tracks, received_at: None, goes_on: false }
    }

    /// State to go on from. `unix`: Unix time in ms.
    pub fn kept(&self, unix: Option<i64>) -> KeptMusic {
        let kept = |(title, position): (String, Duration)| KeptTrack {
            title,
            ms: u64::try_from(position.as_millis()).unwrap_or(u64::MAX),
        };
        let playing: Vec<_> = self.player.positions().into_iter().map(kept).collect();
        let sounds = !playing.is_empty();
        KeptMusic { volume: self.status().volume, at: unix.filter(|_| sounds), playing }
    }

    /// Goes on with `kept` as if it had sounded all the time. `unix`: Unix time in ms.
    pub fn go_on(&mut self, kept: &KeptMusic, unix: Option<i64>) {
        self.goes_on = true;
        self.order(MusicOrder::Volume(kept.volume));
        let since = kept.at.zip(unix).map_or(0, |(at, now)| now.saturating_sub(at));
        let since = u64::try_from(since).unwrap_or(0);
        let library = self.tracks.library();
        for KeptTrack { title, ms } in &kept.playing {
            let from = Duration::from_millis(ms.saturating_add(since));
            match library.tracks.iter().find(|track| track.title == *title) {
                Some(track) => self.player.play_from(Arc::clone(track), from),
                None => tracing::warn!(track = title, "music that played is not there any more"),
            }
        }
    }

    /// Resolves once there was an order since the last call. Cancel safe.
    pub async fn ordered(&self) {
        self.player.ordered().await;
    }

    pub fn order(&self, order: MusicOrder) {
        self.player.order(order);
    }

    /// Plays music that fits `words`; empty: fades out. Returns a notice for the game master if
    /// nothing fits.
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

    pub fn wishes(&self, text: &str, names: &[NpcNames]) -> Vec<MusicWish> {
        let (library, playing) = (self.tracks.library(), self.playing());
        wishes(text, WishContext { names, library: &library, playing: &playing })
    }

    /// Music wishes among the parts of `text`, and the remaining text; `None` without any.
    pub fn wishes_within(
        &self,
        text: &str,
        names: &[NpcNames],
    ) -> Option<(Vec<MusicWish>, String)> {
        let (library, playing) = (self.tracks.library(), self.playing());
        wishes_within(text, WishContext { names, library: &library, playing: &playing })
    }

    fn playing(&self) -> Vec<String> {
        self.status().playing.into_iter().map(|it| it.1).collect()
    }

    pub fn grant(&self, wish: MusicWish) -> String {
        let volume = self.status().volume;
        match wish {
            MusicWish::Softer => self.turn(volume.saturating_sub(VOLUME_STEP)),
            MusicWish::Louder => self.turn(volume.saturating_add(VOLUME_STEP)),
            MusicWish::Next => match self.next_track() {
                Some(track) => self.begin(track),
                None => "no other music to play".to_owned(),
            },
            MusicWish::Play(track) => self.begin(track),
            MusicWish::Change(track) => {
                // A track replaces only what sounds in its own layer.
                if self.status().playing.iter().any(|(layer, _)| *layer != track.layer) {
                    self.order(MusicOrder::Stop);
                }
                self.begin(track)
            }
            MusicWish::Missing(title) => format!("no track is called '{title}' (see /music list)"),
            MusicWish::Stop => {
                self.order(MusicOrder::Stop);
                "the music fades out".to_owned()
            }
            MusicWish::Name => match self.titles() {
                Some(titles) => format!("playing {titles}"),
                None => "no music is playing".to_owned(),
            },
        }
    }

    pub fn titles(&self) -> Option<String> {
        let titles = self.playing();
        (!titles.is_empty()).then(|| titles.join(", "))
    }

    fn turn(&self, percent: u8) -> String {
        let percent = percent.clamp(VOLUME_MIN, VOLUME_MAX);
        self.order(MusicOrder::Volume(percent));
        format!("music plays at {percent} percent")
    }

    fn begin(&self, track: Arc<Track>) -> String {
        let told = format!("playing {}", track.title);
        self.order(MusicOrder::Play(track));
        told
    }

    /// The next track in the layer of the current one, in library order; music before ambience.
    fn next_track(&self) -> Option<Arc<Track>> {
        let playing = self.status().playing.into_iter().next();
        let (layer, title) = playing.unwrap_or((Layer::Music, String::new()));
        let library = self.tracks.library();
        let all: Vec<&Arc<Track>> =
            library.tracks.iter().filter(|track| track.layer == layer).collect();
        let now = all.iter().position(|track| track.title == title);
        let next = now.map_or(0, |at| (at + 1) % all.len());
        all.get(next).filter(|track| track.title != title).map(|track| Arc::clone(track))
    }

    pub fn silence(&self) {
        self.player.silence();
    }

    pub fn status(&self) -> MusicStatus {
        self.player.status()
    }

    /// Ducks the music under a player's voice.
    pub fn voice(&mut self, now: Instant) {
        if self.received_at.replace(now).is_none() {
            self.player.duck(Under::Player, true);
        }
    }

    pub fn tick(&mut self, now: Instant) {
        if self.wake_at().is_some_and(|over| over <= now) {
            self.received_at = None;
            self.player.duck(Under::Player, false);
        }
    }

    pub fn wake_at(&self) -> Option<Instant> {
        self.received_at.map(|at| at + VOICE_HOLDS)
    }
}
