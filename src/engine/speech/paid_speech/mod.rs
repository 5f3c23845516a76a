//! Speech of one turn, paid for sentence by sentence, as frames.
//!
//! Entry type: [`PaidSpeech`]. Money is reserved before a sentence is said: for its characters, and
//! for the longest sound that they may have. The characters and the sound that came are booked once
//! the sentence is spoken, cancelled or broken off. The money is given back where the service failed
//! before any sound and certainly bills nothing, or was never asked; where it failed before any
//! sound and may bill it, all of it is booked.
//!
//! Where a voice fails, the next of its list takes over and is paid for by itself. It begins with
//! the sentence that failed, or, once more than a syllable of that was heard, with the one after
//! it: nothing is said twice.

mod paid;

use std::{collections::VecDeque, future::pending, mem, sync::Arc, time::Duration};

use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};

use self::paid::Paid;
use super::{Shaping, Synthesizer};
use crate::{
    audio::Frame,
    engine::Reservation,
    logic::vad,
    provider::{
        Asked, Candidate, Error, Kind, OpenVoice, Pcm, Queue, Sentence, Spoken, Synthesis, WordEnd,
    },
};

/// Less sound than this may be said again by the next voice.
const SYLLABLE: Duration = Duration::from_millis(100);

/// Most words of a sentence that are kept before its sound; further ones are not timed.
const WORDS_MAX: usize = 1_000;

/// A piece of speech: 48 kHz mono, volume applied.
pub enum Made {
    /// The next sentence is paid for and begins.
    Begins,
    Frames(Vec<Frame>),
    Word(WordEnd),
    /// The rest of a sentence.
    Last(Vec<Frame>),
    /// The last sound of a sentence whose voice failed in its middle; another voice says the
    /// sentences that follow.
    Cut {
        frames: Vec<Frame>,
        by: Arc<str>,
        why: Error,
    },
}

pub struct PaidSpeech {
    voice: Synthesizer,
    /// Dropped before the lines, so that sentences never sent cost nothing.
    speaking: Option<Speaking>,
    /// Sentences not yet spoken, first those handed over to the voice.
    lines: VecDeque<Unsaid>,
    queue: Queue<OpenVoice>,
    /// Voices that failed, with reasons.
    failed: Vec<String>,
    /// Voices that were heard, in order, without repetition.
    spoke: Vec<Arc<str>>,
    /// The voice that was heard last, if it is not the NPC's own.
    other_voice: Option<String>,
    is_finished: bool,
}

/// The voice that speaks now.
struct Speaking {
    synthesis: Box<dyn Synthesis>,
    candidate: Candidate<OpenVoice>,
    /// `None`: it has answered.
    asked: Option<Asked>,
    /// Of the current sentence; `None` before its first sound.
    shaping: Option<Shaping>,
    /// Audible sound of the current sentence.
    sounded: Duration,
    /// Its words that wait because another voice may still say the sentence; at most [`WORDS_MAX`].
    words: VecDeque<WordEnd>,
}

struct Unsaid {
    spoken: String,
    money: Money,
    /// [`Made::Begins`] was passed on.
    has_begun: bool,
}

enum Money {
    None,
    Awaited(Reservation, BoxFuture<'static, Result<(), Error>>),
    /// The voice has the sentence.
    Paid(Paid),
    Refused(Error),
}

enum Step {
    Paid(Result<(), Error>),
    Said(Option<Result<Spoken, Error>>),
}

impl PaidSpeech {
    fn new(voice: Synthesizer) -> Self {
        Self {
            queue: voice.voices().able().queue(),
            voice,
            speaking: None,
            lines: VecDeque::new(),
            failed: Vec::new(),
            spoke: Vec::new(),
            other_voice: None,
            is_finished: false,
        }
    }

    /// Adds a sentence, for which [`Self::next`] pays.
    pub fn say(&mut self, spoken: &str) {
        let (spoken, money) = (spoken.to_owned(), Money::None);
        self.lines.push_back(Unsaid { spoken, money, has_begun: false });
    }

