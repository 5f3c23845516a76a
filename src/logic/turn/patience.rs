//! Length of the silence that ends a turn.
//!
//! Entry types: [`EndOfTurn`], what a game master sets, and [`Judgement`], what a sound model says.
//! **Never**: reads words or a clock.

use std::time::Duration;

use super::reading::Reading;

/// Silence that ends what is surely finished: people who speak on after a whole sentence mostly do so
/// sooner, and the words of a pause are there by then.
const FINISHED: Duration = Duration::from_millis(360);
/// Silence by which a sound model has judged a pause; nothing shorter ends it before.
const JUDGED: Duration = Duration::from_millis(400);
/// From this on a sound model says that somebody has finished; below the other, that they have not.
const SOUNDS: (f32, f32) = (0.1, 0.5);

/// Setting for the silence that ends an utterance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// 300 ms, more where somebody trails off.
    Snappy,
    /// 500 ms, less or more where it is clear.
    #[default]
    Normal,
    /// 900 ms, less or more where it is clear.
    Patient,
}

impl Patience {
    /// Silence that ends an utterance of which nothing is known.
    pub const fn silence(self) -> Duration {
        match self {
            Self::Snappy => Duration::from_millis(300),
            Self::Normal => Duration::from_millis(500),
            Self::Patient => Duration::from_millis(900),
        }
    }

    /// Silence that ends an utterance whose speaker trails off.
    const fn trailing(self) -> Duration {
        match self {
            Self::Snappy => Duration::from_millis(900),
            Self::Normal | Self::Patient => Duration::from_millis(1_040),
        }
    }
}

/// Evidence that somebody has finished, besides silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detector {
    /// Nothing.
    Off,
    /// The words.
    #[default]
    Text,
    /// The sound.
    Model,
    /// Both, held against each other.
    Both,
}

impl Detector {
    /// Their names in files.
    pub const NAMES: &[&str] = &["off", "text", "model", "both"];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "off" => Self::Off,
            "text" => Self::Text,
            "model" => Self::Model,
            "both" => Self::Both,
            _ => return None,
        })
    }

    /// True if it wants a sound model.
    pub const fn listens(self) -> bool {
        matches!(self, Self::Model | Self::Both)
    }

    /// Weighs `said` against `sounded`. Where both count, each outweighs the other: words that trail off in a
    /// final tone, like whole words in a suspended one, say nothing.
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

/// Probability, going by the sound, that somebody has finished: 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement(pub f32);

impl Judgement {
    /// The judgement as a reading, in the terms of words.
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

/// Conditions for the end of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndOfTurn {
    /// Silence that ends an utterance.
    pub patience: Patience,
    /// Evidence that shortens and lengthens it.
    pub detector: Detector,
}

impl EndOfTurn {
    /// Reading of the words before a pause together with its sound, once that is known.
    pub(super) fn reading(self, said: Reading, sounded: Option<Reading>) -> Reading {
        self.detector.weigh(said, sounded.unwrap_or_default())
    }

    /// Silence that ends an utterance which comes to `reading`. Where a sound model listens, it is
    /// waited for unless it `judged`.
    pub(super) fn after(self, reading: Reading, judged: bool) -> Duration {
        let silence = match reading {
            Reading::Finished => FINISHED.min(self.patience.silence()),
            Reading::Open => self.patience.silence(),
            Reading::TrailsOff => self.patience.trailing(),
        };
        if self.detector.listens() && !judged { silence.max(JUDGED) } else { silence }
    }
}
