//! One utterance on its way through a recogniser.
//!
//! Entry type: [`Recognition`]. Sound waits here until money for it is reserved; the reservation is
//! polled together with the recogniser's events.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{
    future::FutureExt,
    stream::{BoxStream, StreamExt},
};
use tokio::{sync::mpsc, time::Instant};

use super::{
    clock::{Received, SoundTime},
    input::PREROLL_FRAMES,
    judging::Judging,
    recogniser::{Covered, News, PAID_FRAMES, Recogniser, RecognitionEvent, covered},
    speakers::SpeakerId,
    utterance::{Apart, Utterance, taken},
};
use crate::{
    audio::{FRAME, Frame},
    engine::Reservation,
    logic::{budget::Consumption, vad},
    provider::{Error, SpeechEvent, TurnJudge},
};

/// Frames that a recogniser may lag behind, and that are stored per utterance: 32 s, the longest
/// utterance. Of a longer one the newest are kept; a frame sent to a recogniser that lags further
/// is lost with a warning.
const SOUND_CAPACITY: usize = 1_600;
/// A partial unchanged for this long may start a guess.
const STABLE: Duration = Duration::from_millis(150);
/// Minimum pause before a guess; shorter pauses are breaths.
const PAUSE: Duration = Duration::from_millis(100);
/// Silence sent after each word. The rest is withheld until speech continues, so that the
/// recogniser can use the pause to revise.
const SILENCE: Duration = Duration::from_millis(120);
/// A recogniser that takes no sound for this long never will: other utterances it may be busy with
/// are shorter.
const STUCK: Duration = Duration::from_secs(35);