    /// No sentence follows.
    pub fn finish(&mut self) {
        self.is_finished = true;
        self.finish_whole();
    }

    /// The voice that speaks now, or was heard last.
    pub fn now(&self) -> Option<&Arc<str>> {
        self.speaking.as_ref().map(|it| it.candidate.name()).or_else(|| self.spoke.last())
    }

    /// Voices that were heard, in order and without repetition; and the last one, if it is not the
    /// NPC's own.
    pub fn spoke(&self) -> (Vec<Arc<str>>, Option<String>) {
        (self.spoke.clone(), self.other_voice.clone())
    }

    /// The next piece of the first sentence that is not yet spoken; `None` once there is none
    /// after [`Self::finish`], and after an error. Waits while there is no sentence. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::OverBudget`] at a spending cap, before the sentence is said; the voice's own where
    /// no other one is left.
    pub async fn next(&mut self) -> Option<Result<Made, Error>> {
        loop {
            if let Some(word) = self.speaking.as_mut().and_then(Speaking::word) {
                return Some(Ok(Made::Word(word)));
            }
            if self.lines.is_empty() && self.is_finished {
                return None;
            }
            if self.lines.front_mut().is_some_and(Unsaid::begins) {
                return Some(Ok(Made::Begins));
            }
            if let Err(error) = self.reserve() {
                return Some(Err(self.end(error)));
            }
            match self.step().await {
                Step::Paid(paid) => self.hand_over(paid),
                Step::Said(said) => {
                    if let Some(made) = self.take(said) {
                        return Some(made);
                    }
                }
            }
        }
    }

    /// Number of sentences that the voice has.
    fn handed_over(&self) -> usize {
        self.lines.iter().take_while(|line| matches!(line.money, Money::Paid(_))).count()
    }

    /// Reserves money for the first sentence that the voice does not have; fails if there is none
    /// and the voice is silent.
    fn reserve(&mut self) -> Result<(), Error> {
        let at = self.handed_over();
        if self.lines.get(at).is_none() {
            return Ok(());
        }
        if self.speaking.is_none() {
            self.open_next();
        }
        let (Some(speaking), Some(line)) = (&self.speaking, self.lines.get_mut(at)) else {
            return Err(Error::new(Kind::Missing, "no voice is left (set the NPC's voice)"));
        };
        if matches!(line.money, Money::None) {
            let reserved = self.voice.reserve(speaking.candidate.service(), &line.spoken);
            line.money = match reserved {
                Ok(reserved) => {
                    let ready = reserved.ready().boxed();
                    Money::Awaited(reserved, ready)
                }
                Err(refused) => Money::Refused(refused),
            };
        }
        match &line.money {
            Money::Refused(refused) if at == 0 => Err(refused.clone()),
            _ => Ok(()),
        }
    }

    /// Waits for money or sound. Cancel safe.
    async fn step(&mut self) -> Step {
        let at = self.handed_over();
        let ready = match self.lines.get_mut(at).map(|line| &mut line.money) {
            Some(Money::Awaited(_, ready)) => Some(ready),
            _ => None,
        };
        let synthesis = self.speaking.as_mut().filter(|_| at > 0).map(|it| &mut it.synthesis);
        tokio::select! {
            biased;
            paid = async { match ready { Some(ready) => ready.await, None => pending().await } } => {
                Step::Paid(paid)
            }
            said = async {
                match synthesis { Some(voice) => voice.next().await, None => pending().await }
            } => Step::Said(said),
        }
    }

