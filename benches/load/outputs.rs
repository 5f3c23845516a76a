//! Outputs of a table that count what comes late: of speech, and of music beside it.
//!
//! Entry types: [`Speech`], and [`take_music`] with [`Music`].

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use glyphoxa::measure::{Frame, Layer, MusicPlayer, Track, TurnId, VoiceOut};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::support::{
    figures::{ms, rounded},
    stand_ins::Stopwatch,
    table::FRAME,
};

/// Samples of a frame of 48 kHz.
const SAMPLES: usize = 960;

/// Frames of speech at all tables.
#[derive(Default)]
pub struct Spoken {
    frames: AtomicU64,
    /// Those that came a frame or more after they were due.
    late: AtomicU64,
}

impl Spoken {
    pub fn add_to(&self, line: &mut Value) {
        line["speech_frames"] = self.frames.load(Ordering::Relaxed).into();
        line["speech_late"] = self.late.load(Ordering::Relaxed).into();
    }
}

/// Output of one table's speech.
pub struct Speech {
    stopwatch: Stopwatch,
    /// Time of the frame before in the same turn.
    before: Option<Instant>,
    spoken: Arc<Spoken>,
}

impl Speech {
    pub fn new(stopwatch: Stopwatch, spoken: Arc<Spoken>) -> Self {
        Self { stopwatch, before: None, spoken }
    }
}

impl VoiceOut for Speech {
    fn begin(&mut self, _turn: TurnId) {
        self.before = None;
    }

    fn play(&mut self, npc: &str, frame: Frame) {
        let now = Instant::now();
        let is_late = self.before.replace(now).is_some_and(|before| now - before >= FRAME * 2);
        self.spoken.frames.fetch_add(1, Ordering::Relaxed);
        self.spoken.late.fetch_add(u64::from(is_late), Ordering::Relaxed);
        self.stopwatch.play(npc, frame);
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.stopwatch.ramp(db, over);
    }

    fn stop(&mut self) -> usize {
        self.stopwatch.stop()
    }
}

/// A shipped loop, for ever.
pub fn track() -> Arc<Track> {
    Arc::new(Track {
        file: Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/music/drums.opus"),
        title: "Drums".to_owned(),
        moods: Vec::new(),
        layer: Layer::Music,
        is_looped: true,
        gain_db: 0.0,
        credits: None,
    })
}

/// Music that one output took, or several.
#[derive(Clone, Copy, Default)]
pub struct Music {
    outputs: u64,
    frames: u64,
    /// Frames that were taken 20 ms or more after they were due.
    late: u64,
    latest: Duration,
    /// Sound that was not decoded in time.
    missing: Duration,
}

impl Music {
    pub fn add(&mut self, other: Self) {
        self.outputs += other.outputs;
        self.frames += other.frames;
        self.late += other.late;
        self.latest = self.latest.max(other.latest);
        self.missing += other.missing;
    }

    pub fn add_to(&self, line: &mut Value) {
        line["music"] = self.outputs.into();
        line["music_frames"] = self.frames.into();
        line["music_late"] = self.late.into();
        line["music_latest_ms"] = rounded(ms(self.latest));
        line["music_missing_ms"] = rounded(ms(self.missing));
    }
}

/// Takes the music of a table, a frame every 20 ms, until `until`.
pub async fn take_music(player: MusicPlayer, until: Instant) -> Music {
    let (mut frame, mut taken) = ([0; SAMPLES], Music { outputs: 1, ..Music::default() });
    let (mut due, mut sound) = (Instant::now(), Duration::ZERO);
    while due < until {
        sleep_until(due).await;
        let late = due.elapsed();
        taken.late += u64::from(late >= FRAME);
        taken.latest = taken.latest.max(late);
        // The player tells no gap; its position lacks it.
        player.next(&mut frame);
        taken.frames += 1;
        sound += FRAME;
        due += FRAME;
    }
    let positions = player.positions();
    let played = positions.first().map_or(Duration::ZERO, |(_, position)| *position);
    taken.missing = sound.saturating_sub(played);
    taken
}
