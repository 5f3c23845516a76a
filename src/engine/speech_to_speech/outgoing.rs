//! Answers of a service on their way to the table: shaped, cut into frames, counted.
//!
//! Entry type: [`Outgoing`]. A sentence of the table is one item of the service.
//!
//! A turn has a longest sound. In its last sixth, speech is passed on sentence by sentence: sound
//! after a pause waits for the next pause or the end of the answer. So an answer cut off at its
//! limit ends with a whole sentence if it pauses there at all, even if its sound arrives no faster
//! than it plays.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::{
    audio::{FRAME, Frame, SampleRate, Shape},
    domain::{Npc, Voice},
    engine::{Reply, Shaping, VoiceKey, VoiceLevels},
    logic::{barge_in, vad},
    provider::{Error, Kind, Pcm, SPEECH_WAITING, SpeechItemId},
};

/// Length of a word in ms; playback uses the same estimate.
const A_WORD: u128 = 300;
/// Bytes at the end of the words that are searched again with each addition.
const END: usize = 2_048;
const ITEMS: usize = 64;
/// Part of the longest sound that is passed on at once.
const AT_ONCE: f64 = 5.0 / 6.0;
/// Silence between sentences, in frames: 300 ms, more than between words.
const PAUSE: u32 = 15;
/// Silence that counts as no answer, in frames: 2 s.
const BLANK: u32 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Index among the sentences of the turn.
    pub sentence: usize,
    pub item: SpeechItemId,
    pub sound: Duration,
    pub words: String,
}

pub struct Outgoing {
    voice: Voice,
    levels: Option<VoiceLevels>,
    queue: VecDeque<Reply>,
    /// Answers with sound, in order.
    pub spoken: Vec<Spoken>,
    /// Words before any sound of their answer.
    early: Vec<(SpeechItemId, String)>,
    sounding: Option<Sounding>,
    sentences: usize,
    first_at: Option<Instant>,
    frames: u32,
    audible: u32,
    /// Sound still allowed, before shaping.
    left: Duration,
    /// Length of sound after which sentences are held.
    at_once: Duration,
    /// Trailing silent frames.
    quiet: u32,
    /// Queued pieces of complete sentences; `None`: all may be passed on.
    whole: Option<usize>,
}

struct Sounding {
    shape: Option<Shape>,
    shaping: Shaping,
    rate: SampleRate,
}

impl Outgoing {
    /// With the service's voice, in the NPC's pitch and speed, levelled by `levels`.
    pub fn new(npc: &Npc, service: &str, levels: Option<VoiceLevels>) -> Self {
        let longest = npc.s2s.max_answer;
        let voice = Voice {
            provider: service.to_owned(),
            voice_id: npc.s2s.voice.clone().unwrap_or_default(),
            ..npc.voice.clone()
        };
        Self {
            at_once: longest.mul_f64(AT_ONCE / f64::from(voice.speed_factor)),
            left: longest,
            quiet: 0,
            whole: None,
            voice,
            levels,
            queue: VecDeque::new(),
            spoken: Vec::new(),
            early: Vec::new(),
            sounding: None,
            sentences: 0,
            first_at: None,
            frames: 0,
            audible: 0,
        }
    }

    pub fn pop(&mut self) -> Option<Reply> {
        if let Some(whole) = &mut self.whole {
            *whole = whole.checked_sub(1)?;
        }
        self.queue.pop_front()
    }

