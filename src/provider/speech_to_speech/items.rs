//! Length of the sound received for each answer of a session.
//!
//! Entry type: [`Items`].

use std::{collections::VecDeque, time::Duration};

use crate::{
    audio::{SampleRate, SplitSamples},
    provider::SpeechItemId,
};

/// Most items remembered; the oldest is dropped.
const ITEMS_MAX: usize = 64;

#[derive(Debug, Default)]
pub struct Items(VecDeque<Item>);

#[derive(Debug)]
struct Item {
    id: String,
    sound: SplitSamples,
    /// Samples received, at 24 kHz.
    samples: usize,
}

impl Items {
    /// Takes the next bytes of `id` and returns its complete samples.
    pub fn take(&mut self, id: &str, bytes: &[u8]) -> Vec<i16> {
        let Some(item) = self.item(id) else { return Vec::new() };
        let samples = item.sound.push(bytes);
        item.samples = item.samples.saturating_add(samples.len());
        samples
    }

    fn item(&mut self, id: &str) -> Option<&mut Item> {
        let at = self.0.iter().position(|item| item.id == id).unwrap_or_else(|| {
            if self.0.len() == ITEMS_MAX {
                self.0.pop_front();
            }
            self.0.push_back(Item {
                id: id.to_owned(),
                sound: SplitSamples::default(),
                samples: 0,
            });
            self.0.len() - 1
        });
        self.0.get_mut(at)
    }

    /// Millisecond at which to cut `id` off after `played` of it, never beyond what was received,
    /// which the service refuses. `None`: nothing was received.
    pub fn cut(&self, id: &SpeechItemId, played: Duration) -> Option<u64> {
        let item = self.0.iter().find(|item| item.id == id.0).filter(|item| item.samples > 0)?;
        let came = SampleRate::HZ_24000.duration_of(item.samples);
        u64::try_from(played.min(came).as_millis()).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(items: &Items, id: &str, ms: u64) -> Option<u64> {
        items.cut(&SpeechItemId(id.to_owned()), Duration::from_millis(ms))
    }

    #[test]
    fn sample_cut_in_two_stays_with_its_item() {
        let mut items = Items::default();
        assert_eq!(items.take("a", &[1, 0, 2]), [1]);
        assert_eq!(items.take("b", &[9, 0]), [9]);
        assert_eq!(items.take("a", &[1]), [258]);
        assert_eq!(items.take("a", &[]), [0_i16; 0]);
    }

    #[test]
    fn cut_is_never_beyond_what_came() {
        let mut items = Items::default();
        items.take("a", &vec![0; 4_799]);
        items.take("b", &[0]);
        assert_eq!(cut(&items, "a", 50), Some(50));
        // 2,399 samples are 99.96 ms.
        assert_eq!(cut(&items, "a", 100), Some(99));
        assert_eq!(cut(&items, "a", u64::MAX), Some(99));
        assert_eq!(cut(&items, "b", 10), None);
        assert_eq!(cut(&items, "c", 10), None);
    }

    #[test]
    fn oldest_of_many_items_is_forgotten() {
        let mut items = Items::default();
        for n in 0..=ITEMS_MAX {
            items.take(&n.to_string(), &[0; 48]);
        }
        assert_eq!(items.0.len(), ITEMS_MAX);
        assert_eq!(cut(&items, "0", 1), None);
        assert_eq!(cut(&items, "1", 1), Some(1));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_samples(
            samples in prop::collection::vec(any::<i16>(), 0..50), step in 1_usize..9,
        ) {
            let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
            let mut items = Items::default();
            let read: Vec<i16> =
                bytes.chunks(step).flat_map(|piece| items.take("a", piece)).collect();
            prop_assert_eq!(read, samples);
        }
    }
}
