//! One utterance on its way through a recogniser.
//!
//! Entry types: [`Ear`], which starts a recogniser and pays it, [`Listening`], a recogniser at
//! work, and [`Stream`], what it has heard so far.
//! **Never**: decides when an utterance ends.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use tokio_util::task::AbortOnDropHandle;

use super::{speakers::SpeakerId, turns::Utterance};
use crate::{
    engine::{Budget, Reservation},
    logic::budget::Consumption,
    provider::{Error, Heard, SpeechToText},
};

/// Frames a recogniser may lag behind: the longest utterance, so that none is ever lost.
const STREAM_CAPACITY: usize = 1_600;
/// A partial that stands this long may be answered ahead of the final.
const STABLE: Duration = Duration::from_millis(150);
/// And only in a pause this long, or every breath would cost a request.
const PAUSE: Duration = Duration::from_millis(100);
/// Silence that a recogniser hears after each word. What is longer is held back until it is known to
/// be a pause within the utterance, so that the recogniser may look back meanwhile.
const SILENCE: Duration = Duration::from_millis(120);
/// A recogniser that takes no sound for so long will not take any: others that it may be busy with
/// do not speak as long.
const STUCK: Duration = Duration::from_secs(35);
/// Length of a frame.
const FRAME_SECONDS: f64 = 0.02;
/// Sound that is paid for before it is heard, again and again while a stream goes on.
const PAID_SECONDS: f64 = 10.0;
/// News of one stream waiting to be passed on.
const NEWS_CAPACITY: usize = 16;

/// What a recogniser says of one utterance.
#[derive(Debug)]
pub struct LaneEvent {
    /// Whose lane.
    pub speaker: SpeakerId,
    /// Which utterance of the lane.
    pub utterance: u64,
    /// What of it.
    pub news: News,
}

/// What came from a recogniser.
#[derive(Debug)]
pub enum News {
    /// A transcript.
    Heard(Heard),
    /// Nothing more comes.
    Ended(Result<(), Error>),
}

/// One utterance on its way through the recogniser.
pub struct Stream {
    /// Number within the lane, from 1.
    pub id: u64,
    to: Option<mpsc::Sender<Arc<[i16]>>>,
    _task: AbortOnDropHandle<()>,
    held: Option<Reservation>,
    /// Its sound, as far as it is kept.
    pub audio: Vec<Arc<[i16]>>,
    /// Silence that is not handed on yet.
    withheld: Vec<Arc<[i16]>>,
    /// Frames that are not settled yet.
    frames: u32,
    /// Text of segments that this one continues.
    pub before: String,
    /// The newest partial.
    pub partial: String,
    partial_at: Option<Instant>,
    /// Partials so far.
    pub partials: u32,
    /// When the last voiced frame was handed in.
    pub speech_end: Instant,
    /// When it was spoken.
    voiced_at: Instant,
    /// Frames handed on, and how many of them the recogniser had taken when it was last looked at.
    sent: usize,
    taken: usize,
    /// When it took one for the last time, or had nothing to take.
    taken_at: Instant,
    /// When its sound ended.
    pub closed_at: Option<Instant>,
    /// The final transcript.
    pub text: Option<String>,
    /// Waits for the segment that continues it.
    pub parked: bool,
    /// The partial was offered for an early answer.
    pub offered: bool,
}

impl Stream {
    /// The recogniser `listening` begins to hear utterance `id`, `now` by the clock and `at` by
    /// its frames.
    pub fn new(id: u64, listening: Listening, (now, at): (Instant, Instant)) -> Self {
        Self {
            id,
            to: Some(listening.to),
            _task: listening.task,
            held: listening.held,
            audio: Vec::new(),
            withheld: Vec::new(),
            frames: 0,
            before: String::new(),
            partial: String::new(),
            partial_at: None,
            partials: 0,
            speech_end: now,
            voiced_at: at,
            sent: 0,
            taken: 0,
            taken_at: now,
            closed_at: None,
            text: None,
            parked: false,
            offered: false,
        }
    }

    /// Takes 20 ms, `now` by the clock and spoken at `at`. Where the table `ends` the utterance, they
    /// are kept for it, and a long silence is held back.
    pub fn feed(
        &mut self,
        (now, at): (Instant, Instant),
        samples: &Arc<[i16]>,
        voiced: bool,
        ends: bool,
    ) {
        if voiced {
            self.speech_end = now;
            self.voiced_at = at;
        }
        self.frames = self.frames.saturating_add(1);
        if ends && self.audio.len() < STREAM_CAPACITY {
            self.audio.push(Arc::clone(samples));
        }
        self.withheld.push(Arc::clone(samples));
        if ends && at > self.voiced_at + SILENCE {
            return;
        }
        for samples in std::mem::take(&mut self.withheld) {
            self.send(samples);
        }
    }

    /// Hands 20 ms on.
    fn send(&mut self, samples: Arc<[i16]>) {
        match self.to.as_ref().map(|to| to.try_send(samples)) {
            Some(Ok(())) => self.sent += 1,
            Some(Err(_)) => {
                tracing::warn!(stream = self.id, "the recogniser is too slow, a frame is lost");
            }
            None => {}
        }
    }

    /// Whether the recogniser takes no sound although there is some, for [`STUCK`] now.
    pub fn is_stuck(&mut self, now: Instant) -> bool {
        let waiting = self.to.as_ref().map_or(0, |to| to.max_capacity() - to.capacity());
        let taken = self.sent.saturating_sub(waiting);
        if taken > self.taken || waiting == 0 {
            self.taken_at = now;
        }
        self.taken = taken;
        self.stuck_at() <= now
    }

