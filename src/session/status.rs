//! Status of a table. Omits words and stage notes.
//!
//! Entry types: [`Status`], [`State`].

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Serialize, Serializer};
use tokio::time::Instant;

use super::{SeatId, line::TierLine, statistics::Latencies};
use crate::{
    domain::{EngineKind, Tier},
    logic::music::MusicStatus,
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    #[default]
    Listening,
    Thinking(String),
    Speaking(String),
    /// Answers are stopped until resumed.
    Paused,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listening => f.write_str("listening"),
            Self::Thinking(npc) => write!(f, "{npc} is thinking"),
            Self::Speaking(npc) => write!(f, "{npc} is speaking"),
            Self::Paused => f.write_str("paused"),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub state: State,
    /// Way to end the X-card that keeps NPCs silent; `None` without one.
    pub card: Option<&'static str>,
    pub seats: Vec<SeatStatus>,
    pub scene: SceneStatus,
    pub music: MusicStatus,
    pub utterances: u64,
    /// Answered aloud, even if interrupted.
    pub answered: u64,
    /// Not answered and none wanted: no addressee, orders, stop words, dropped.
    pub silent: u64,
    /// Failed: recognition, model, voice, time or money.
    pub errors: u64,
    pub latency: Latencies,
    pub spent: f64,
    pub unwritten: Unwritten,
}

impl Status {
    pub fn of(&self, seat: SeatId) -> Option<&SeatStatus> {
        self.seats.iter().find(|it| it.id == seat)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unwritten {
    pub waiting: u64,
    /// Never written: too many, or refused by the store.
    pub lost: u64,
}

/// Normal number of waiting lines.
const USUAL: u64 = 16;

impl Unwritten {
    pub const fn is_troubled(self) -> bool {
        self.lost > 0 || self.waiting > USUAL
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines wait to be written, {} are lost", self.waiting, self.lost)
    }
}

/// Counters of lines that are not on disk. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Backlog(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    waiting: AtomicU64,
    lost: AtomicU64,
    lost_at: Mutex<Option<Instant>>,
}

impl Backlog {
    pub fn wait(&self, lines: u64) {
        self.0.waiting.fetch_add(lines, Ordering::Relaxed);
    }

    pub fn written(&self, lines: u64) {
        self.0.waiting.fetch_sub(lines, Ordering::Relaxed);
    }

    /// Counts lines that will never be stored. Open words count as none.
    pub fn lose(&self, lines: u64) {
        self.0.lost.fetch_add(lines, Ordering::Relaxed);
        *self.0.lost_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// True if [`Self::lose`] was called during this time until now.
    pub fn has_lost_within(&self, time: Duration) -> bool {
        let lost_at = *self.0.lost_at.lock().unwrap_or_else(PoisonError::into_inner);
        lost_at.is_some_and(|at| at.elapsed() <= time)
    }

    pub fn count(&self) -> Unwritten {
        Unwritten {
            waiting: self.0.waiting.load(Ordering::Relaxed),
            lost: self.0.lost.load(Ordering::Relaxed),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct SeatStatus {
    #[serde(skip)]
    pub id: SeatId,
    pub name: String,
    pub muted: bool,
    pub present: bool,
    /// Utterances it has not begun to answer.
    pub waiting: usize,
    /// Highest tier without an order of the game master.
    pub ceiling: Tier,
    /// The game master's tier and its remaining time; `None`: until removed.
    #[serde(rename = "override", serialize_with = "in_seconds")]
    pub override_: Option<(Tier, Option<Duration>)>,
    pub last_selection: Option<TierLine>,
    pub brain: String,
    pub tts: String,
    #[serde(serialize_with = "by_name")]
    pub engine: EngineKind,
    /// Why the cascade made its last answer; `None`: its own engine did.
    pub replaced: Option<String>,
    /// The voice that spoke last, if it is not the NPC's own ("flite slt").
    pub other_voice: Option<String>,
    /// Players pinned to it; "everyone" for those without a pin.
    pub pinned_by: Vec<String>,
    /// Remaining turns of its stage note; `Some(None)`: until replaced.
    pub note_turns_left: Option<Option<u32>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SceneStatus {
    pub location: Option<String>,
    pub time_of_day: Option<String>,
    pub present: Vec<String>,
}

fn by_name<S: Serializer>(engine: &EngineKind, to: S) -> Result<S::Ok, S::Error> {
    engine.name().serialize(to)
}

#[expect(clippy::ref_option, reason = "the shape serde asks for")]
fn in_seconds<S: Serializer>(
    held: &Option<(Tier, Option<Duration>)>,
    to: S,
) -> Result<S::Ok, S::Error> {
    held.map(|(tier, left)| (tier, left.map(|left| left.as_secs()))).serialize(to)
}