    /// True if no piece may be passed on now.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() || self.whole == Some(0)
    }

    /// Sentences so far, fillers included.
    pub const fn sentences(&self) -> usize {
        self.sentences
    }

    pub const fn has_sound(&self) -> bool {
        self.frames > 0
    }

    pub const fn is_audible(&self) -> bool {
        self.audible > 0
    }

    /// True if the audible part suffices to understand a word.
    pub fn is_heard(&self) -> bool {
        FRAME.saturating_mul(self.audible) >= barge_in::ARMED_AFTER
    }

    /// True after words or silence without sound.
    pub fn is_mute(&self) -> bool {
        let is_empty = self.spoken.is_empty() && self.early.is_empty();
        !is_empty && !self.is_audible()
    }

    /// All words with sound, as written by the service.
    pub fn text(&self) -> String {
        if !self.is_audible() {
            return String::new();
        }
        let all = self.spoken.iter().map(|it| it.words.trim()).filter(|it| !it.is_empty());
        all.collect::<Vec<_>>().join(" ")
    }

    pub fn filler(&mut self, text: String, frames: &[Frame]) {
        let sentence = self.begin(text, true);
        self.frames += u32::try_from(frames.len()).unwrap_or(u32::MAX);
        self.first_at.get_or_insert_with(Instant::now);
        let frames = frames.iter().cloned().map(|frame| Reply::Audio { sentence, frame });
        self.queue.extend(frames);
        self.queue.push_back(Reply::SentenceDone { index: sentence });
    }

    /// Adds words of `item`; returns the end of its words, for detecting credentials. Ignores
    /// answers beyond [`ITEMS`].
    pub fn words(&mut self, item: &SpeechItemId, delta: String) -> &str {
        let Some(index) = self.spoken.iter().position(|it| it.item == *item) else {
            return self.early_words(item, &delta);
        };
        match self.spoken.get_mut(index) {
            Some(spoken) => {
                spoken.words.push_str(&delta);
                self.queue.push_back(Reply::Words { sentence: spoken.sentence, text: delta });
                end(&spoken.words)
            }
            None => "",
        }
    }

    /// Stores words that precede the sound of their answer.
    fn early_words(&mut self, item: &SpeechItemId, delta: &str) -> &str {
        let known = self.early.iter().position(|(it, _)| it == item);
        if known.is_none() && self.early.len() + self.spoken.len() >= ITEMS {
            return "";
        }
        let index = known.unwrap_or_else(|| {
            self.early.push((item.clone(), String::new()));
            self.early.len() - 1
        });
        match self.early.get_mut(index) {
            Some((_, words)) => {
                words.push_str(delta);
                end(words)
            }
            None => "",
        }
    }

    /// Adds sound of `item`; false if it exceeds the limit and the rest was dropped. Fails on an
    /// impossible rate, pitch or speed, or on silence in place of an answer.
    pub fn sound(&mut self, item: &SpeechItemId, sound: &Pcm) -> Result<bool, Error> {
        if self.spoken.last().is_none_or(|last| last.item != *item) {
            self.end();
            self.sentence_ends();
            let early = self.early.iter().position(|(it, _)| it == item);
            let words = early.map(|index| self.early.swap_remove(index).1).unwrap_or_default();
            let sentence = self.begin(words.clone(), false);
            let item = item.clone();
            self.spoken.push(Spoken { sentence, item, sound: Duration::ZERO, words });
        }
        let length = sound.rate.duration_of(sound.samples.len());
        if let Some(spoken) = self.spoken.last_mut() {
            spoken.sound += length;
        }
        let most = sound.rate.samples_in(self.left);
        let samples = sound.samples.get(..most).unwrap_or(&sound.samples);
        let fits = length <= self.left;
        self.left = self.left.saturating_sub(length);
        let sounding = match &mut self.sounding {
            Some(sounding) => sounding,
            none => {
                let mut sounding = Sounding::new(&self.voice, sound.rate)?;
                if let Some(levels) = &self.levels {
                    sounding.shaping.level(levels, VoiceKey::of(&self.voice));
                }
                none.insert(sounding)
            }
        };
        let frames = sounding.push(samples)?;
        self.frames_of_last(frames);
        if !self.is_audible() && self.quiet >= BLANK {
            return Err(Error::new(Kind::Protocol, "the voice model sends nothing but silence"));
        }
        Ok(fits)
    }

    pub fn end(&mut self) {
        if self.flush()
            && let Some(last) = self.spoken.last()
        {
            self.queue.push_back(Reply::SentenceDone { index: last.sentence });
        }
    }

    /// Passes the last sound on; false without any.
    fn flush(&mut self) -> bool {
        self.whole = None;
        let Some(mut sounding) = self.sounding.take() else { return false };
        if let Ok(frames) = sounding.finish() {
            self.frames_of_last(frames);
        }
        true
    }

    /// Cuts the answer that is sounding: only words that fit its sound count.
    pub fn cut(&mut self) {
        self.flush();
        // In the service's time, like its sound.
        let speed = f64::from(self.voice.speed_factor);
        let silence = FRAME.saturating_mul(self.quiet).mul_f64(speed);
        if let Some(last) = self.spoken.last_mut() {
            let heard = last.sound.saturating_sub(silence);
            let most = usize::try_from(heard.as_millis() / A_WORD).unwrap_or(usize::MAX);
            let words: Vec<&str> = last.words.split_whitespace().take(most).collect();
            last.words = words.join(" ");
        }
    }

    pub fn clear(&mut self) {
        self.queue.clear();
        (self.sounding, self.whole) = (None, None);
    }

    /// Cuts off the answer, and drops a held sentence. Playback then counts the words that fit the
    /// sound, because no end is reported.
    pub fn stop_short(&mut self) {
        let Some(whole) = self.whole.take() else {
            self.flush();
            return;
        };
        self.sounding = None;
        let rest = self.queue.split_off(whole.min(self.queue.len()));
        self.queue.extend(rest.into_iter().filter(|it| !matches!(it, Reply::Audio { .. })));
    }

    /// Marks the sound so far as a complete sentence.
    fn sentence_ends(&mut self) {
        if FRAME.saturating_mul(self.frames) >= self.at_once {
            self.whole = Some(self.queue.len());
        }
    }

    /// True if more than [`SPEECH_WAITING`] must be unplayed, even with undisturbed playback.
    pub fn is_far_ahead(&self) -> bool {
        self.ahead() > SPEECH_WAITING
    }

    /// Length of sound that cannot have been played yet, even with undisturbed playback.
    pub fn ahead(&self) -> Duration {
        let made = FRAME * self.frames;
        self.first_at.map_or(Duration::ZERO, |first| made.saturating_sub(first.elapsed()))
    }

    fn begin(&mut self, text: String, filler: bool) -> usize {
        self.queue.push_back(Reply::Sentence { text, filler });
        self.sentences += 1;
        self.sentences - 1
    }

    fn frames_of_last(&mut self, frames: Vec<Frame>) {
        let Some(sentence) = self.spoken.last().map(|it| it.sentence) else { return };
        for frame in frames {
            self.first_at.get_or_insert_with(Instant::now);
            self.frames = self.frames.saturating_add(1);
            let is_silent = vad::is_silent(frame.samples());
            self.quiet = if is_silent { self.quiet.saturating_add(1) } else { 0 };
            self.audible = self.audible.saturating_add(u32::from(!is_silent));
            self.queue.push_back(Reply::Audio { sentence, frame });
            if self.quiet == PAUSE {
                self.sentence_ends();
            }
        }
    }
}

