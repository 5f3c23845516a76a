//! Speech of a table that is returned to programs as data.
//!
//! Entry type: [`TableSound`], the output of such a table. It takes speech as fast as it comes and
//! keeps it by turn, until the caller who ordered the turn fetches it. Beyond five minutes or eight
//! turns the oldest is dropped.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    audio::{Clip, Frame, SampleRate, write_wav},
    domain::TurnId,
    session::VoiceOut,
};

/// Most samples kept, of all turns: five minutes, 29 MB.
pub(super) const SAMPLES_MAX: usize = 48_000 * 300;
/// Most turns kept.
const TURNS_MAX: usize = 8;

/// Speech: 48 kHz mono.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance48 {
    pub samples: Vec<i16>,
}

impl Utterance48 {
    /// Its length, in seconds.
    pub fn seconds(&self) -> f64 {
        SampleRate::HZ_48000.duration_of(self.samples.len()).as_secs_f64()
    }

    /// The whole WAV file.
    pub fn into_wav(self) -> Vec<u8> {
        write_wav(&Clip { samples: self.samples, rate: SampleRate::HZ_48000 })
    }
}

/// Collects the speech of a table. Cloning shares it.
#[derive(Clone, Default)]
pub struct TableSound(Arc<Mutex<Collected>>);

#[derive(Default)]
struct Collected {
    /// The oldest first; the last one is playing.
    turns: VecDeque<(TurnId, Vec<i16>)>,
}

impl Collected {
    fn len(&self) -> usize {
        self.turns.iter().map(|(_, samples)| samples.len()).sum()
    }

    fn take(&mut self, samples: &[i16]) {
        while self.turns.len() > 1 && self.len() + samples.len() > SAMPLES_MAX {
            self.turns.pop_front();
        }
        let has_room = self.len() + samples.len() <= SAMPLES_MAX;
        if let Some((_, sound)) = self.turns.back_mut().filter(|_| has_room) {
            sound.extend_from_slice(samples);
        }
    }
}

impl VoiceOut for TableSound {
    fn begin(&mut self, turn: TurnId) {
        let mut collected = self.collected();
        if collected.turns.len() == TURNS_MAX {
            collected.turns.pop_front();
        }
        collected.turns.push_back((turn, Vec::new()));
    }

    fn play(&mut self, _npc: &str, frame: Frame) {
        self.collected().take(frame.samples());
    }

    /// No player speaks here, so nothing is ducked.
    fn ramp(&mut self, _db: f32, _over: Duration) {}

    fn stop(&mut self) -> usize {
        // Sound leaves at once.
        0
    }
}

impl TableSound {
    /// Takes the sound of `turn`, if any left the table.
    pub(super) fn take(&self, turn: TurnId) -> Option<Utterance48> {
        let mut collected = self.collected();
        let (_, samples) = collected.turns.iter_mut().find(|(of, _)| *of == turn)?;
        let samples = std::mem::take(samples);
        (!samples.is_empty()).then_some(Utterance48 { samples })
    }

    /// Drops everything, after an X-card.
    pub(super) fn clear(&self) {
        self.collected().turns.clear();
    }

    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::FRAME_SAMPLES_48K;

    fn frame() -> Frame {
        Frame::padded(&[7; FRAME_SAMPLES_48K], SampleRate::HZ_48000)
    }

    #[test]
    fn utterance_becomes_a_wav_file() {
        let file = Utterance48 { samples: vec![1, -1, 256] }.into_wav();
        assert_eq!(file.len(), 44 + 6);
        assert_eq!((&file[..4], &file[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
        assert_eq!(file[4..8], 42u32.to_le_bytes());
        assert_eq!(file[24..28], 48_000u32.to_le_bytes());
        assert_eq!(file[40..], [6_u8, 0, 0, 0, 1, 0, 255, 255, 0, 1]);
        let half = Utterance48 { samples: vec![0; 24_000] };
        assert!(half.seconds() == 0.5);
    }

    #[test]
    fn sound_is_kept_by_turn_and_taken_once() {
        let mut sound = TableSound::default();
        sound.play("Bartok", frame());
        for (turn, frames) in [(1, 2), (2, 3)] {
            sound.begin(TurnId(turn));
            (0..frames).for_each(|_| sound.play("Bartok", frame()));
        }
        let samples = |taken: Option<Utterance48>| taken.map(|it| it.samples.len());
        assert_eq!(samples(sound.take(TurnId(1))), Some(2 * FRAME_SAMPLES_48K));
        assert_eq!(samples(sound.take(TurnId(1))), None);
        sound.clear();
        assert_eq!(samples(sound.take(TurnId(2))), None, "an X-card takes it back");
    }

    #[test]
    fn unfetched_sound_is_bounded() {
        let mut sound = TableSound::default();
        for turn in 0..20 {
            sound.begin(TurnId(turn));
            (0..2_000).for_each(|_| sound.play("Bartok", frame()));
        }
        assert!(sound.collected().len() <= SAMPLES_MAX);
        assert!(sound.take(TurnId(0)).is_none() && sound.take(TurnId(19)).is_some());
        sound.clear();
        sound.begin(TurnId(20));
        (0..20_000).for_each(|_| sound.play("Bartok", frame()));
        assert!(sound.collected().len() <= SAMPLES_MAX, "one endless turn");
    }
}
