//! One utterance on its way through a recogniser, or through several until one understands it.
//!
//! Entry type: [`Recognition`]. It keeps the sound: when a recogniser fails, the next one gets all
//! of it ([`Recognition::fall_over`]), and the words of the one that failed are forgotten.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    clock::{Received, SoundTime},
    input::PREROLL_FRAMES,
    judging::Judging,
    recogniser::{Candidates, News, Recogniser, RecognitionEvent},
    sending::{SOUND_CAPACITY, Sending},
    speakers::SpeakerId,
    utterance::{Apart, Utterance, taken},
};
use crate::{
    audio::Frame,
    logic::vad,
    provider::{Error, Kind, TurnJudge},
};

/// A partial unchanged for this long may start a guess; one that reads finished needs no wait.
const STABLE: Duration = Duration::from_millis(150);
/// Minimum pause before a guess; shorter pauses are breaths.
const PAUSE: Duration = Duration::from_millis(100);
/// Like [`PAUSE`], for a partial that was stable before the voice ended.
const SHORT_PAUSE: Duration = Duration::from_millis(40);
/// Silence sent after each word. The rest is withheld until speech continues, so that the
/// recogniser can use the pause to revise.
const SILENCE: Duration = Duration::from_millis(120);

pub struct Recognition {
    /// Number within the pipeline, from 1.
    pub id: u64,
    speaker: SpeakerId,
    recogniser: Recogniser,
    /// Those that hear it if the one that hears it now fails.
    others: Candidates,
    /// Those that failed, with reasons.
    failed: Vec<String>,
    sending: Sending,
    /// Its sound, after that of what it continues.
    sound: VecDeque<Frame>,
    /// Frames of its own, including those dropped from [`Self::sound`].
    own: usize,
    /// Frames with a voice, including those dropped from [`Self::sound`].
    voiced: u32,
    /// True if [`Self::sound`] may contain a voice.
    audible: bool,
    withheld: Vec<Frame>,
    /// True if it continues another after more than a pause.
    pub apart: bool,
    pub before: String,
    before_began: Option<Instant>,
    /// First voice, by sound or by clock, whichever is earlier.
    began: Option<Instant>,
    pub partial: String,
    partial_at: Option<SoundTime>,
    is_eager: bool,
    pub partials: u32,
    pub speech_end: Instant,
    voiced_at: SoundTime,
    judging: Judging,
    pub closed_at: Option<Instant>,
    pub text: Option<String>,
    pub parked: bool,
    pub offered: bool,
}

impl Recognition {
    /// Starts recognition `id` of `speaker`. Fails if the budget refuses.
    pub fn start(
        id: u64,
        speaker: SpeakerId,
        recogniser: &Recogniser,
        at: Received,
    ) -> Result<Self, Error> {
        let mut others = recogniser.candidates();
        let none = || Error::new(Kind::Missing, "no recogniser is configured (set providers.stt)");
        let by = others.ask().ok_or_else(none)?;
        Ok(Self {
            id,
            speaker,
            recogniser: recogniser.clone(),
            others,
            failed: Vec::new(),
            sending: Sending::start(by, id, speaker, at.clock)?,
            sound: VecDeque::new(),
            own: 0,
            voiced: 0,
            audible: false,
            withheld: Vec::new(),
            apart: false,
            before: String::new(),
            before_began: None,
            began: None,
            partial: String::new(),
            partial_at: None,
            is_eager: false,
            partials: 0,
            speech_end: at.clock,
            voiced_at: at.sound,
            judging: Judging::default(),
            closed_at: None,
            text: None,
            parked: false,
            offered: false,
        })
    }

    pub fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<RecognitionEvent> {
        if let Poll::Ready(judgement) = self.judging.poll(context) {
            let news = News::Sounds(judgement);
            return Poll::Ready(RecognitionEvent { recognition: self.id, news });
        }
        let recognition = self.id;
        self.sending.poll(context).map(|news| RecognitionEvent { recognition, news })
    }

    /// Gives the whole utterance to the next recogniser; `error` has ended the present one. Fails
    /// if no other can hear it.
    pub fn fall_over(&mut self, error: Error, now: Instant) -> Result<(), Error> {
        self.sending.fail(&error);
        self.failed.push(format!("{}: {error}", self.sending.by().name()));
        let next = if error.kind().falls_over() { self.others.ask() } else { None };
        let Some(next) = next else { return Err(self.reason(error)) };
        let name = next.name();
        tracing::warn!(%error, next = &*name, "another recogniser hears an utterance");
        match Sending::start(next, self.id, self.speaker, now) {
            Ok(sending) => self.sending = sending,
            // A spent budget ends it.
            Err(refused) => {
                self.failed.push(format!("{name}: {refused}"));
                return Err(self.reason(refused));
            }
        }
        self.send_again(now);
        Ok(())
    }

