//! Sound of a Wyoming voice -> 16-bit mono samples with the NPC's pitch, formants and speed.
//!
//! Entry type: [`Sound`]. Mixes two channels. **Never**: guesses a format.

use std::time::Duration;

use super::event::Event;
use crate::{
    audio::{SampleRate, Shape, Timbre},
    domain::Voice,
    provider::Pcm,
};

/// Rates of voices, in Hz.
const RATES: std::ops::RangeInclusive<u64> = 8_000..=48_000;
/// Longest sound of one sentence.
const LONGEST: Duration = Duration::from_secs(120);
const FULL: f32 = 32_767.0;

pub struct Sound {
    voice: Voice,
    format: Option<Format>,
    rest: Vec<u8>,
    shaping: Option<(Shape, Timbre)>,
    samples: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Format {
    rate: SampleRate,
    is_stereo: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// No event has a format.
    #[error("sound without rate, width and channels")]
    Unsaid,
    #[error("sound at \"{0}\" Hz, where 8000 to 48000 are understood")]
    Rate(u64),
    #[error("sound with \"{0}\" bytes a sample, where 2 are understood")]
    Width(u64),
    #[error("sound with \"{0}\" channels, where 1 and 2 are understood")]
    Channels(u64),
    #[error("sound whose rate or channels change within a sentence")]
    Changed,
    #[error("more than {LONGEST:?} of sound for one sentence")]
    Long,
    #[error("{0}")]
    Shape(String),
}

impl Format {
    fn of(event: &Event) -> Result<Option<Self>, Unusable> {
        let number = |key: &str| event.data.get(key).and_then(serde_json::Value::as_u64);
        let (rate, width, channels) = match (number("rate"), number("width"), number("channels")) {
            (None, None, None) => return Ok(None),
            (Some(rate), Some(width), Some(channels)) => (rate, width, channels),
            _ => return Err(Unusable::Unsaid),
        };
        if width != 2 {
            return Err(Unusable::Width(width));
        }
        if !(1..=2).contains(&channels) {
            return Err(Unusable::Channels(channels));
        }
        let hz = u32::try_from(rate).ok().filter(|_| RATES.contains(&rate));
        let known = hz.and_then(|hz| SampleRate::new(hz).ok());
        let rate = known.ok_or(Unusable::Rate(rate))?;
        Ok(Some(Self { rate, is_stereo: channels == 2 }))
    }
}

impl Sound {
    /// Sound of a sentence in `voice`, empty so far.
    pub fn new(voice: Voice) -> Self {
        Self { voice, format: None, rest: Vec::new(), shaping: None, samples: 0 }
    }

    pub const fn has_begun(&self) -> bool {
        self.samples > 0
    }

    pub fn length(&self) -> Duration {
        self.format.map_or(Duration::ZERO, |format| format.rate.duration_of(self.samples))
    }

    /// Takes an event's format and sound; `None`: nothing to play yet.
    pub fn push(&mut self, event: &Event) -> Result<Option<Pcm>, Unusable> {
        let said = Format::of(event)?;
        match (self.format, said) {
            (None, said) => self.format = said,
            (Some(before), Some(said)) if before != said => return Err(Unusable::Changed),
            _ => {}
        }
        if event.payload.is_empty() {
            return Ok(None);
        }
        let format = self.format.ok_or(Unusable::Unsaid)?;
        self.rest.extend_from_slice(&event.payload);
        let size = if format.is_stereo { 4 } else { 2 };
        let kept = self.rest.split_off(self.rest.len() / size * size);
        let whole = std::mem::replace(&mut self.rest, kept);
        let samples: Vec<i16> = whole.chunks_exact(size).map(mixed).collect();
        self.samples += samples.len();
        if format.rate.duration_of(self.samples) > LONGEST {
            return Err(Unusable::Long);
        }
        self.shaped(&samples, format.rate).map(Some)
    }

    fn shaped(&mut self, samples: &[i16], rate: SampleRate) -> Result<Pcm, Unusable> {
        let Voice { pitch_shift, formant_shift, speed_factor, .. } = self.voice;
        let (speed, timbre) = match &mut self.shaping {
            Some(shaping) => shaping,
            none => {
                let speed = Shape::new(rate, 0.0, speed_factor).map_err(shape)?;
                let timbre = Timbre::new(rate, pitch_shift, formant_shift).map_err(shape)?;
                none.insert((speed, timbre))
            }
        };
        let (mut paced, mut shaped) = (Vec::with_capacity(samples.len()), Vec::new());
        speed.push(samples, &mut paced);
        timbre.push(&fractions(&paced), &mut shaped);
        Ok(Pcm { samples: shaped, rate })
    }

