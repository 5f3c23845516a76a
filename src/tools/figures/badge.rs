//! A tool's figures in one word.

use std::time::Duration;

use crate::domain::Tier;

/// Speed class by measured p50.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Badge {
    /// Under 50 ms.
    Lightning,
    /// Under 200 ms.
    Fast,
    /// Under one second.
    Standard,
    Slow,
}

impl Badge {
    pub fn of(p50: Duration) -> Self {
        let under = |millis| p50 < Duration::from_millis(millis);
        match () {
            () if under(50) => Self::Lightning,
            () if under(200) => Self::Fast,
            () if under(1_000) => Self::Standard,
            () => Self::Slow,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Lightning => "Lightning",
            Self::Fast => "Fast",
            Self::Standard => "Standard",
            Self::Slow => "Slow",
        }
    }
}

/// The turns a tool fits into, by its lowest tier.
pub const fn tag(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Fast) => "FAST compatible",
        Some(Tier::Standard) => "STANDARD and DEEP",
        Some(Tier::Deep) => "DEEP only",
        None => "withheld",
    }
}