    /// When [`Self::is_stuck`] is worth a look.
    pub fn stuck_at(&self) -> Instant {
        self.taken_at + STUCK
    }

    /// That was all its sound.
    pub fn close(&mut self, now: Instant) {
        // Dropping the sender tells the recogniser so.
        self.to = None;
        self.closed_at = Some(now);
        self.settle();
    }

    /// Pays ahead for more of it when all that was paid for is used; false when nobody pays.
    pub fn pay(&mut self, ear: &mut Ear<'_>) -> bool {
        if f64::from(self.frames) * FRAME_SECONDS < PAID_SECONDS {
            return true;
        }
        self.settle();
        self.held = ear.hold();
        self.held.is_some()
    }

    /// Books what was heard.
    fn settle(&mut self) {
        let seconds = f64::from(std::mem::take(&mut self.frames)) * FRAME_SECONDS;
        if let Some(held) = self.held.take() {
            held.settle(Consumption { seconds, ..Consumption::default() });
        }
    }

    /// Whether the recogniser has taken all its sound.
    pub fn is_drained(&self) -> bool {
        self.to.as_ref().is_none_or(|to| to.capacity() == to.max_capacity())
    }

    /// A partial came when sound until `at` was heard.
    pub fn read(&mut self, at: Instant, partial: String) {
        self.partial = partial;
        self.partials += 1;
        self.partial_at = Some(at);
        self.offered = false;
    }

    /// The utterance ended within the stream, which goes on with the next.
    pub fn cut(&mut self, speaker: SpeakerId, text: String, now: Instant) -> Utterance {
        self.partial.clear();
        self.partial_at = None;
        Utterance {
            speaker,
            raw: text,
            text: String::new(),
            partials: std::mem::take(&mut self.partials),
            speech_end: self.speech_end,
            final_at: Some(now),
            audio: std::mem::take(&mut self.audio).into(),
            typed: false,
        }
    }

    /// When the partial may be answered ahead, by the time of frames, unless it was offered for
    /// that already.
    pub fn stable_at(&self) -> Option<Instant> {
        let since = self.partial_at.filter(|_| !self.offered && !self.partial.is_empty())?;
        Some((since + STABLE).max(self.voiced_at + PAUSE))
    }

    /// `text` with what it continues before it.
    pub fn joined(&self, text: &str) -> String {
        match (self.before.is_empty(), text.is_empty()) {
            (true, _) => text.to_owned(),
            (false, true) => self.before.clone(),
            (false, false) => format!("{} {text}", self.before),
        }
    }

    /// The utterance as far as it is known.
    pub fn into_utterance(mut self, speaker: SpeakerId, now: Instant) -> Utterance {
        Utterance {
            speaker,
            raw: self.joined(self.text.as_deref().unwrap_or_default()),
            text: String::new(),
            partials: self.partials,
            speech_end: self.speech_end,
            final_at: Some(now),
            audio: std::mem::take(&mut self.audio).into(),
            typed: false,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.settle();
    }
}

/// What recognisers of one speaker are started and paid with.
pub struct Ear<'t> {
    /// What hears.
    pub stt: &'t dyn SpeechToText,
    /// Who pays.
    pub purse: &'t Budget,
    /// Where news go.
    pub news: &'t mpsc::Sender<LaneEvent>,
    /// Who is heard.
    pub speaker: SpeakerId,
    /// Why nobody pays, if so.
    pub refused: Option<Error>,
}

impl Ear<'_> {
    /// Starts a recogniser on utterance `utterance`, unless nobody pays.
    pub fn start(&mut self, utterance: u64) -> Option<Listening> {
        let held = self.hold()?;
        Some(Listening::start(self.stt, (self.speaker, utterance), held, self.news.clone()))
    }

    fn hold(&mut self) -> Option<Reservation> {
        let expected = Consumption { seconds: PAID_SECONDS, ..Consumption::default() };
        let held = self.purse.reserve(self.stt.priced_as(), "hearing", None, expected);
        held.map_err(|error| self.refused = Some(error)).ok()
    }
}

/// A recogniser at work on one utterance.
pub struct Listening {
    to: mpsc::Sender<Arc<[i16]>>,
    task: AbortOnDropHandle<()>,
    held: Option<Reservation>,
}

impl Listening {
    /// Starts `stt` on utterance `utterance` of `speaker`; its news go to `news`.
    fn start(
        stt: &dyn SpeechToText,
        (speaker, utterance): (SpeakerId, u64),
        held: Reservation,
        news: mpsc::Sender<LaneEvent>,
    ) -> Self {
        let (to, audio) = mpsc::channel(STREAM_CAPACITY);
        let (heard, mut heard_in) = mpsc::channel(NEWS_CAPACITY);
        let listening = stt.listen(audio, heard);
        let task = tokio::spawn(async move {
            let event = |news| LaneEvent { speaker, utterance, news };
            tokio::pin!(listening);
            let ended = loop {
                tokio::select! {
                    biased;
                    Some(heard) = heard_in.recv() => {
                        // A closed table needs no news.
                        let _ = news.send(event(News::Heard(heard))).await;
                    }
                    ended = &mut listening => break ended,
                }
            };
            while let Ok(heard) = heard_in.try_recv() {
                let _ = news.send(event(News::Heard(heard))).await;
            }
            let _ = news.send(event(News::Ended(ended))).await;
        });
        Self { to, task: AbortOnDropHandle::new(task), held: Some(held) }
    }
}
