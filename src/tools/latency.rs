//! Durations and failures of a tool's calls, and the lowest tier they allow.
//!
//! The expected duration is the p50 of the latest 100 calls (until ten are timed, a probe's), else
//! another installation's p50, else the declared one, else 1 s. The tool gets the lowest tier whose
//! ceiling covers it. A p95 above both that ceiling and four times the p50 is a second mode: then
//! the p95 selects the tier. A tool above all ceilings is withheld, unless it declares `follow_up`:
//! then it is deep. A configured floor raises the tier. If more than 30 % of at least five calls in
//! ten minutes failed, the tool moves up one more tier, from deep to withheld.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::Declared;
use crate::domain::Tier;

const WINDOW: usize = 100;
const HEALTH_SPAN: Duration = Duration::from_secs(10 * 60);
/// Calls needed before measured figures count.
const ENOUGH: usize = 10;
/// Calls needed before failures count.
const ENOUGH_FOR_HEALTH: usize = 5;
/// Share of failed calls from which a tool is withheld, in percent.
const FAILING_PERCENT: usize = 30;
/// Ratio of p95 to p50 from which the tool counts as bimodal.
const BIMODAL: u32 = 4;
/// Expected duration of an unknown tool: mid standard tier.
pub const UNKNOWN: Duration = Duration::from_millis(1_000);

/// Latest calls of one tool.
#[derive(Debug, Default)]
pub struct Latency {
    window: Mutex<Window>,
    /// Number of running calls.
    running: AtomicUsize,
}

