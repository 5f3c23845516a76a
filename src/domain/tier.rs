//! Latency tiers: tool time a turn may spend.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// Ordered from fast to slow.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Up to 500 ms of tool time: rapid back-and-forth.
    #[default]
    Fast,
    /// Up to 1,500 ms: a look-up.
    Standard,
    /// Up to 4,000 ms: the table expects to wait.
    Deep,
}

impl Tier {
    /// Fastest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Standard, Self::Deep];

    /// Tool time of one turn: the sum of the rounds' wall times.
    pub const fn ceiling(self) -> Duration {
        match self {
            Self::Fast => Duration::from_millis(500),
            Self::Standard => Duration::from_millis(1_500),
            Self::Deep => Duration::from_millis(4_000),
        }
    }

    /// The fastest tier whose ceiling is above `duration`; `None`: none is.
    pub fn lasting(duration: Duration) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| duration <= tier.ceiling())
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Deep => "deep",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| format!("unknown tier '{text}' (expected fast, standard or deep)"))
    }
}