/// The last [`END`] bytes of `words`, more than any credential.
fn end(words: &str) -> &str {
    let from = words.ceil_char_boundary(words.len().saturating_sub(END));
    words.get(from..).unwrap_or_default()
}

impl Sounding {
    fn new(voice: &Voice, rate: SampleRate) -> Result<Self, Error> {
        let is_plain = voice.pitch_shift == 0.0 && (voice.speed_factor - 1.0).abs() < f32::EPSILON;
        let shape = || Shape::new(rate, voice.pitch_shift, voice.speed_factor);
        let shape = (!is_plain).then(shape).transpose();
        let shape = shape.map_err(|it| Error::new(Kind::InvalidRequest, it.to_string()))?;
        Ok(Self { shape, shaping: Shaping::new(voice.volume), rate })
    }

    fn push(&mut self, samples: &[i16]) -> Result<Vec<Frame>, Error> {
        let mut shaped = Vec::new();
        let samples = match &mut self.shape {
            Some(shape) => {
                shape.push(samples, &mut shaped);
                shaped
            }
            None => samples.to_vec(),
        };
        self.shaping.push(&Pcm { samples, rate: self.rate })
    }

    fn finish(&mut self) -> Result<Vec<Frame>, Error> {
        let mut frames = Vec::new();
        if let Some(mut shape) = self.shape.take() {
            let mut samples = Vec::new();
            shape.finish(&mut samples);
            frames = self.shaping.push(&Pcm { samples, rate: self.rate })?;
        }
        frames.extend(self.shaping.finish());
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::props::npc;

    /// A second of voice and one of silence, spoken slowly and fast.
    #[test]
    fn silence_takes_no_words_at_any_speed() {
        for speed_factor in [0.5, 1.0, 2.0] {
            let mut npc = npc("Bartok");
            npc.voice.speed_factor = speed_factor;
            let mut out = Outgoing::new(&npc, "talker", None);
            let item = SpeechItemId("item-1".to_owned());
            out.words(&item, "One two three four five six.".to_owned());
            for level in [8_000, 0] {
                let wave = (0..48_000).map(|at| if at % 200 < 100 { level } else { -level });
                let sound = Pcm { samples: wave.collect(), rate: SampleRate::HZ_48000 };
                assert!(out.sound(&item, &sound).unwrap());
            }
            out.cut();
            assert_eq!(out.text(), "One two three", "{speed_factor}");
        }
    }
}