pub struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Window {
    calls: VecDeque<Sample>,
    /// Figures of a probe in this or an earlier run.
    probed: Option<Probed>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Instant,
    took: Duration,
    /// True if `took` counts.
    timed: bool,
    failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    pub calls: usize,
    pub p50: Duration,
    pub p95: Duration,
    pub p99: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Answered, even with an error.
    Answered,
    /// Cut off; the duration is a lower bound.
    TimedOut,
    /// Failed; the duration does not count.
    Failed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySummary {
    /// Percentiles, once there are enough calls or a probe.
    pub measured: Option<Probed>,
    pub calls: usize,
    /// Recent calls, and failures among them.
    pub recent: (usize, usize),
}

impl Latency {
    /// Starts with figures of an earlier run.
    pub fn known(figures: Probed) -> Self {
        let window = Window { probed: Some(figures), ..Window::default() };
        Self { window: Mutex::new(window), ..Self::default() }
    }

    /// Counts a call as running until the guard drops.
    pub fn running(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(&self.running)
    }

    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0
    }

    /// Adds a call that ended at `now`.
    pub fn record(&self, now: Instant, took: Duration, ending: Ending) {
        let mut window = self.lock();
        if window.calls.len() == WINDOW {
            window.calls.pop_front();
        }
        window.calls.push_back(Sample {
            at: now,
            took,
            timed: ending != Ending::Failed,
            failed: ending != Ending::Answered,
        });
    }

    /// Takes over a probe at `now`; it proves the tool alive, and replaces old calls.
    pub fn probed(&self, now: Instant, found: Probed) {
        let mut window = self.lock();
        window.probed = Some(found);
        window.calls.retain(|call| !call.failed && now.duration_since(call.at) < HEALTH_SPAN);
    }

    /// Summary at `now`.
    pub fn standing(&self, now: Instant) -> LatencySummary {
        let window = self.lock();
        let mut took: Vec<Duration> =
            window.calls.iter().filter(|call| call.timed).map(|call| call.took).collect();
        let measured =
            if took.len() >= ENOUGH { Some(percentiles(&mut took)) } else { window.probed };
        let recent = window.calls.iter().filter(|call| now.duration_since(call.at) < HEALTH_SPAN);
        let recent: Vec<bool> = recent.map(|call| call.failed).collect();
        let failed = recent.iter().filter(|failed| **failed).count();
        LatencySummary { measured, calls: window.calls.len(), recent: (recent.len(), failed) }
    }

    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LatencySummary {
    /// True if too many calls fail.
    pub fn is_failing(&self) -> bool {
        let (calls, failed) = self.recent;
        calls >= ENOUGH_FOR_HEALTH && failed * 100 > calls * FAILING_PERCENT
    }

    /// The duration to plan with.
    pub fn expected(&self, declared: &Declared) -> Duration {
        self.measured
            .map(|measured| measured.p50)
            .or(declared.measured)
            .or(declared.estimated)
            .unwrap_or(UNKNOWN)
    }

    /// The lowest tier the tool is offered in; `None`: withheld.
    pub fn tier(&self, declared: &Declared) -> Option<Tier> {
        let floor = declared.floor.unwrap_or(Tier::Fast);
        let tier = self.latency_tier(declared)?.max(floor);
        match (self.is_failing(), tier) {
            (false, tier) => Some(tier),
            (true, Tier::Fast) => Some(Tier::Standard),
            (true, Tier::Standard) => Some(Tier::Deep),
            (true, Tier::Deep) => None,
        }
    }

    /// The lowest tier whose ceiling its figures stay under.
    fn latency_tier(&self, declared: &Declared) -> Option<Tier> {
        let typical = self.expected(declared);
        let p95 = self.measured.map(|measured| measured.p95).unwrap_or_default();
        let by_median = Tier::lasting(typical);
        let breaks = by_median.is_some_and(|tier| p95 > tier.ceiling());
        let by = if breaks && p95 > typical * BIMODAL { Tier::lasting(p95) } else { by_median };
        by.or_else(|| (declared.follow_up == Some(true)).then_some(Tier::Deep))
    }
}

/// Nearest-rank percentiles of at least one duration.
pub fn percentiles(took: &mut [Duration]) -> Probed {
    took.sort_unstable();
    let at = |percent: usize| {
        let rank = (took.len() * percent).div_ceil(100).clamp(1, took.len().max(1));
        took.get(rank - 1).copied().unwrap_or_default()
    };
    Probed { calls: took.len(), p50: at(50), p95: at(95), p99: at(99) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn standing_of(calls: &[(u64, Ending)]) -> (LatencySummary, Latency, Instant) {
        let (latency, now) = (Latency::default(), Instant::now());
        for (took, ending) in calls {
            latency.record(now, Duration::from_millis(*took), *ending);
        }
        (latency.standing(now), latency, now)
    }

    fn declared(estimated: u64) -> Declared {
        Declared { estimated: Some(Duration::from_millis(estimated)), ..Declared::default() }
    }

    #[test]
    fn nothing_known_is_standard() {
        assert_eq!(LatencySummary::default().tier(&Declared::default()), Some(Tier::Standard));
    }

    #[test]
    fn declared_latency_holds_until_ten_calls() {
        let slow = [(2_000, Ending::Answered); 10];
        let (nine, ..) = standing_of(&slow[..9]);
        assert_eq!(nine.tier(&declared(5)), Some(Tier::Fast));
        let (ten, ..) = standing_of(&slow);
        assert_eq!(ten.tier(&declared(5)), Some(Tier::Deep));
    }

    #[test]
    fn one_probe_is_enough() {
        let latency = Latency::default();
        latency.probed(Instant::now(), percentiles(&mut [700 * MS, 800 * MS, 900 * MS]));
        assert_eq!(latency.standing(Instant::now()).tier(&declared(5)), Some(Tier::Standard));
    }

    #[test]
    fn two_modes_are_placed_by_the_slow_one() {
        let mut calls = vec![(20, Ending::Answered); 18];
        calls.extend([(1_200, Ending::Answered); 2]);
        let (bimodal, ..) = standing_of(&calls);
        assert_eq!(bimodal.tier(&declared(5)), Some(Tier::Standard));
        // Slow at times, but within the tier.
        let mut calls = vec![(20, Ending::Answered); 18];
        calls.extend([(400, Ending::Answered); 2]);
        assert_eq!(standing_of(&calls).0.tier(&declared(5)), Some(Tier::Fast));
    }

    #[test]
    fn failing_tools_go_up_one_tier_or_disappear() {
        let mut calls = vec![(20, Ending::Answered); 10];
        calls.extend([(1, Ending::Failed); 5]);
        let (standing, latency, now) = standing_of(&calls);
        assert!(standing.is_failing());
        assert_eq!(standing.tier(&declared(5)), Some(Tier::Standard));
        let deep = Declared { floor: Some(Tier::Deep), ..declared(5) };
        assert_eq!(standing.tier(&deep), None);
        // Ten minutes later it no longer counts.
        let later = latency.standing(now + HEALTH_SPAN);
        assert_eq!(later.tier(&deep), Some(Tier::Deep));
        // A probe that answers brings it back at once.
        latency.probed(now, percentiles(&mut [20 * MS]));
        assert_eq!(latency.standing(now).tier(&deep), Some(Tier::Deep));
    }

    #[test]
    fn probes_replace_stale_figures_only() {
        let (standing, latency, now) = standing_of(&[(4_500, Ending::Answered); 20]);
        assert_eq!(standing.tier(&declared(5)), None);
        let quick = percentiles(&mut [20 * MS; 5]);
        // A call of the current turn outweighs a probe.
        latency.probed(now, quick);
        assert_eq!(latency.standing(now).tier(&declared(5)), None);
        latency.probed(now + HEALTH_SPAN, quick);
        assert_eq!(latency.standing(now + HEALTH_SPAN).measured, Some(quick));
    }

    #[test]
    fn earlier_figures_hold_until_ten_new_calls() {
        let known = percentiles(&mut [700 * MS; 5]);
        let latency = Latency::known(known);
        let now = Instant::now();
        assert_eq!(latency.standing(now).tier(&declared(5)), Some(Tier::Standard));
        for _ in 0..10 {
            latency.record(now, 20 * MS, Ending::Answered);
        }
        assert_eq!(latency.standing(now).tier(&declared(5)), Some(Tier::Fast));
    }

    #[test]
    fn thirty_percent_of_failures_are_borne() {
        let mut calls = vec![(20, Ending::Answered); 7];
        calls.extend([(1, Ending::Failed); 3]);
        assert!(!standing_of(&calls).0.is_failing());
        calls.push((1, Ending::TimedOut));
        assert!(standing_of(&calls).0.is_failing());
        assert!(!standing_of(&[(1, Ending::Failed); 4]).0.is_failing(), "four calls say nothing");
    }

    #[test]
    fn tools_slower_than_deep_need_follow_up() {
        assert_eq!(LatencySummary::default().tier(&declared(4_001)), None);
        let late = Declared { follow_up: Some(true), ..declared(9_000) };
        assert_eq!(LatencySummary::default().tier(&late), Some(Tier::Deep));
    }

    #[test]
    fn failed_calls_are_not_measured() {
        let (standing, ..) = standing_of(&[(1, Ending::Failed); 50]);
        assert_eq!(standing.measured, None);
    }
}