    /// Hands the first sentence that the voice does not have to it, once it is `paid`.
    fn hand_over(&mut self, paid: Result<(), Error>) {
        let (at, is_last) = (self.handed_over(), !self.queue.has_more());
        let (Some(speaking), Some(line)) = (&mut self.speaking, self.lines.get_mut(at)) else {
            return;
        };
        line.money = match (mem::replace(&mut line.money, Money::None), paid) {
            (Money::Awaited(reserved, _), Ok(())) => {
                let attempts = reserved.attempts();
                speaking.synthesis.say(Sentence {
                    text: line.spoken.clone(),
                    foreign: self.voice.foreign(&line.spoken),
                    attempts: if is_last { attempts } else { attempts.once() },
                });
                Money::Paid(Paid::new(reserved))
            }
            (_, Err(refused)) => Money::Refused(refused),
            (other, Ok(())) => other,
        };
        self.finish_whole();
    }

    /// Finishes the voice once it has all sentences.
    fn finish_whole(&mut self) {
        if self.is_finished && self.handed_over() == self.lines.len() {
            self.speaking.iter_mut().for_each(|it| it.synthesis.finish());
        }
    }

    /// Opens the next voice; false if none is left.
    fn open_next(&mut self) -> bool {
        let Some((candidate, asked)) = self.queue.take() else { return false };
        self.speaking = Some(Speaking {
            synthesis: candidate.service().open(self.voice.setup()),
            candidate,
            asked: Some(asked),
            shaping: None,
            sounded: Duration::ZERO,
            words: VecDeque::new(),
        });
        true
    }

    /// Takes a piece from the voice; `None`: nothing to pass on yet.
    fn take(&mut self, said: Option<Result<Spoken, Error>>) -> Option<Result<Made, Error>> {
        let speaking = self.speaking.as_mut()?;
        match said {
            Some(Ok(Spoken::Word(word))) => {
                if speaking.words.len() < WORDS_MAX {
                    speaking.words.push_back(word);
                }
                None
            }
            Some(Ok(Spoken::Sound(pcm))) => {
                if let Some(Unsaid { money: Money::Paid(paid), .. }) = self.lines.front_mut() {
                    paid.take(&pcm);
                }
                let is_first = speaking.shaping.is_none();
                match speaking.shape(&pcm, &self.voice) {
                    Ok(frames) => {
                        if is_first {
                            self.heard();
                        }
                        Some(Ok(Made::Frames(frames)))
                    }
                    Err(error) => self.fail(error),
                }
            }
            Some(Ok(Spoken::Done)) => {
                let frames = speaking.end_sentence();
                self.lines.pop_front();
                Some(Ok(Made::Last(frames)))
            }
            Some(Err(error)) => self.fail(error),
            None => self.fail(Error::new(Kind::Protocol, "the voice ended before its sentence")),
        }
    }

    /// Notes the voice of a sentence at its first sound.
    fn heard(&mut self) {
        let Some(Speaking { candidate, .. }) = &self.speaking else { return };
        if !self.spoke.contains(candidate.name()) {
            self.spoke.push(Arc::clone(candidate.name()));
        }
        let own = self.voice.voices().iter().next();
        let is_own = own.is_some_and(|own| Arc::ptr_eq(own.service(), candidate.service()));
        let named = || format!("{} {}", candidate.name(), candidate.service().voice().voice_id);
        self.other_voice = (!is_own).then(named);
    }

    /// Lets the next voice take over; an error if none may.
    fn fail(&mut self, error: Error) -> Option<Result<Made, Error>> {
        let mut failed = self.speaking.take()?;
        failed.note(&error);
        let has_sounded = failed.shaping.is_some();
        let (name, is_cut) = (Arc::clone(failed.candidate.name()), failed.sounded >= SYLLABLE);
        // A missing voice was logged when it was found missing.
        let is_known = failed.candidate.service().lacks().is_some();
        let frames = failed.end_sentence();
        // Gives back what was never sent.
        drop(failed);
        for (at, line) in self.lines.iter_mut().enumerate() {
            match mem::replace(&mut line.money, Money::None) {
                Money::Paid(paid) if at == 0 && !has_sounded => paid.failed(error.kind()),
                Money::Awaited(reserved, _) => reserved.unused(),
                // The rest is booked.
                _ => {}
            }
        }
        // Another voice would not be paid for either.
        if error.kind() == Kind::OverBudget {
            return Some(Err(self.end(error)));
        }
        self.failed.push(format!("{name}: {error}"));
        if !self.open_next() {
            return Some(Err(self.end(error)));
        }
        if let Some(Speaking { candidate, .. }) = self.speaking.as_ref().filter(|_| !is_known) {
            let (provider, voice) = (&**candidate.name(), &candidate.service().voice().voice_id);
            tracing::warn!(%error, provider, voice, "an NPC speaks in its fallback voice");
        }
        if !is_cut {
            return None;
        }
        self.lines.pop_front();
        Some(Ok(Made::Cut { frames, by: name, why: error }))
    }

