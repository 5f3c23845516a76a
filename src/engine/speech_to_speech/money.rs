//! Price of a voice model's answers: reserved before, booked by the service's count where
//! plausible.
//!
//! Entry type: [`Contents`] of a session. A service bills all of it with each answer, in tokens of
//! text and sound. An answer is counted as it arrives, and cut off when its reservation is used up.

use std::time::Duration;

use crate::{
    engine::budget::plausible,
    logic::budget::{Consumption, SoundTokens},
    provider::SpeechUsage,
};

/// Tokens of an answer besides its sound: words or a call, which may also use those of the sound.
const BESIDE: u32 = 100;
/// Bytes of a usual text token.
const A_TOKEN: u64 = 4;
/// A count below this part of the usual one is implausible.
const LEAST_SOUND: u64 = 4;
/// Tokens that a service adds to a conversation.
const TEMPLATE: u64 = 256;

/// Contents of a session, all billed with each answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The service's tokens per second of sound.
    a_second: SoundTokens,
    /// Longest answer, in tokens.
    pub longest: u32,
    pub text: u64,
    /// Tokens of counted sound.
    pub sound: u64,
    /// Players' sound not counted yet.
    pub received: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    pub words: u64,
    pub calls: u64,
    pub sound: Duration,
}

impl Contents {
    /// `a_second`: the service's tokens per second of sound; `longest`: tokens of the longest
    /// answer.
    pub const fn new(a_second: SoundTokens, longest: u32) -> Self {
        Self { a_second, longest, text: 0, sound: 0, received: Duration::ZERO }
    }

    pub fn add_text(&mut self, bytes: usize) {
        self.text = self.text.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    pub const fn add_received(&mut self, sound: Duration) {
        self.received = self.received.saturating_add(sound);
    }

    /// Adds an answer; `counted`: the service's tokens of sound.
    pub fn add_answer(&mut self, answered: Answered, counted: Option<u64>) {
        self.text = self.text.saturating_add(self.written(answered));
        let spoken = tokens(answered.sound, self.a_second.spoken);
        let all = self.all_sound().saturating_add(spoken);
        self.sound = counted.unwrap_or_default().max(all);
        self.received = Duration::ZERO;
    }

    /// Bytes of `answered` that count as text.
    const fn written(self, answered: Answered) -> u64 {
        let words = if self.a_second.with_words { answered.words } else { 0 };
        answered.calls.saturating_add(words)
    }

    fn all_sound(self) -> u64 {
        self.sound.saturating_add(tokens(self.received, self.a_second.received))
    }

    /// Most that the next answer may use: a text token has at least one byte.
    pub fn expected(self) -> Consumption {
        Consumption {
            input_tokens: self.text.saturating_add(TEMPLATE),
            cached_tokens: 0,
            written_tokens: 0,
            output_tokens: u64::from(self.longest),
            audio_in: self.all_sound().saturating_add(TEMPLATE),
            audio_cached: 0,
            audio_out: u64::from(self.longest),
            ..Consumption::default()
        }
    }

    pub fn is_used_up(self, answered: Answered) -> bool {
        let longest = u64::from(self.longest);
        tokens(answered.sound, self.a_second.spoken) > longest
            || self.written(answered) / A_TOKEN > longest
    }

    pub fn used(self, usage: SpeechUsage, answered: Answered) -> Consumption {
        let most = self.expected();
        let sound = |told: u64, usual: u64, most: u64| match told < usual / LEAST_SOUND {
            true => usual.min(most).max(told),
            false => told,
        };
        let spoken = tokens(answered.sound, self.a_second.spoken);
        let input_tokens = plausible(usage.text_in, self.text, most.input_tokens);
        let audio_in = sound(usage.audio_in, self.all_sound(), most.audio_in);
        Consumption {
            input_tokens,
            cached_tokens: usage.text_cached.min(input_tokens),
            output_tokens: plausible(usage.text_out, self.written(answered), most.output_tokens),
            audio_in,
            audio_cached: usage.audio_cached.min(audio_in),
            audio_out: sound(usage.audio_out, spoken, most.audio_out),
            ..Consumption::default()
        }
    }
}

/// Tokens of the longest answer: `speech` and its text.
pub fn longest(a_second: SoundTokens, speech: Duration) -> u32 {
    let spoken = u32::try_from(tokens(speech, a_second.spoken)).unwrap_or(u32::MAX);
    spoken.saturating_add(BESIDE)
}

fn tokens(sound: Duration, a_second: u32) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast to an integer saturates, and no sound is shorter than nothing"
    )]
    let tokens = (sound.as_secs_f64() * f64::from(a_second)).ceil() as u64;
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENTS: Contents = contents(10, 20);
    const ANSWERED: Answered = Answered { words: 60, calls: 20, sound: Duration::from_secs(4) };

    /// Contents of a session with a service of these rates.
    const fn contents(received: u32, spoken: u32) -> Contents {
        let a_second = SoundTokens { received, spoken, with_words: true };
        Contents {
            text: 1_600,
            sound: 350,
            received: Duration::from_secs(5),
            ..Contents::new(a_second, 700)
        }
    }

    const fn usage(text_in: u64, audio_in: u64, text_out: u64, audio_out: u64) -> SpeechUsage {
        SpeechUsage { text_in, text_cached: 0, audio_in, audio_cached: 0, text_out, audio_out }
    }

    #[test]
    fn counts_that_can_be_true_are_booked() {
        let used = CONTENTS.used(usage(410, 390, 21, 82), ANSWERED);
        let booked = (used.input_tokens, used.audio_in, used.output_tokens, used.audio_out);
        assert_eq!(booked, (410, 390, 21, 82));
    }

    #[test]
    fn counts_that_cannot_be_true_become_usual_ones() {
        let used = CONTENTS.used(usage(0, 0, 0, 0), ANSWERED);
        let booked = (used.input_tokens, used.audio_in, used.output_tokens, used.audio_out);
        assert_eq!(booked, (400, 400, 20, 80));
        let cached = SpeechUsage { audio_cached: 9_000, ..usage(410, 390, 21, 82) };
        assert_eq!(CONTENTS.used(cached, ANSWERED).audio_cached, 390);
    }

    #[test]
    fn longest_answer_is_set_aside() {
        let a_second = |spoken| SoundTokens { received: 10, spoken, with_words: true };
        let half_a_minute = Duration::from_secs(30);
        assert_eq!(longest(a_second(20), half_a_minute), 700);
        assert_eq!(longest(a_second(25), half_a_minute), 850);
        assert_eq!(longest(a_second(20), Duration::from_secs(5)), 200);
    }

    #[test]
    fn answer_uses_up_its_reservation() {
        let of = |words, calls, seconds| {
            let sound = Duration::from_secs(seconds);
            CONTENTS.is_used_up(Answered { words, calls, sound })
        };
        assert!(!of(2_800, 0, 35) && !of(0, 2_800, 35), "700 tokens of each");
        assert!(of(0, 0, 36) && of(2_804, 0, 0) && of(1_404, 1_400, 0));
    }

    #[test]
    fn sound_has_the_tokens_its_service_counts() {
        let mut contents = contents(25, 25);
        assert_eq!(contents.expected().audio_in, 350 + 5 * 25 + TEMPLATE);
        let used = contents.used(usage(410, 0, 21, 0), ANSWERED);
        assert_eq!((used.audio_in, used.audio_out), (475, 100));
        contents.add_answer(ANSWERED, None);
        assert_eq!((contents.sound, contents.received), (575, Duration::ZERO));
    }
}
