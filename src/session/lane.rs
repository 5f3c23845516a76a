//! One speaker's way to the recogniser: voice activity, endpointing, one stream an utterance.
//!
//! Entry type: [`Lane`]. **Never**: decides who is addressed.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use tokio_util::task::AbortOnDropHandle;

use super::{speakers::SpeakerId, turns::Utterance};
use crate::{
    domain::TurnId,
    engine::Held,
    logic::{
        budget::Consumption,
        command::NpcNames,
        turn::{CloseReason, Endpointer, Input, Output, Patience, reads},
        vad::{Vad, VadOptions, Voicing},
    },
    provider::{Error, Heard, Kind, SpeechToText},
};

/// Sound from before speech was noticed that the recogniser gets too: 200 ms.
const PREROLL_FRAMES: usize = 10;
/// Frames a recogniser may lag behind: the longest utterance, so that none is ever lost.
const STREAM_CAPACITY: usize = 1_600;
/// Longest wait for a final transcript.
const FINAL_TIMEOUT: Duration = Duration::from_secs(10);
/// A partial that stands this long may be answered ahead of the final.
const STABLE: Duration = Duration::from_millis(150);
/// And only in a pause this long, or every breath would cost a request.
const PAUSE: Duration = Duration::from_millis(100);
/// News of one stream waiting to be passed on.
const NEWS_CAPACITY: usize = 16;

/// What a recogniser says of one utterance.
#[derive(Debug)]
pub struct LaneEvent {
    /// Whose lane.
    pub speaker: SpeakerId,
    utterance: u64,
    news: News,
}

#[derive(Debug)]
enum News {
    Heard(Heard),
    Ended(Result<(), Error>),
}

/// What a [`LaneEvent`] means for the table.
pub enum LaneNews {
    /// Nothing.
    Nothing,
    /// The open utterance reads differently now.
    Partial,
    /// An utterance is over and known; its text may be empty.
    Heard(Utterance),
    /// An utterance is over and cannot be known.
    Failed(Utterance, Error),
}

/// What a frame led to.
pub enum Edge {
    /// Somebody begins to speak, or goes on after a short pause.
    Opened {
        /// It belongs to the utterance before.
        continues: bool,
    },
    /// Somebody has finished.
    Closed,
    /// A click; no utterance.
    Blip,
}

/// One speaker.
pub struct Lane {
    /// Who.
    pub speaker: SpeakerId,
    /// The turn that was begun on the partial, if any.
    pub ahead: Option<TurnId>,
    endpointer: Endpointer,
    vad: Option<Vad>,
    /// The recogniser ends utterances itself, on one stream.
    service_ends: bool,
    preroll: VecDeque<Arc<[i16]>>,
    open: Option<Stream>,
    closed: Vec<Stream>,
    streams: u64,
    last_at: Option<Instant>,
}

/// One utterance on its way through the recogniser.
struct Stream {
    id: u64,
    to: Option<mpsc::Sender<Arc<[i16]>>>,
    _task: AbortOnDropHandle<()>,
    held: Option<Held>,
    audio: Vec<Arc<[i16]>>,
    /// Text of segments that this one continues.
    before: String,
    partial: String,
    partial_at: Option<Instant>,
    partials: u32,
    speech_end: Instant,
    closed_at: Option<Instant>,
    text: Option<String>,
    /// Waits for the segment that continues it.
    parked: bool,
    /// The partial was offered for an early answer.
    offered: bool,
}

impl Lane {
    /// A speaker who has not spoken yet.
    pub fn new(speaker: SpeakerId, patience: Patience, stt: &dyn SpeechToText) -> Self {
        let service_ends = stt.abilities().endpointing;
        Self {
            speaker,
            ahead: None,
            endpointer: Endpointer::new(patience),
            vad: (!service_ends).then(|| Vad::new(VadOptions::default())),
            service_ends,
            preroll: VecDeque::with_capacity(PREROLL_FRAMES),
            open: None,
            closed: Vec::new(),
            streams: 0,
            last_at: None,
        }
    }

    /// Whether speech is to be told from noise; a recogniser that ends utterances itself needs it
    /// only while an NPC may be interrupted.
    pub fn watch_voice(&mut self, wanted: bool) {
        if self.service_ends {
            match (wanted, &self.vad) {
                (true, None) => self.vad = Some(Vad::new(VadOptions::default())),
                (false, Some(_)) => self.vad = None,
                _ => {}
            }
        }
    }

