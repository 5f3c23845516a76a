//! Length of the silence that ends a turn.
//!
//! Entry types: [`EndOfTurn`], the game master's setting, and [`Judgement`], a sound model's.

use std::time::Duration;

use super::reading::Reading;

/// Silence after finished words: speakers who continue mostly do so sooner, and the words are
/// known.
const FINISHED: Duration = Duration::from_millis(360);
/// Silence by which a sound model has judged the pause; until then it delays the end.
const JUDGED: Duration = Duration::from_millis(400);
/// Below the first, a sound model hears an unfinished utterance; from the second on, a finished
/// one.
const SOUNDS: (f32, f32) = (0.1, 0.5);

/// Silence that ends an utterance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// 300 ms, more for a speaker who trails off.
    Snappy,
    /// 500 ms, less or more where it is clear.
    #[default]
    Normal,
    /// 900 ms, less or more where it is clear.
    Patient,
}

impl Patience {
    pub const fn silence(self) -> Duration {
        match self {
            Self::Snappy => Duration::from_millis(300),
            Self::Normal => Duration::from_millis(500),
            Self::Patient => Duration::from_millis(900),
        }
    }

    const fn trailing(self) -> Duration {
        match self {
            Self::Snappy => Duration::from_millis(900),
            Self::Normal | Self::Patient => Duration::from_millis(1_040),
        }
    }
}

/// Evidence of a finished utterance, besides silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detector {
    Off,
    #[default]
    Text,
    Model,
    /// Words and sound, weighed against each other.
    Both,
}

impl Detector {
    /// Names in files.
    pub const NAMES: &[&str] = &["off", "text", "model", "both"];

    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "off" => Self::Off,
            "text" => Self::Text,
            "model" => Self::Model,
            "both" => Self::Both,
            _ => return None,
        })
    }

    pub const fn listens(self) -> bool {
        matches!(self, Self::Model | Self::Both)
    }

    /// Weighs words against sound. With both, contradictory readings cancel out.
    const fn weigh(self, said: Reading, sounded: Reading) -> Reading {
        match self {
            Self::Off => Reading::Open,
            Self::Text => said,
            Self::Model => sounded,
            Self::Both => match (said, sounded) {
                (Reading::Finished, Reading::TrailsOff)
                | (Reading::TrailsOff, Reading::Finished) => Reading::Open,
                (Reading::Open, sounded) => sounded,
                (said, _) => said,
            },
        }
    }
}

/// Probability, by the sound, that the speaker has finished: 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement(pub f32);

impl Judgement {
    pub fn reading(self) -> Reading {
        let (goes_on, finished) = SOUNDS;
        if self.0 >= finished {
            Reading::Finished
        } else if self.0 < goes_on {
            Reading::TrailsOff
        } else {
            Reading::Open
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndOfTurn {
    pub patience: Patience,
    pub detector: Detector,
}

impl EndOfTurn {
    pub(super) fn reading(self, said: Reading, sounded: Option<Reading>) -> Reading {
        self.detector.weigh(said, sounded.unwrap_or_default())
    }

    /// A listening sound model is waited for unless it has `judged`.
    pub(super) fn after(self, reading: Reading, judged: bool) -> Duration {
        let silence = match reading {
            Reading::Finished => FINISHED.min(self.patience.silence()),
            Reading::Open => self.patience.silence(),
            Reading::TrailsOff => self.patience.trailing(),
        };
        if self.detector.listens() && !judged { silence.max(JUDGED) } else { silence }
    }
}