    /// `last` with the reasons of the others.
    fn reason(&self, last: Error) -> Error {
        match self.failed.len() {
            0 | 1 => last,
            _ => Error::new(last.kind(), self.failed.join("; ")),
        }
    }

    /// Sends its sound to a recogniser that knows nothing yet.
    fn send_again(&mut self, now: Instant) {
        self.partial.clear();
        (self.partial_at, self.is_eager, self.offered, self.text) = (None, false, false, None);
        if self.is_endless() {
            self.withheld.clear();
        }
        let own = self.own.min(self.sound.len());
        (0..own).for_each(|_| self.sending.count());
        let frames = self.sound.iter().skip(self.sound.len() - own);
        self.sending.feed(frames.take(own.saturating_sub(self.withheld.len())).cloned());
        if self.closed_at.is_some() {
            self.close(now);
        }
    }

    /// True if it is between two utterances of a stream that another recogniser may continue.
    pub fn is_idle(&self) -> bool {
        self.is_endless() && !self.audible && !self.sending.by().is_alone()
    }

    /// Notes that its recogniser failed between two utterances.
    pub fn fail(&mut self, error: &Error) {
        self.sending.fail(error);
    }

    /// True if its recogniser ends utterances itself.
    pub fn is_endless(&self) -> bool {
        self.sending.by().is_endless()
    }

    /// Takes 20 ms. Withholds long silence if the table ends utterances.
    pub fn feed(&mut self, at: Received, frame: &Frame, voiced: bool) {
        if voiced {
            self.began.get_or_insert(at.sound.0.min(at.clock));
            self.speech_end = at.clock;
            self.voiced_at = at.sound;
            self.voiced = self.voiced.saturating_add(1);
        }
        self.judging.feed(voiced);
        self.sending.count();
        self.keep(frame);
        self.withheld.push(frame.clone());
        if !self.is_endless() && at.sound > self.voiced_at + SILENCE {
            return;
        }
        self.sending.feed(self.withheld.drain(..));
    }

    /// Stores a frame for the turn. A streaming recognition is mostly silence, a megabyte every 30
    /// s, so only a pre-roll of the silence before a voice is kept.
    fn keep(&mut self, frame: &Frame) {
        self.audible |= !self.is_endless() || !vad::is_silent(frame.samples());
        let most = if self.audible { SOUND_CAPACITY } else { PREROLL_FRAMES };
        while self.sound.len() >= most {
            self.sound.pop_front();
        }
        self.sound.push_back(frame.clone());
        self.own = self.own.saturating_add(1);
    }

    /// Sound of the utterance and of what it continues; `None` without a voice.
    pub fn sound(&self) -> Option<&VecDeque<Frame>> {
        self.audible.then_some(&self.sound)
    }

    pub const fn voiced(&self) -> u32 {
        self.voiced
    }

    /// True if the recogniser has taken no sound for too long.
    pub fn is_stuck(&mut self, now: Instant) -> bool {
        self.sending.is_stuck(now)
    }

    /// Time at which [`Self::is_stuck`] may become true.
    pub fn stuck_at(&self) -> Instant {
        self.sending.stuck_at()
    }

    pub fn close(&mut self, now: Instant) {
        self.closed_at = Some(now);
        self.sending.close();
    }

    pub fn is_drained(&self) -> bool {
        self.sending.is_drained()
    }

    pub fn read(&mut self, at: SoundTime, partial: String) {
        self.partial = partial;
        self.partials += 1;
        self.partial_at = Some(at);
        self.is_eager = false;
        self.offered = false;
        self.audible = true;
    }

    /// Processes a text that is probably complete, of the sound until `at`.
    pub fn nearly_over(&mut self, at: SoundTime, text: String) {
        if text != self.partial {
            self.read(at, text);
        }
        (self.partial_at, self.is_eager) = (Some(at), true);
    }

    pub fn resumed(&mut self, at: SoundTime) {
        (self.partial_at, self.is_eager, self.offered) = (Some(at), false, false);
    }

    /// True if the recogniser has partial text without an end.
    pub fn is_half_understood(&self) -> bool {
        self.is_endless() && !self.partial.is_empty()
    }

