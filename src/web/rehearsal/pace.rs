//! How often one page may send. Entry type: [`PagePace`].

use tokio::time::Instant;

/// Messages in a second, on average: 50 of sound, and what a person can do beside.
const RATE: f64 = 100.0;
/// Messages at once after a pause: some four seconds that a slow network held back.
const BURST: f64 = 300.0;

/// A bucket that fills at a steady rate.
pub struct PagePace {
    left: f64,
    at: Instant,
}

impl PagePace {
    pub const fn new(now: Instant) -> Self {
        Self { left: BURST, at: now }
    }

    /// Counts a message; false if it is one too many.
    pub fn take(&mut self, now: Instant) -> bool {
        let filled = now.saturating_duration_since(self.at).as_secs_f64() * RATE;
        (self.left, self.at) = ((self.left + filled).min(BURST), now);
        let is_within = self.left >= 1.0;
        if is_within {
            self.left -= 1.0;
        }
        is_within
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn sound_and_orders_fit_a_flood_does_not() {
        let begin = Instant::now();
        let taken = |every: Duration| {
            let mut pace = PagePace::new(begin);
            (0..3_000_u32).take_while(|number| pace.take(begin + every * *number)).count()
        };
        assert_eq!(taken(Duration::from_millis(11)), 3_000);
        assert_eq!(taken(Duration::ZERO), 300);
        assert!(taken(Duration::from_millis(5)) < 700);
    }
}
