//! A tool's figures in one word.
//!
//! Entry types: [`Badge`], [`tag`]. **Never**: measures.

use std::time::Duration;

use crate::domain::Tier;

/// Speed class of a tool, by its measured p50.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Badge {
    /// Under 50 ms.
    Lightning,
    /// Under 200 ms.
    Fast,
    /// Under one second.
    Standard,
    /// A second or longer.
    Slow,
}

impl Badge {
    /// The badge of a tool with this median.
    pub fn of(p50: Duration) -> Self {
        let under = |millis| p50 < Duration::from_millis(millis);
        match () {
            () if under(50) => Self::Lightning,
            () if under(200) => Self::Fast,
            () if under(1_000) => Self::Standard,
            () => Self::Slow,
        }
    }

    /// Displayed name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lightning => "Lightning",
            Self::Fast => "Fast",
            Self::Standard => "Standard",
            Self::Slow => "Slow",
        }
    }
}

/// The turns a tool fits into, by the lowest tier it is offered in.
pub const fn tag(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Fast) => "FAST compatible",
        Some(Tier::Standard) => "STANDARD and DEEP",
        Some(Tier::Deep) => "DEEP only",
        None => "withheld",
    }
}