    /// Takes 20 ms; `now` is when it came, `at` when it was spoken.
    pub fn frame(
        &mut self,
        (now, at): (Instant, Instant),
        samples: &Arc<[i16]>,
        start: impl FnOnce(u64) -> Option<Listening>,
    ) -> (Voicing, Option<Edge>) {
        let at = self.last_at.map_or(at, |last| last.max(at));
        self.last_at = Some(at);
        let voicing = self.vad.as_mut().map(|vad| vad.push(samples)).unwrap_or_default();
        if self.service_ends {
            if self.open.is_none() {
                self.begin(now, start);
            }
            self.feed(now, samples, true);
            return (voicing, None);
        }
        let output = self.endpointer.handle(at.into_std(), Input::Frame { voiced: voicing.voiced });
        let edge = match output {
            Some(Output::Open { continues }) => {
                self.begin(now, start);
                for earlier in std::mem::take(&mut self.preroll) {
                    self.feed(now, &earlier, true);
                }
                self.feed(now, samples, true);
                Some(Edge::Opened { continues })
            }
            Some(Output::Feed) => {
                self.feed(now, samples, voicing.voiced);
                None
            }
            Some(Output::Close { reason, .. }) => Some(self.close(now, reason)),
            None => None,
        };
        if self.open.is_none() {
            if self.preroll.len() == PREROLL_FRAMES {
                self.preroll.pop_front();
            }
            self.preroll.push_back(Arc::clone(samples));
        }
        (voicing, edge)
    }

    /// Ends what is over because nothing came any more.
    pub fn tick(&mut self, now: Instant) -> Option<Edge> {
        let at = self.last_at.map_or(now, |last| last.max(now));
        if self.endpointer.wake_at().is_none_or(|due| at.into_std() < due) {
            return None;
        }
        match self.endpointer.handle(at.into_std(), Input::Tick) {
            Some(Output::Close { reason, .. }) => Some(self.close(now, reason)),
            _ => None,
        }
    }

    /// When [`Self::tick`] or [`Self::overdue`] is wanted.
    pub fn wake_at(&self) -> Option<Instant> {
        let end = self.endpointer.wake_at().map(Instant::from_std);
        let overdue =
            self.closed.iter().filter_map(|s| s.closed_at).min().map(|at| at + FINAL_TIMEOUT);
        let stable = self.open.as_ref().and_then(Stream::stable_at);
        [end, overdue, stable].into_iter().flatten().min()
    }

    /// An utterance whose final did not come.
    pub fn overdue(&mut self, now: Instant) -> Option<(Utterance, Error)> {
        let late = |s: &Stream| s.closed_at.is_some_and(|at| at + FINAL_TIMEOUT <= now);
        let index = self.closed.iter().position(late)?;
        let stream = self.closed.remove(index);
        let error = Error::new(Kind::Timeout, "the recogniser gave no final transcript in 10 s");
        Some((stream.into_utterance(self.speaker, now), error))
    }

