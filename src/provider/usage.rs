//! Counts billed by a service for one answer, which only grow.
//!
//! Entry type: [`Counted`]. A service may send several counts of an answer; a later one may omit
//! numbers of an earlier one, or be wrong. **Never**: lets a later count lower an earlier cost.

use super::{SpeechUsage, Usage};

pub trait Larger: Copy {
    /// The larger of each number. Cached tokens are the exception: tokens that one count bills in
    /// full are not cached.
    #[must_use]
    fn larger(self, other: Self) -> Self;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<T>(Option<T>);

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Larger> Counted<T> {
    pub fn merge(&mut self, count: T) -> T {
        let largest = self.0.map_or(count, |known| known.larger(count));
        self.0 = Some(largest);
        largest
    }

    pub fn get(&self) -> Option<T> {
        self.0
    }
}

impl Larger for Usage {
    fn larger(self, other: Self) -> Self {
        let (input_tokens, cached_tokens) = whole_and_cached(
            (self.input_tokens, self.cached_tokens),
            (other.input_tokens, other.cached_tokens),
        );
        Self {
            input_tokens,
            cached_tokens,
            written_tokens: self.written_tokens.max(other.written_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
        }
    }
}

impl Larger for SpeechUsage {
    fn larger(self, other: Self) -> Self {
        let (text_in, text_cached) =
            whole_and_cached((self.text_in, self.text_cached), (other.text_in, other.text_cached));
        let (audio_in, audio_cached) = whole_and_cached(
            (self.audio_in, self.audio_cached),
            (other.audio_in, other.audio_cached),
        );
        Self {
            text_in,
            text_cached,
            audio_in,
            audio_cached,
            text_out: self.text_out.max(other.text_out),
            audio_out: self.audio_out.max(other.audio_out),
        }
    }
}

/// The larger total, with the larger uncached part.
fn whole_and_cached(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    let uncached = |(whole, cached): (u64, u64)| whole.saturating_sub(cached);
    let whole = one.0.max(other.0);
    (whole, whole.saturating_sub(uncached(one).max(uncached(other))))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Plausible and implausible counts; 0 and the maximum are likely.
    fn count() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0_u64), Just(u64::MAX), 0_u64..1_000_000]
    }

    fn usage() -> impl Strategy<Value = Usage> {
        (count(), count(), count(), count()).prop_map(|(input, cached, written, output)| Usage {
            input_tokens: input,
            cached_tokens: cached.min(input),
            written_tokens: written.min(input - cached.min(input)),
            output_tokens: output,
        })
    }

    fn speech_usage() -> impl Strategy<Value = SpeechUsage> {
        (usage(), usage()).prop_map(|(text, audio)| SpeechUsage {
            text_in: text.input_tokens,
            text_cached: text.cached_tokens,
            audio_in: audio.input_tokens,
            audio_cached: audio.cached_tokens,
            text_out: text.output_tokens,
            audio_out: audio.output_tokens,
        })
    }

    fn merged<T: Larger>(counts: impl IntoIterator<Item = T>) -> Option<T> {
        let mut all = Counted::default();
        counts.into_iter().for_each(|count| _ = all.merge(count));
        all.get()
    }

    #[test]
    fn later_count_of_zero_changes_nothing() {
        let told =
            Usage { input_tokens: 100, cached_tokens: 8, written_tokens: 4, output_tokens: 5 };
        assert_eq!(merged([told, Usage::default()]), Some(told));
        assert_eq!(merged([Usage::default(), told]), Some(told));
        assert_eq!(merged::<Usage>([]), None);
    }

    #[test]
    fn later_discount_is_not_granted() {
        let told = |cached_tokens| Usage { input_tokens: 100, cached_tokens, ..Usage::default() };
        assert_eq!(merged([told(0), told(90)]), Some(told(0)));
        assert_eq!(merged([told(90), told(0)]), Some(told(0)));
    }

    proptest! {
        #[test]
        fn counts_only_grow_in_any_order(counts in vec(usage(), 1..6)) {
            let all = merged(counts.clone()).unwrap();
            prop_assert_eq!(merged(counts.iter().rev().copied()), Some(all));
            prop_assert_eq!(merged(counts.iter().copied().chain(counts.clone())), Some(all));
            let uncached = |it: &Usage| it.input_tokens - it.cached_tokens;
            for count in &counts {
                prop_assert!(all.input_tokens >= count.input_tokens);
                prop_assert!(uncached(&all) >= uncached(count));
                prop_assert!(all.written_tokens >= count.written_tokens);
                prop_assert!(all.output_tokens >= count.output_tokens);
            }
            let most = counts.iter().map(|it| it.input_tokens).max();
            prop_assert_eq!(Some(all.input_tokens), most, "nothing is counted twice");
        }

        #[test]
        fn counts_of_speech_only_grow(counts in vec(speech_usage(), 1..6)) {
            let all = merged(counts.clone()).unwrap();
            prop_assert_eq!(merged(counts.iter().rev().copied()), Some(all));
            for count in &counts {
                prop_assert!(all.text_in >= count.text_in && all.audio_in >= count.audio_in);
                prop_assert!(all.text_out >= count.text_out && all.audio_out >= count.audio_out);
                let text = |it: &SpeechUsage| it.text_in - it.text_cached;
                let audio = |it: &SpeechUsage| it.audio_in - it.audio_cached;
                prop_assert!(text(&all) >= text(count) && audio(&all) >= audio(count));
            }
        }
    }
}