    /// The error of the turn; nothing more is said.
    fn end(&mut self, error: Error) -> Error {
        self.speaking = None;
        self.lines.clear();
        self.is_finished = true;
        match self.failed.len() {
            0 | 1 => error,
            _ if error.kind() == Kind::OverBudget => error,
            _ => Error::new(error.kind(), self.failed.join("; ")),
        }
    }
}

impl Synthesizer {
    /// Speech of one turn.
    pub fn open(&self) -> PaidSpeech {
        PaidSpeech::new(self.clone())
    }

    /// Frames of one sentence by itself at 48 kHz, volume applied. Ends with an error at a spending
    /// cap, before any request.
    pub fn synthesise(&self, spoken: &str) -> BoxStream<'static, Result<Vec<Frame>, Error>> {
        let mut speech = self.open();
        speech.say(spoken);
        speech.finish();
        let frames = stream::unfold(Some(speech), |speech| async {
            let mut speech = speech?;
            loop {
                match speech.next().await? {
                    Ok(Made::Frames(frames)) => return Some((Ok(frames), Some(speech))),
                    Ok(Made::Last(frames)) => return Some((Ok(frames), None)),
                    Ok(Made::Begins | Made::Word(_)) => {}
                    Ok(Made::Cut { why, .. }) | Err(why) => return Some((Err(why), None)),
                }
            }
        });
        frames.boxed()
    }
}

impl Speaking {
    /// Frames of a chunk of the current sentence.
    fn shape(&mut self, pcm: &Pcm, by: &Synthesizer) -> Result<Vec<Frame>, Error> {
        let voice = self.candidate.service().voice();
        let frames = self.shaping.get_or_insert_with(|| by.shaping(voice)).push(pcm)?;
        if !vad::is_silent(&pcm.samples) {
            self.sounded += pcm.rate.duration_of(pcm.samples.len());
            self.answered();
        }
        Ok(frames)
    }

    /// The next word, once no other voice may say the sentence.
    fn word(&mut self) -> Option<WordEnd> {
        if self.sounded >= SYLLABLE { self.words.pop_front() } else { None }
    }

    /// The rest of the current sentence.
    fn end_sentence(&mut self) -> Vec<Frame> {
        self.words.clear();
        self.sounded = Duration::ZERO;
        self.shaping.take().map(|mut it| it.finish()).unwrap_or_default()
    }

    fn answered(&mut self) {
        if let Some(mut asked) = self.asked.take() {
            // Waits matter to hedged chains alone.
            asked.answered(false);
        }
    }

    /// Notes why the current sentence failed. A missing voice says nothing about its service.
    fn note(&mut self, error: &Error) {
        let asked = self.asked.take();
        if error.kind() != Kind::Missing {
            asked.unwrap_or_else(|| self.candidate.ask_anyway()).failed(error);
        }
    }
}

impl Unsaid {
    /// True once, when the voice has the sentence.
    fn begins(&mut self) -> bool {
        matches!(self.money, Money::Paid(_)) && !mem::replace(&mut self.has_begun, true)
    }
}

/// Gives back the money of a sentence that was never sent.
impl Drop for Unsaid {
    fn drop(&mut self) {
        if let Money::Awaited(reserved, _) = mem::replace(&mut self.money, Money::None) {
            reserved.unused();
        }
    }
}

#[cfg(test)]
mod tests;
