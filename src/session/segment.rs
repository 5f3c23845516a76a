//! One turn's speech, and its played part.
//!
//! Entry type: [`Segment`]. Spoken text follows the audible sound: a complete sentence whose
//! audible frames all left counts whole. Otherwise the words are those that ended by the times
//! that the voice gave; without times they are in proportion to the audible frames that left, at
//! [`FRAMES_A_WORD`] per word while the sentence is incomplete. Trailing silence speaks no words.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::{
    audio::{FRAME, Frame},
    domain::TurnId,
    engine::{PlayedPart, Position},
    logic::vad,
    provider::WordEnd,
};

/// Estimated frames per word of a sentence that has not all arrived.
const FRAMES_A_WORD: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePosition {
    /// The game master's own words: before all others, including the current turn.
    pub urgent: bool,
    pub said_at: Instant,
}

pub struct Segment {
    pub turn: TurnId,
    pub npc: String,
    pub place: QueuePosition,
    pub released: bool,
    pub whole: bool,
    /// Played to its end and about to be closed.
    pub done: bool,
    /// When its first frame arrived, or the news of none.
    pub ready_at: Option<Instant>,
    /// Frames to play, with the index of their sentence.
    pub frames: VecDeque<(usize, Frame)>,
    pub sentences: Vec<Sentence>,
    pub played: usize,
    pub played_at: Option<Instant>,
}

#[derive(Default)]
pub struct Sentence {
    pub text: String,
    /// Covers a wait; not part of the answer.
    pub filler: bool,
    /// Spoken in place of an answer.
    pub instead: bool,
    pub frames: usize,
    /// Frames that arrived, without trailing silence.
    pub audible: usize,
    pub played: usize,
    pub whole: bool,
    /// In order, where the voice gives them.
    pub word_ends: Vec<WordEnd>,
}

impl Segment {
    pub fn new(turn: TurnId, npc: &str, place: QueuePosition) -> Self {
        Self {
            turn,
            npc: npc.to_owned(),
            place,
            released: false,
            whole: false,
            done: false,
            ready_at: None,
            frames: VecDeque::new(),
            sentences: Vec::new(),
            played: 0,
            played_at: None,
        }
    }

    pub fn order(&self) -> (bool, Instant, TurnId) {
        (!self.place.urgent, self.place.said_at, self.turn)
    }

    /// Subtracts the last `frames`, which did not leave after all.
    pub fn take_back(&mut self, mut frames: usize) {
        frames = frames.min(self.played);
        self.played -= frames;
        for sentence in self.sentences.iter_mut().rev() {
            let back = frames.min(sentence.played);
            sentence.played -= back;
            frames -= back;
        }
    }

    pub fn played_part(&self) -> PlayedPart {
        let spoken = |is_wanted: fn(&Sentence) -> bool| {
            let wanted = self.sentences.iter().filter(|sentence| is_wanted(sentence));
            wanted.filter_map(Sentence::spoken).collect::<Vec<_>>().join(" ")
        };
        let (text, instead) = (spoken(|it| !it.filler && !it.instead), spoken(|it| it.instead));
        let last = self.sentences.iter().rposition(|sentence| sentence.played > 0);
        let position = last.and_then(|sentence| {
            let into = sound(self.sentences.get(sentence)?.played);
            Some(Position { sentence, into })
        });
        let answer = self.sentences.iter().filter(|it| !it.filler && !it.instead);
        let answered = sound(answer.map(Sentence::audible_frames).sum());
        PlayedPart { text, instead, audio: sound(self.played), answered, position }
    }
}

fn sound(frames: usize) -> Duration {
    FRAME.saturating_mul(u32::try_from(frames).unwrap_or(u32::MAX))
}

impl Sentence {
    pub fn take(&mut self, frame: &Frame) {
        self.frames += 1;
        if !vad::is_silent(frame.samples()) {
            self.audible = self.frames;
        }
    }

    fn audible_frames(&self) -> usize {
        self.played.min(self.audible)
    }

    fn spoken(&self) -> Option<String> {
        let heard = self.audible_frames();
        if heard == 0 {
            return None;
        }
        if self.whole && heard >= self.audible {
            return Some(self.text.trim().to_owned());
        }
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let kept = self.timed(heard, words.len()).unwrap_or_else(|| {
            let known = if self.whole { self.audible } else { words.len() * FRAMES_A_WORD };
            words.len() * heard / self.audible.max(known).max(1)
        });
        let kept = kept.min(words.len());
        (kept > 0).then(|| format!("{}…", words[..kept].join(" ")))
    }

    /// Words of `all` that end within `heard` frames; `None`: the voice times no words.
    fn timed(&self, heard: usize, all: usize) -> Option<usize> {
        if self.word_ends.is_empty() {
            return None;
        }
        let ended = self.word_ends.iter().take_while(|word| word.at <= sound(heard)).last();
        let words = ended.map_or(0.0, |word| word.part) * all as f32;
        Some((1..=all).take_while(|nth| *nth as f32 - 0.5 <= words).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::SampleRate;

    const TEXT: &str = "One two three four five six seven eight nine.";

    /// Played part of a sentence with a second of voice at `level` and two seconds of silence, of
    /// which `played` frames left.
    fn heard(level: i16, is_whole: bool, played: usize) -> PlayedPart {
        let place = QueuePosition { urgent: false, said_at: Instant::now() };
        let mut segment = Segment::new(TurnId(1), "Bartok", place);
        let mut sentence = Sentence { text: TEXT.to_owned(), ..Sentence::default() };
        let rate = SampleRate::HZ_48000;
        let voice = Frame::new(vec![level; rate.frame_len()], rate).unwrap();
        (0..50).for_each(|_| sentence.take(&voice));
        (0..100).for_each(|_| sentence.take(&Frame::silence(rate)));
        (sentence.played, sentence.whole, segment.played) = (played, is_whole, played);
        segment.sentences.push(sentence);
        segment.played_part()
    }

    #[test]
    fn silence_behind_words_speaks_none() {
        for played in [50, 150] {
            let heard = heard(8_000, false, played);
            assert_eq!((heard.text.as_str(), heard.answered), ("One two three…", FRAME * 50));
        }
        assert_eq!(heard(8_000, true, 60).text, TEXT, "cut off in the silence at its end");
        assert_eq!(heard(8_000, true, 49).text, "One two three four five six seven eight…");
    }

    #[test]
    fn timed_words_are_heard_when_they_end() {
        let ends = [(200, 0.2), (1_400, 0.6), (1_900, 1.0)];
        let word = |(ms, part)| WordEnd { at: Duration::from_millis(ms), part };
        let mut sentence =
            Sentence { text: "Aye, well met, old friend.".to_owned(), ..Sentence::default() };
        sentence.word_ends = ends.map(word).to_vec();
        (sentence.frames, sentence.audible) = (100, 95);
        let spoken = |played| Sentence {
            played,
            word_ends: sentence.word_ends.clone(),
            text: sentence.text.clone(),
            ..sentence
        };
        assert_eq!(spoken(9).spoken(), None);
        assert_eq!(spoken(60).spoken().as_deref(), Some("Aye,…"));
        assert_eq!(spoken(70).spoken().as_deref(), Some("Aye, well met,…"));
    }

    #[test]
    fn silence_alone_is_not_heard() {
        for is_whole in [false, true] {
            let heard = heard(0, is_whole, 150);
            assert_eq!((heard.text.as_str(), heard.answered), ("", Duration::ZERO));
            assert_eq!(heard.audio, FRAME * 150);
        }
    }
}