    /// The rest of the sound, from the filters.
    pub fn finish(&mut self) -> Option<Pcm> {
        let (mut speed, mut timbre) = self.shaping.take()?;
        let (mut paced, mut shaped) = (Vec::new(), Vec::new());
        speed.finish(&mut paced);
        timbre.push(&fractions(&paced), &mut shaped);
        timbre.finish(&mut shaped);
        let rate = self.format?.rate;
        (!shaped.is_empty()).then_some(Pcm { samples: shaped, rate })
    }
}

fn mixed(bytes: &[u8]) -> i16 {
    match *bytes {
        [a, b, c, d] => i16::from_le_bytes([a, b]).midpoint(i16::from_le_bytes([c, d])),
        [a, b] => i16::from_le_bytes([a, b]),
        _ => 0,
    }
}

fn fractions(samples: &[i16]) -> Vec<f32> {
    samples.iter().map(|sample| f32::from(*sample) / FULL).collect()
}

fn shape(error: impl std::error::Error) -> Unusable {
    Unusable::Shape(error.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(rate: u64, width: u64, channels: u64, payload: &[u8]) -> Event {
        let event = Event::new("audio-chunk").with("rate", rate).with("width", width);
        Event { payload: payload.to_vec(), ..event.with("channels", channels) }
    }

    fn plain() -> Sound {
        Sound::new(Voice::as_is("wyoming", ""))
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_samples(
            samples in prop::collection::vec(any::<i16>(), 1..60), step in 1_usize..9,
            is_stereo in any::<bool>(),
        ) {
            let twice = |it: &i16| if is_stereo { vec![*it; 2] } else { vec![*it] };
            let doubled: Vec<i16> = samples.iter().flat_map(twice).collect();
            let bytes: Vec<u8> = doubled.iter().flat_map(|it| it.to_le_bytes()).collect();
            let (mut sound, mut heard) = (plain(), Vec::new());
            for piece in bytes.chunks(step) {
                let event = event(22_050, 2, if is_stereo { 2 } else { 1 }, piece);
                heard.extend(sound.push(&event).unwrap().map(|pcm| pcm.samples).unwrap_or_default());
            }
            heard.extend(sound.finish().map(|pcm| pcm.samples).unwrap_or_default());
            prop_assert_eq!(heard, samples);
        }
    }

    #[test]
    fn channels_are_mixed() {
        let mut sound = plain();
        assert_eq!(sound.push(&event(8_000, 2, 2, &[])).unwrap(), None);
        assert!(!sound.has_begun());
        let said = Event { payload: vec![2, 0, 4, 0], ..Event::new("audio-chunk") };
        let pcm = sound.push(&said).unwrap().unwrap();
        assert_eq!((pcm.samples, pcm.rate.hz()), (vec![3], 8_000));
    }

    #[test]
    fn other_sound_is_refused() {
        for (sound, refused) in [
            (event(7_999, 2, 1, &[1]), Unusable::Rate(7_999)),
            (event(u64::MAX, 2, 1, &[]), Unusable::Rate(u64::MAX)),
            (event(16_000, 4, 1, &[]), Unusable::Width(4)),
            (event(16_000, 2, 6, &[]), Unusable::Channels(6)),
            (event(16_000, 2, 0, &[]), Unusable::Channels(0)),
            (Event::new("audio-start").with("rate", 16_000), Unusable::Unsaid),
            (Event { payload: vec![1], ..Event::new("audio-chunk") }, Unusable::Unsaid),
        ] {
            assert_eq!(plain().push(&sound), Err(refused));
        }
        let mut sound = plain();
        sound.push(&event(16_000, 2, 1, &[1, 0])).unwrap();
        assert_eq!(sound.push(&event(16_000, 2, 2, &[1, 0])), Err(Unusable::Changed));
        let mut sound = plain();
        let second = event(16_000, 2, 1, &[0; 32_000]);
        let long = (0..121).find_map(|_| sound.push(&second).err());
        assert_eq!(long, Some(Unusable::Long));
    }

    #[test]
    fn speed_and_pitch_are_ours() {
        let voice = Voice { speed_factor: 2.0, pitch_shift: 3.0, ..Voice::as_is("wyoming", "") };
        let (mut sound, mut samples) = (Sound::new(voice), 0);
        for _ in 0..10 {
            let pcm = sound.push(&event(16_000, 2, 1, &[7; 3_200])).unwrap();
            samples += pcm.map_or(0, |pcm| pcm.samples.len());
        }
        samples += sound.finish().map_or(0, |pcm| pcm.samples.len());
        assert!((7_500..8_500).contains(&samples), "{samples} of 16000");
    }
}
