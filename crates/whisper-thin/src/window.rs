//! Choice of the encoder's computed positions.
//!
//! Whisper (arXiv 2212.04356) always encodes 30 s, 1,500 positions of 20 ms; two seconds of speech
//! cost as much as thirty. Without the silence the released weights repeat themselves, because they
//! were trained with it. The thinned window keeps the silence but computes only every `step`-th
//! position of it. Far from the speech, silent positions differ only in their place, so one can
//! stand for its neighbours: the logarithm of their number is added to its score in every softmax
//! over encoder positions (the encoder's self-attention and the decoder's cross-attention), as if
//! it were repeated that many times.

/// Part of the encoder's window that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Every position, as the model was trained.
    Full,
    /// Every position of the sound and `margin` positions (of 20 ms) after it; every `step`-th of
    /// the silence up to 30 s.
    Thin {
        /// Positions after the sound that are all computed.
        margin: usize,
        /// One of this many positions of silence is computed. 0 and 1 are like [`Window::Full`].
        step: usize,
    },
}

impl Default for Window {
    /// A margin of 10 and a step of 8: no more errors than [`Window::Full`] in the README's measurements.
    fn default() -> Self {
        Self::Thin { margin: 10, step: 8 }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    /// Index of each among all positions.
    pub(crate) places: Vec<usize>,
    /// Logarithm of the number of positions each represents.
    pub(crate) bias: Vec<f32>,
}

impl Window {
    /// The plan for sound in the first `sound` of `all` positions.
    pub(crate) fn plan(self, sound: usize, all: usize) -> Plan {
        let (dense, step) = match self {
            Self::Full => (all, 1),
            Self::Thin { margin, step } => (sound.saturating_add(margin).min(all), step.max(1)),
        };
        let mut plan = Plan { places: (0..dense).collect(), bias: vec![0.0; dense] };
        let mut next = dense;
        while next < all {
            let span = step.min(all - next);
            // the last position hears the end of the window, so it is always computed
            let last = next + span == all;
            plan.places.push(if last { all - 1 } else { next + span / 2 });
            plan.bias.push((span as f32).ln());
            next += span;
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_of_one_is_the_full_window() {
        let full = Window::Full.plan(100, 1500);
        assert_eq!(full.places, (0..1500).collect::<Vec<_>>());
        for step in [0, 1] {
            for margin in [0, 10, usize::MAX] {
                assert_eq!(Window::Thin { margin, step }.plan(100, 1500), full);
            }
        }
    }

    #[test]
    fn positions_are_counted_once_including_last() {
        for (sound, margin, step) in
            [(0, 0, 8), (100, 10, 8), (1495, 3, 8), (1500, 10, 8), (7, 1, 1000)]
        {
            let plan = Window::Thin { margin, step }.plan(sound, 1500);
            let counted: f32 = plan.bias.iter().map(|b| b.exp()).sum();
            assert!((counted - 1500.0).abs() < 0.01, "{sound} {margin} {step}: {counted}");
            assert!(plan.places.is_sorted_by(|a, b| a < b));
            assert_eq!(plan.places.last(), Some(&1499));
        }
        assert_eq!(Window::default().plan(100, 1500).places.len(), 284);
    }
}
