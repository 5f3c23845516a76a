//! Rest of the speech that an X-card cut into.
//!
//! Entry type: [`RestOfSpeech`]. Speech that began before the card is dropped up to the first pause
//! that would end an utterance, for 30 s at most. Frames count by the time of their sound, because
//! queued ones were spoken before the card.

use std::{collections::HashMap, time::Duration};

use super::{clock::SoundTime, input::VoiceFrame, pipeline::CONTINUES, speakers::SpeakerId};
use crate::logic::vad::{Vad, VadOptions, Voicing};

/// The longest utterance; a microphone in a noisy room is never silent.
const LONGEST: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct RestOfSpeech {
    card: Option<SoundTime>,
    speakers: HashMap<SpeakerId, Rest>,
}

struct Rest {
    vad: Vad,
    /// First dropped frame, or the last voice before it.
    since: SoundTime,
    /// `None`: silence so far.
    voiced_at: Option<SoundTime>,
}

impl Rest {
    fn new(since: SoundTime, voiced_at: Option<SoundTime>) -> Self {
        Self { vad: Vad::new(VadOptions::default()), since, voiced_at }
    }

    fn goes_on(&self, at: SoundTime) -> bool {
        self.voiced_at.is_some_and(|last| at <= last + CONTINUES) && at <= self.since + LONGEST
    }
}

impl RestOfSpeech {
    /// Drops what the speakers go on saying after a card; `voices` are the times of their last
    /// voice.
    pub fn begin(&mut self, card: SoundTime, voices: impl Iterator<Item = (SpeakerId, SoundTime)>) {
        self.card = Some(card);
        self.speakers.retain(|_, rest| rest.goes_on(card));
        for (speaker, voiced_at) in voices {
            self.speakers.insert(speaker, Rest::new(voiced_at, Some(voiced_at)));
        }
    }

    /// Drops 20 ms and returns their voicing; `None`: the frame counts.
    pub fn take(&mut self, voice: &VoiceFrame) -> Option<Voicing> {
        let VoiceFrame { speaker, at, frame } = voice;
        let is_before = *at <= self.card?;
        let goes_on = self.speakers.get(speaker).is_some_and(|rest| rest.goes_on(*at));
        if !is_before && !goes_on {
            self.speakers.remove(speaker);
            return None;
        }
        let rest = self.speakers.entry(*speaker).or_insert_with(|| Rest::new(*at, None));
        let voicing = rest.vad.push(frame.samples());
        if voicing.voiced {
            rest.voiced_at = rest.voiced_at.max(Some(*at));
        }
        Some(voicing)
    }
}
