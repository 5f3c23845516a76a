//! Status of a table, as it is shown.
//!
//! Entry types: [`Status`], [`State`]. **Never**: holds what was said, or a stage note.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Serialize, Serializer};

use super::{line::TierLine, seat_id::SeatId, statistics::Latencies};
use crate::{
    domain::{EngineKind, Tier},
    logic::music::MusicStatus,
};

/// Activity of a table at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody is being answered.
    #[default]
    Listening,
    /// This NPC has been asked and is not heard yet.
    Thinking(String),
    /// This NPC is heard.
    Speaking(String),
    /// Nobody is answered until resumed.
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

/// Status of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The table's state.
    pub state: State,
    /// An X-card keeps NPCs silent, and the way to end it.
    pub card: Option<&'static str>,
    /// The NPCs, in the order of the cast.
    pub seats: Vec<SeatStatus>,
    /// Place and time of the game, and the NPCs who are there.
    pub scene: SceneStatus,
    /// The music that sounds, and its volume.
    pub music: MusicStatus,
    /// Things said, understood or not.
    pub utterances: u64,
    /// Of these, answered aloud, be it until somebody interrupted.
    pub answered: u64,
    /// Of these, with no answer and none wanted: to nobody, orders, stop words, dropped.
    pub silent: u64,
    /// Of these, failed: hearing, model, voice, time or money.
    pub errors: u64,
    /// Latencies of the answers.
    pub latency: Latencies,
    /// Money spent in the session.
    pub spent: f64,
    /// Lines that are not on the disk.
    pub unwritten: Unwritten,
}

impl Status {
    /// Status of the NPC of a seat, if one sits there.
    pub fn of(&self, seat: SeatId) -> Option<&SeatStatus> {
        self.seats.iter().find(|it| it.id == seat)
    }
}

/// Lines that are not on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unwritten {
    /// Still to be written.
    pub waiting: u64,
    /// Never written: there were too many, or the store refused them.
    pub lost: u64,
}

/// So many wait at any time.
const USUAL: u64 = 16;

impl Unwritten {
    /// True if somebody should know.
    pub const fn is_troubled(self) -> bool {
        self.lost > 0 || self.waiting > USUAL
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines wait to be written, {} are lost", self.waiting, self.lost)
    }
}

/// Counts lines that are not on the disk. Cloning it shares the counts.
#[derive(Clone, Debug, Default)]
pub struct Backlog(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    waiting: AtomicU64,
    lost: AtomicU64,
}

impl Backlog {
    /// So many more wait.
    pub fn wait(&self, lines: u64) {
        self.0.waiting.fetch_add(lines, Ordering::Relaxed);
    }

    /// So many wait no more.
    pub fn written(&self, lines: u64) {
        self.0.waiting.fetch_sub(lines, Ordering::Relaxed);
    }

    /// So many are lost.
    pub fn lose(&self, lines: u64) {
        self.0.lost.fetch_add(lines, Ordering::Relaxed);
    }

    /// Numbers of waiting and of lost lines.
    pub fn count(&self) -> Unwritten {
        Unwritten {
            waiting: self.0.waiting.load(Ordering::Relaxed),
            lost: self.0.lost.load(Ordering::Relaxed),
        }
    }
}

/// Status of one NPC.
#[derive(Clone, Debug, Serialize)]
pub struct SeatStatus {
    /// Id of the seat.
    #[serde(skip)]
    pub id: SeatId,
    /// Name of the NPC.
    pub name: String,
    /// Silenced by the game master.
    pub muted: bool,
    /// In the scene.
    pub present: bool,
    /// Utterances it has not begun to answer.
    pub waiting: usize,
    /// Highest tier it reaches by itself.
    pub ceiling: Tier,
    /// The game master's tier, and how long yet; no time: until taken back.
    #[serde(rename = "override", serialize_with = "in_seconds")]
    pub override_: Option<(Tier, Option<Duration>)>,
    /// The tier of its last turn and why.
    pub last_selection: Option<TierLine>,
    /// Name of its chat model.
    pub brain: String,
    /// Name of its voice service.
    pub tts: String,
    /// The engine of its speech.
    #[serde(serialize_with = "by_name")]
    pub engine: EngineKind,
    /// Reason the cascade made its last answer; `None`: its own engine did.
    pub replaced: Option<String>,
    /// Players pinned to it; "everyone" for those without a pin of their own.
    pub pinned_by: Vec<String>,
    /// It has a stage note, for so many turns; no number: until replaced.
    pub note_turns_left: Option<Option<u32>>,
}

/// Place and time of the game, and the NPCs who are there.
#[derive(Clone, Debug, Serialize)]
pub struct SceneStatus {
    /// The place, where one is set.
    pub location: Option<String>,
    /// Time of day, where one is set.
    pub time_of_day: Option<String>,
    /// Names of the NPCs who are there.
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
