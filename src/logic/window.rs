//! Fill level of a chat model's window.
//!
//! Entry type: [`Gauge`]. Estimates tokens from UTF-8 bytes, on the high side, and corrects the
//! ratio by the service's counts.

/// Hundredths of a token per byte before the first count: three letters or one CJK character.
const PER_BYTE: u64 = 33;
/// Fewest bytes of a request whose count is used.
const FEWEST: u64 = 16;
/// Highest ratio plausible for text.
const MOST: u64 = 100;
/// Smallest token count that is used.
const A_COUNT: u64 = 1_000;

/// Percentage of the window above which older messages are summed up.
const FILLING: u64 = 75;
/// Percentage at which it is full; the rest allows for estimation error.
const FULL: u64 = 95;

/// A model's window size, and its tokens per byte.
#[derive(Clone, Debug)]
pub struct Gauge {
    /// Tokens of request and answer together.
    window: u64,
    answer: u64,
    per_byte: u64,
}

impl Gauge {
    pub fn new(window: u32, answer: u32) -> Self {
        Self { window: window.into(), answer: answer.into(), per_byte: PER_BYTE }
    }

    /// Corrects the ratio by a service's count; false if the service read only part of the request.
    #[must_use]
    pub fn counted(&mut self, bytes: u64, tokens: u64) -> bool {
        let per_byte = tokens.saturating_mul(100).checked_div(bytes).unwrap_or_default();
        if per_byte >= FEWEST {
            self.per_byte = per_byte.saturating_add(1).min(MOST);
        }
        per_byte >= FEWEST || tokens < A_COUNT
    }

    pub const fn tokens(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.per_byte) / 100
    }

    pub fn bytes(&self, percent: u64) -> u64 {
        self.window.saturating_mul(percent) / self.per_byte.max(1)
    }

    /// Percentage of the window filled by a request of `bytes` and its answer.
    pub fn percent(&self, bytes: u64) -> u64 {
        self.tokens(bytes).saturating_add(self.answer).saturating_mul(100) / self.window.max(1)
    }

    /// True if a request of `bytes` should be summed up.
    pub fn is_filling(&self, bytes: u64) -> bool {
        self.percent(bytes) > FILLING
    }

    pub fn is_full(&self, bytes: u64) -> bool {
        self.percent(bytes) > FULL
    }

    pub fn summary(&self) -> u32 {
        u32::try_from(self.window / 12).unwrap_or(u32::MAX).clamp(64, 800)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guess_is_put_right_by_what_was_counted() {
        let mut gauge = Gauge::new(1_000, 100);
        assert_eq!((gauge.tokens(300), gauge.tokens("東京".len() as u64)), (99, 1));
        assert_eq!((gauge.percent(2_000), gauge.is_filling(2_000)), (76, true));
        assert!(gauge.counted(2_000, 480));
        assert_eq!((gauge.tokens(2_000), gauge.is_filling(2_000)), (500, false));
        assert!(gauge.is_filling(2_800) && !gauge.is_full(2_800) && gauge.is_full(3_500));
    }

    #[test]
    fn count_that_cannot_be_right_is_not_believed() {
        let mut gauge = Gauge::new(1_000, 0);
        assert!(gauge.counted(3_000, 0) && gauge.counted(3_000, 20));
        assert!(!gauge.counted(18_000, 2_050), "it was cut");
        assert_eq!(gauge.tokens(300), 99);
        assert!(gauge.counted(3_000, 90_000));
        assert_eq!(gauge.tokens(3_000), 3_000);
    }

    #[test]
    fn shares_of_a_window_go_both_ways() {
        let gauge = Gauge::new(32_768, 0);
        assert_eq!(gauge.percent(gauge.bytes(50)), 49);
        assert_eq!((gauge.summary(), Gauge::new(1_024, 0).summary()), (800, 85));
    }
}