    /// Whether an utterance waits for its final transcript.
    pub fn is_finalising(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Whether the recogniser has taken all sound there is.
    pub fn is_drained(&self) -> bool {
        let drained =
            |s: &Stream| s.to.as_ref().is_none_or(|to| to.capacity() == to.max_capacity());
        self.open.as_ref().is_none_or(drained)
    }

    /// The open utterance as it may be answered ahead of its final: its text so far, offered once.
    pub fn stable_partial(&mut self, now: Instant) -> Option<Utterance> {
        let stream = self.open.as_mut()?;
        stream.stable_at().filter(|at| *at <= now)?;
        stream.offered = true;
        Some(Utterance {
            speaker: self.speaker,
            raw: stream.joined(&stream.partial),
            text: String::new(),
            partials: stream.partials,
            speech_end: stream.speech_end,
            final_at: None,
            audio: Arc::from([]),
            typed: false,
        })
    }

    /// The text of the open utterance so far.
    pub fn partial(&self) -> &str {
        self.open.as_ref().map_or("", |stream| &stream.partial)
    }

    /// Joins the segment that just opened to the one before: text that is known already, or the
    /// one still being recognised.
    pub fn continue_with(&mut self, before: Option<String>) {
        if let Some(stream) = &mut self.open
            && let Some(before) = before
        {
            stream.before = before;
        }
        if let Some(last) = self.closed.last_mut() {
            last.parked = true;
        }
    }

    /// Takes in what the recogniser said.
    pub fn news(&mut self, event: LaneEvent, now: Instant, names: &[NpcNames]) -> LaneNews {
        if self.open.as_ref().is_some_and(|stream| stream.id == event.utterance) {
            return self.open_news(event.news, now, names);
        }
        let Some(index) = self.closed.iter().position(|stream| stream.id == event.utterance) else {
            return LaneNews::Nothing;
        };
        match event.news {
            News::Heard(Heard::Partial(_)) => {
                self.closed[index].partials += 1;
                LaneNews::Nothing
            }
            News::Heard(Heard::Final(text)) => {
                self.closed[index].text = Some(text);
                self.settle(index, now)
            }
            News::Ended(Ok(())) => {
                self.closed[index].text.get_or_insert_default();
                self.settle(index, now)
            }
            News::Ended(Err(error)) => {
                let stream = self.closed.remove(index);
                LaneNews::Failed(stream.into_utterance(self.speaker, now), error)
            }
        }
    }

    fn open_news(&mut self, news: News, now: Instant, names: &[NpcNames]) -> LaneNews {
        let Some(stream) = &mut self.open else { return LaneNews::Nothing };
        match news {
            News::Heard(Heard::Partial(text)) => {
                if text == stream.partial {
                    return LaneNews::Nothing;
                }
                let reading = reads(&text, names);
                stream.partial = text;
                stream.partials += 1;
                stream.partial_at = Some(now);
                stream.offered = false;
                let at = self.last_at.map_or(now, |last| last.max(now)).into_std();
                let partial = Input::Partial { reading, stable_since: at };
                // A partial never ends an utterance by itself: that is for the next frame or tick.
                let _ = self.endpointer.handle(at, partial);
                LaneNews::Partial
            }
            News::Heard(Heard::Final(text)) if self.service_ends => {
                let utterance = Utterance {
                    speaker: self.speaker,
                    raw: text,
                    text: String::new(),
                    partials: std::mem::take(&mut stream.partials),
                    speech_end: stream.speech_end,
                    final_at: Some(now),
                    audio: std::mem::take(&mut stream.audio).into(),
                    typed: false,
                };
                stream.partial.clear();
                stream.partial_at = None;
                LaneNews::Heard(utterance)
            }
            News::Heard(Heard::Final(_)) => LaneNews::Nothing,
            News::Ended(result) => {
                let Some(stream) = self.open.take() else { return LaneNews::Nothing };
                match result {
                    Ok(()) => LaneNews::Nothing,
                    Err(error) => LaneNews::Failed(stream.into_utterance(self.speaker, now), error),
                }
            }
        }
    }

    /// A final text is there: it is told unless a later segment continues it.
    fn settle(&mut self, index: usize, now: Instant) -> LaneNews {
        if !self.closed[index].parked {
            let stream = self.closed.remove(index);
            return LaneNews::Heard(stream.into_utterance(self.speaker, now));
        }
        let parked = self.closed.remove(index);
        let text = parked.joined(parked.text.as_deref().unwrap_or_default());
        let id = parked.id;
        let next = self.closed.iter_mut().chain(self.open.as_mut()).find(|stream| stream.id > id);
        match next {
            Some(next) => {
                next.before = text;
                next.partials += parked.partials;
                LaneNews::Nothing
            }
            None => LaneNews::Heard(
                Stream { text: Some(text), before: String::new(), ..parked }
                    .into_utterance(self.speaker, now),
            ),
        }
    }

    fn begin(&mut self, now: Instant, start: impl FnOnce(u64) -> Option<Listening>) {
        self.streams += 1;
        self.open = start(self.streams).map(|listening| Stream {
            id: self.streams,
            to: Some(listening.to),
            _task: listening.task,
            held: listening.held,
            audio: Vec::new(),
            before: String::new(),
            partial: String::new(),
            partial_at: None,
            partials: 0,
            speech_end: now,
            closed_at: None,
            text: None,
            parked: false,
            offered: false,
        });
    }

    fn feed(&mut self, now: Instant, samples: &Arc<[i16]>, voiced: bool) {
        let Some(stream) = &mut self.open else { return };
        if voiced {
            stream.speech_end = now;
        }
        if stream.audio.len() < STREAM_CAPACITY {
            stream.audio.push(Arc::clone(samples));
        }
        if let Some(to) = &stream.to
            && to.try_send(Arc::clone(samples)).is_err()
        {
            tracing::warn!(speaker = self.speaker.0, "the recogniser is too slow, a frame is lost");
        }
    }

    fn close(&mut self, now: Instant, reason: CloseReason) -> Edge {
        let Some(mut stream) = self.open.take() else { return Edge::Blip };
        // Dropping the sender tells the recogniser that this is all.
        stream.to = None;
        stream.closed_at = Some(now);
        if let Some(held) = stream.held.take() {
            held.settle(Consumption { seconds: stream.seconds(), ..Consumption::default() });
        }
        if reason == CloseReason::Blip && stream.before.is_empty() {
            return Edge::Blip;
        }
        self.closed.push(stream);
        Edge::Closed
    }
}

impl Stream {
    fn stable_at(&self) -> Option<Instant> {
        let since = self.partial_at.filter(|_| !self.offered && !self.partial.is_empty())?;
        Some((since + STABLE).max(self.speech_end + PAUSE))
    }

    fn joined(&self, text: &str) -> String {
        match (self.before.is_empty(), text.is_empty()) {
            (true, _) => text.to_owned(),
            (false, true) => self.before.clone(),
            (false, false) => format!("{} {text}", self.before),
        }
    }

    fn seconds(&self) -> f64 {
        f64::from(u32::try_from(self.audio.len()).unwrap_or(u32::MAX)) * 0.02
    }

    fn into_utterance(self, speaker: SpeakerId, now: Instant) -> Utterance {
        Utterance {
            speaker,
            raw: self.joined(self.text.as_deref().unwrap_or_default()),
            text: String::new(),
            partials: self.partials,
            speech_end: self.speech_end,
            final_at: Some(now),
            audio: self.audio.into(),
            typed: false,
        }
    }
}

/// A recogniser at work on one utterance.
pub struct Listening {
    to: mpsc::Sender<Arc<[i16]>>,
    task: AbortOnDropHandle<()>,
    held: Option<Held>,
}

impl Listening {
    /// Starts `stt` on utterance `utterance` of `speaker`; its news go to `news`.
    pub fn start(
        stt: &dyn SpeechToText,
        (speaker, utterance): (SpeakerId, u64),
        held: Held,
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