    pub fn voiced_at(&self) -> SoundTime {
        self.voiced_at
    }

    /// Time of its first voice.
    pub const fn began(&self) -> Option<Instant> {
        self.began
    }

    pub fn is_pausing(&self, at: SoundTime) -> bool {
        at >= self.voiced_at + PAUSE
    }

    /// Processes a text that covers all sound, in a pause: it may start a guess at once.
    pub fn paused(&mut self, text: String) {
        if text != self.partial {
            self.read(self.voiced_at, text);
        }
        self.partial_at = Some(self.voiced_at);
    }

    pub fn judge_at(&self) -> Option<SoundTime> {
        self.judging.due(self.voiced_at)
    }

    pub fn ask(&mut self, judge: &dyn TurnJudge) {
        self.judging.ask(judge, self.voiced_at, self.sound.iter());
    }

    /// Ends the utterance; a streaming recognition continues with the next.
    pub fn cut(&mut self, text: String, now: Instant) -> Utterance {
        self.partial.clear();
        (self.partial_at, self.is_eager, self.offered) = (None, false, false);
        self.audible = false;
        self.others = self.recogniser.others(self.sending.by());
        self.failed.clear();
        self.own = 0;
        let raw = self.joined(&text);
        self.before.clear();
        let began = self.began.take().unwrap_or(self.speech_end);
        Utterance {
            raw,
            understood_by: Some(self.sending.by().name()),
            began: self.before_began.take().unwrap_or(began),
            partials: std::mem::take(&mut self.partials),
            final_at: Some(now),
            voiced: std::mem::take(&mut self.voiced),
            audio: Vec::from(std::mem::take(&mut self.sound)).into(),
            ..Utterance::unknown(self.speaker, self.speech_end)
        }
    }

    /// Processes a final text. A recogniser that ends utterances itself may give several of a
    /// closed one.
    pub fn conclude(&mut self, text: String) {
        let before = self.text.take().filter(|before| self.is_endless() && !before.is_empty());
        self.text = Some(match before {
            Some(before) => format!("{before} {text}"),
            None => text,
        });
    }

    /// Time from which the partial may start a guess, unless it was offered. `finished`: its words
    /// are.
    pub fn stable_at(&self, finished: bool) -> Option<SoundTime> {
        let since = self.partial_at.filter(|_| !self.offered && !self.partial.is_empty())?;
        if self.is_eager {
            return Some(since);
        }
        let stable = if finished { since } else { since + STABLE };
        let was_stable = since + STABLE <= self.voiced_at;
        Some(stable.max(self.voiced_at + if was_stable { SHORT_PAUSE } else { PAUSE }))
    }

    /// Allows another guess on the same partial: the seat has become free.
    pub const fn offer_again(&mut self) {
        self.offered = false;
    }

    pub fn offer(&mut self) -> Utterance {
        self.offered = true;
        Utterance {
            raw: self.joined(&self.partial),
            understood_by: Some(self.sending.by().name()),
            partials: self.partials,
            audio: self.sound.iter().cloned().collect(),
            voiced: self.voiced,
            ..Utterance::unknown(self.speaker, self.speech_end)
        }
    }

    pub fn continue_after(&mut self, before: Utterance) {
        self.before = before.raw;
        self.before_began = Some(before.began);
        self.voiced = self.voiced.saturating_add(before.voiced);
        let room = SOUND_CAPACITY.saturating_sub(self.sound.len());
        let sound = before.audio.iter().rev().take(room);
        sound.for_each(|frame| self.sound.push_front(frame.clone()));
    }

    fn joined(&self, text: &str) -> String {
        match (self.before.is_empty(), text.is_empty()) {
            (true, _) => taken(text),
            (false, true) => self.before.clone(),
            (false, false) => taken(&format!("{} {text}", self.before)),
        }
    }

    pub fn into_utterance(mut self, now: Instant) -> Utterance {
        let began = self.began.unwrap_or(self.speech_end);
        let apart = self.text.as_deref().filter(|_| self.apart);
        Utterance {
            raw: self.joined(self.text.as_deref().unwrap_or_default()),
            understood_by: Some(self.sending.by().name()),
            apart: apart.map(|text| Apart { text: taken(text), began }),
            began: self.before_began.unwrap_or(began),
            partials: self.partials,
            final_at: Some(now),
            voiced: self.voiced,
            audio: Vec::from(std::mem::take(&mut self.sound)).into(),
            ..Utterance::unknown(self.speaker, self.speech_end)
        }
    }
}
