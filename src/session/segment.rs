//! One turn's speech: what is there of it, and how much of it left.
//!
//! Entry type: [`Segment`]. Words count as heard by the sound that can be heard: silence at the end of what came
//! of a sentence speaks none of them. **Never**: knows what else is played.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::{
    audio::{FRAME, Frame},
    domain::TurnId,
    engine::{PlayedPart, Position},
    logic::vad,
};

/// Length of a word whose sound is not all there yet, in frames.
const FRAMES_A_WORD: usize = 15;

/// Position of a turn in the order of playing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePosition {
    /// The game master's words: before all others, also those being played.
    pub urgent: bool,
    /// End of the utterance it answers.
    pub said_at: Instant,
}

/// The speech of one turn.
pub struct Segment {
    /// The turn it is of.
    pub turn: TurnId,
    /// The NPC that speaks it.
    pub npc: String,
    /// Position in the order of playing.
    pub place: QueuePosition,
    /// It may be played.
    pub released: bool,
    /// Nothing more comes.
    pub whole: bool,
    /// Played to its end and about to be closed.
    pub done: bool,
    /// Arrival of its first frame, or of the news that none comes.
    pub ready_at: Option<Instant>,
    /// Frames that have not left, each with the number of its sentence.
    pub frames: VecDeque<(usize, Frame)>,
    /// Its sentences so far.
    pub sentences: Vec<Sentence>,
    /// Frames that left.
    pub played: usize,
    /// Time at which the last of them left.
    pub played_at: Option<Instant>,
}

/// A sentence of it.
#[derive(Default)]
pub struct Sentence {
    /// Its text.
    pub text: String,
    /// It covers a wait, and is not part of the answer.
    pub filler: bool,
    /// It is said in place of an answer.
    pub instead: bool,
    /// Frames that came.
    pub frames: usize,
    /// Frames that came, without the silence at their end.
    pub audible: usize,
    /// Frames that left.
    pub played: usize,
    /// No more frames come.
    pub whole: bool,
}

impl Segment {
    /// Nothing is there yet.
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

    /// Smaller is played earlier.
    pub fn order(&self) -> (bool, Instant, TurnId) {
        (!self.place.urgent, self.place.said_at, self.turn)
    }

    /// The last `frames` of what was played did not leave after all.
    pub fn take_back(&mut self, mut frames: usize) {
        frames = frames.min(self.played);
        self.played -= frames;
        for sentence in self.sentences.iter_mut().rev() {
            let back = frames.min(sentence.played);
            sentence.played -= back;
            frames -= back;
        }
    }

    /// The part of it that has left for the listeners.
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

/// Duration of so many frames.
fn sound(frames: usize) -> Duration {
    FRAME.saturating_mul(u32::try_from(frames).unwrap_or(u32::MAX))
}

impl Sentence {
    /// Its next frame has come.
    pub fn take(&mut self, frame: &Frame) {
        self.frames += 1;
        if !vad::is_silent(frame.samples()) {
            self.audible = self.frames;
        }
    }

    /// Frames that left, without the silence at the end.
    fn audible_frames(&self) -> usize {
        self.played.min(self.audible)
    }

    /// The words that left: all of them, or as many as the part of the sound that left.
    fn spoken(&self) -> Option<String> {
        let heard = self.audible_frames();
        if heard == 0 {
            return None;
        }
        if self.whole && heard >= self.audible {
            return Some(self.text.trim().to_owned());
        }
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let known = if self.whole { self.audible } else { words.len() * FRAMES_A_WORD };
        let kept = words.len() * heard / self.audible.max(known).max(1);
        let kept = kept.min(words.len());
        (kept > 0).then(|| format!("{}…", words[..kept].join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::SampleRate;

    const TEXT: &str = "One two three four five six seven eight nine.";

    /// What was heard of a sentence of a second of voice at `level` and two seconds of silence, of which `played`
    /// frames left.
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
    fn silence_alone_is_not_heard() {
        for is_whole in [false, true] {
            let heard = heard(0, is_whole, 150);
            assert_eq!((heard.text.as_str(), heard.answered), ("", Duration::ZERO));
            assert_eq!(heard.audio, FRAME * 150);
        }
    }
}