pub struct Recognition {
    /// Number within the pipeline, from 1.
    pub id: u64,
    recogniser: Recogniser,
    to: Option<mpsc::Sender<Frame>>,
    /// Receiver of [`Self::to`] and its speaker, until the first sound is paid for.
    unopened: Option<(SpeakerId, mpsc::Receiver<Frame>)>,
    /// `None`: not open yet, or ended. Dropping the stream closes the recogniser.
    events: Option<BoxStream<'static, Result<SpeechEvent, Error>>>,
    held: Option<Reservation>,
    /// Resolves once [`Self::held`] may be spent; `None`: it may.
    paying: Option<Covered>,
    unpaid: VecDeque<Frame>,
    endless: bool,
    /// Its sound, after that of what it continues.
    sound: VecDeque<Frame>,
    /// Frames with a voice, including those dropped from [`Self::sound`].
    voiced: u32,
    /// True if [`Self::sound`] may contain a voice.
    audible: bool,
    withheld: Vec<Frame>,
    /// Frames not paid for finally.
    frames: u32,
    all_frames: Arc<AtomicU32>,
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
    /// Frames sent, and how many of them the recogniser had taken at the last check.
    sent: usize,
    taken: usize,
    /// Last time the recogniser took a frame, or had taken all.
    taken_at: Instant,
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
        let held = recogniser.reserve()?;
        let (to, audio) = mpsc::channel(SOUND_CAPACITY);
        let mut started = Self {
            id,
            recogniser: recogniser.clone(),
            to: Some(to),
            unopened: Some((speaker, audio)),
            events: None,
            all_frames: Arc::default(),
            paying: covered(&held),
            held: Some(held),
            unpaid: VecDeque::new(),
            endless: recogniser.stt.abilities().endpointing,
            sound: VecDeque::new(),
            voiced: 0,
            audible: false,
            withheld: Vec::new(),
            frames: 0,
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
            sent: 0,
            taken: 0,
            taken_at: at.clock,
            closed_at: None,
            text: None,
            parked: false,
            offered: false,
        };
        if started.paying.is_none() {
            started.paid();
        }
        Ok(started)
    }

    pub fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<RecognitionEvent> {
        if let Poll::Ready(judgement) = self.judging.poll(context) {
            let news = News::Sounds(judgement);
            return Poll::Ready(RecognitionEvent { recognition: self.id, news });
        }
        if let Err(error) = self.poll_payment(context) {
            self.events = None;
            let news = News::Failed(error);
            return Poll::Ready(RecognitionEvent { recognition: self.id, news });
        }
        let Some(events) = &mut self.events else { return Poll::Pending };
        let news = match ready!(events.poll_next_unpin(context)) {
            Some(Ok(said)) => News::Said(said),
            Some(Err(error)) => News::Failed(error),
            None => News::Over,
        };
        if !matches!(news, News::Said(_)) {
            self.events = None;
        }
        Poll::Ready(RecognitionEvent { recognition: self.id, news })
    }

    /// Sends the sound that has been paid for. A refused payment is returned, its sound was not
    /// sent; fails at a cap or if the store is late.
    fn poll_payment(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        while let Some(paying) = &mut self.paying {
            let Poll::Ready(paid) = paying.poll_unpin(context) else { break };
            self.paying = None;
            if let Err(error) = paid {
                self.unpaid.clear();
                self.held.take().into_iter().for_each(Reservation::unused);
                return Err(error);
            }
            self.paid();
        }
        Ok(())
    }

    /// Opens the recogniser if needed, and sends the sound that is paid for.
    fn paid(&mut self) {
        if let Some((speaker, audio)) = self.unopened.take() {
            self.events = Some(self.recogniser.listen(speaker, audio, &self.all_frames));
        }
        self.hand_on();
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
        self.frames = self.frames.saturating_add(1);
        self.all_frames.fetch_add(1, Ordering::Relaxed);
        self.keep(frame);
        self.withheld.push(frame.clone());
        if !self.endless && at.sound > self.voiced_at + SILENCE {
            return;
        }
        self.unpaid.extend(self.withheld.drain(..));
        self.hand_on();
        while self.unpaid.len() > SOUND_CAPACITY {
            tracing::warn!(stream = self.id, "nobody has paid yet, a frame is lost");
            self.unpaid.pop_back();
            self.frames = self.frames.saturating_sub(1);
        }
    }

    /// Sends the sound that is paid for, and reserves more when needed.
    fn hand_on(&mut self) {
        loop {
            while self.is_paid()
                && let Some(frame) = self.unpaid.pop_front()
            {
                self.send(frame);
            }
            if self.unpaid.is_empty() || self.held.is_none() || self.paying.is_some() {
                break;
            }
            self.settle();
            (self.held, self.paying) = self.recogniser.pay_on();
        }
        self.end_if_closed();
    }

    fn is_paid(&self) -> bool {
        self.held.is_some() && self.paying.is_none() && self.unsettled() < PAID_FRAMES
    }

    /// Stores a frame for the turn. A streaming recognition is mostly silence, a megabyte every 30
    /// s, so only a pre-roll of the silence before a voice is kept.
    fn keep(&mut self, frame: &Frame) {
        self.audible |= !self.endless || !vad::is_silent(frame.samples());
        let most = if self.audible { SOUND_CAPACITY } else { PREROLL_FRAMES };
        while self.sound.len() >= most {
            self.sound.pop_front();
        }
        self.sound.push_back(frame.clone());
    }

    /// Sound of the utterance and of what it continues; `None` without a voice.
    pub fn sound(&self) -> Option<&VecDeque<Frame>> {
        self.audible.then_some(&self.sound)
    }

    pub const fn voiced(&self) -> u32 {
        self.voiced
    }

    fn send(&mut self, frame: Frame) {
        match self.to.as_ref().map(|to| to.try_send(frame)) {
            Some(Ok(())) => self.sent += 1,
            Some(Err(_)) => {
                tracing::warn!(stream = self.id, "the recogniser is too slow, a frame is lost");
            }
            None => {}
        }
    }

    /// True if the recogniser has taken no sound for [`STUCK`].
    pub fn is_stuck(&mut self, now: Instant) -> bool {
        let waiting = self.to.as_ref().map_or(0, |to| to.max_capacity() - to.capacity());
        let taken = self.sent.saturating_sub(waiting);
        if taken > self.taken || waiting == 0 {
            self.taken_at = now;
        }
        self.taken = taken;
        self.stuck_at() <= now
    }

    /// Time at which [`Self::is_stuck`] may become true.
    pub fn stuck_at(&self) -> Instant {
        self.taken_at + STUCK
    }

    pub fn close(&mut self, now: Instant) {
        self.closed_at = Some(now);
        self.end_if_closed();
    }

    /// Ends the recogniser's sound once all of it is sent.
    fn end_if_closed(&mut self) {
        if self.closed_at.is_some() && self.paying.is_none() && self.unpaid.is_empty() {
            // Dropping the sender signals the end.
            self.to = None;
            self.settle();
        }
    }

    /// Pays for the frames received.
    fn settle(&mut self) {
        let unsettled = self.unsettled();
        self.frames = self.frames.saturating_sub(unsettled);
        let seconds = (FRAME * unsettled).as_secs_f64();
        let Some(held) = self.held.take() else { return };
        match self.paying.take() {
            Some(_) => held.unused(),
            None => held.settle(Consumption { seconds, ..Consumption::default() }),
        }
    }

    fn unsettled(&self) -> u32 {
        let waiting = u32::try_from(self.unpaid.len()).unwrap_or(u32::MAX);
        self.frames.saturating_sub(waiting)
    }

    pub fn is_drained(&self) -> bool {
        self.unpaid.is_empty()
            && self.to.as_ref().is_none_or(|to| to.capacity() == to.max_capacity())
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
        self.endless && !self.partial.is_empty()
    }

    pub fn voiced_at(&self) -> SoundTime {
        self.voiced_at
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
    pub fn cut(&mut self, speaker: SpeakerId, text: String, now: Instant) -> Utterance {
        self.partial.clear();
        (self.partial_at, self.is_eager, self.offered) = (None, false, false);
        self.audible = false;
        Utterance {
            raw: taken(&text),
            began: self.began.take().unwrap_or(self.speech_end),
            partials: std::mem::take(&mut self.partials),
            final_at: Some(now),
            voiced: std::mem::take(&mut self.voiced),
            audio: Vec::from(std::mem::take(&mut self.sound)).into(),
            ..Utterance::unknown(speaker, self.speech_end)
        }
    }

    /// Time from which the partial may start a guess, unless it was offered.
    pub fn stable_at(&self) -> Option<SoundTime> {
        let since = self.partial_at.filter(|_| !self.offered && !self.partial.is_empty())?;
        if self.is_eager {
            return Some(since);
        }
        Some((since + STABLE).max(self.voiced_at + PAUSE))
    }

    pub fn offer(&mut self, speaker: SpeakerId) -> Utterance {
        self.offered = true;
        Utterance {
            raw: self.joined(&self.partial),
            partials: self.partials,
            audio: self.sound.iter().cloned().collect(),
            voiced: self.voiced,
            ..Utterance::unknown(speaker, self.speech_end)
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

    pub fn into_utterance(mut self, speaker: SpeakerId, now: Instant) -> Utterance {
        let began = self.began.unwrap_or(self.speech_end);
        let apart = self.text.as_deref().filter(|_| self.apart);
        Utterance {
            raw: self.joined(self.text.as_deref().unwrap_or_default()),
            apart: apart.map(|text| Apart { text: taken(text), began }),
            began: self.before_began.unwrap_or(began),
            partials: self.partials,
            final_at: Some(now),
            voiced: self.voiced,
            audio: Vec::from(std::mem::take(&mut self.sound)).into(),
            ..Utterance::unknown(speaker, self.speech_end)
        }
    }
}

impl Drop for Recognition {
    fn drop(&mut self) {
        self.settle();
    }
}
