//! One speaker's way to the recogniser: voice activity, endpointing, one stream an utterance.
//!
//! Entry type: [`Lane`]. **Never**: decides who is addressed.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    speakers::SpeakerId,
    stream::{Ear, LaneEvent, News, Stream},
    turns::Utterance,
};
use crate::{
    audio::{FRAME, FRAME_SAMPLES_16K},
    domain::TurnId,
    logic::{
        command::NpcNames,
        turn::{CloseReason, Endpointer, Input, Output, Patience, reads},
        vad::{Vad, VadOptions, Voicing},
    },
    provider::{Error, Heard, Kind, SpeechToText},
};

/// Sound from before speech was noticed that the recogniser gets too: 200 ms.
const PREROLL_FRAMES: usize = 10;
/// Longest wait for a final transcript.
const FINAL_TIMEOUT: Duration = Duration::from_secs(10);
/// A segment that begins this soon after the last one's voice belongs to the same utterance.
const CONTINUES: Duration = Duration::from_millis(600);
/// A stream that did not open or broke off is not opened again for so long, where one stream
/// stays open for all utterances.
const REOPEN_AFTER: Duration = Duration::from_secs(5);
/// Packets this late are still on their way.
const PACKETS_LATE: Duration = Duration::from_millis(100);
/// Silence that is handed on when packets have stopped: 1.5 s, more than any service waits for.
const SILENCE_FRAMES: u32 = 75;
/// A lane without a frame for so long is given back.
const STALE: Duration = Duration::from_secs(60);

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
    /// A partial came after the time of the end: told with the next tick.
    ended: Option<(Instant, CloseReason)>,
    /// When the last utterance that was no click ended.
    last_end: Option<Instant>,
    /// Said to nobody, and why; told when nothing continues it.
    unaddressed: Option<(Utterance, String)>,
    /// Frames of silence handed on since the last frame.
    silent: u32,
    reopen_at: Option<Instant>,
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
            ended: None,
            last_end: None,
            unaddressed: None,
            silent: 0,
            reopen_at: None,
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
        ear: &mut Ear<'_>,
    ) -> (Voicing, Option<Edge>) {
        let at = self.last_at.map_or(at, |last| last.max(at));
        self.last_at = Some(at);
        self.silent = 0;
        let voicing = self.vad.as_mut().map(|vad| vad.push(samples)).unwrap_or_default();
        if self.service_ends {
            if self.open.is_none() && self.reopen_at.is_none_or(|at| at <= now) {
                self.begin((now, at), ear);
                self.reopen_at = Some(now + REOPEN_AFTER);
            }
            self.feed((now, at), samples, true);
            if self.open.as_mut().is_some_and(|stream| !stream.pay(ear)) {
                self.open = None;
                self.reopen_at = Some(now + REOPEN_AFTER);
            }
            return (voicing, None);
        }
        let output = self.endpointer.handle(at.into_std(), Input::Frame { voiced: voicing.voiced });
        let edge = match output {
            Some(Output::Open { continues }) => {
                self.begin((now, at), ear);
                for earlier in std::mem::take(&mut self.preroll) {
                    self.feed((now, at), &earlier, true);
                }
                self.feed((now, at), samples, true);
                Some(Edge::Opened { continues })
            }
            Some(Output::Feed) => {
                self.feed((now, at), samples, voicing.voiced);
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
    /// `at` is until when it is known who spoke.
    pub fn tick(&mut self, now: Instant, at: Instant) -> Option<Edge> {
        self.feed_silence(now, at);
        if let Some((_, reason)) = self.ended.take() {
            return Some(self.close(now, reason));
        }
        let at = self.last_at.map_or(at, |last| last.max(at));
        if self.endpointer.wake_at().is_none_or(|due| at.into_std() < due) {
            return None;
        }
        match self.endpointer.handle(at.into_std(), Input::Tick) {
            Some(Output::Close { reason, .. }) => Some(self.close(now, reason)),
            _ => None,
        }
    }

    /// Packets stop when nobody speaks; a recogniser that ends utterances itself has to hear the
    /// silence.
    fn feed_silence(&mut self, now: Instant, at: Instant) {
        while let Some(due) = self.silence_at().filter(|due| *due <= at) {
            self.silent += 1;
            self.feed((now, due), &Arc::from([0; FRAME_SAMPLES_16K]), false);
        }
    }

    /// When the next frame of silence is to be handed on.
    fn silence_at(&self) -> Option<Instant> {
        let last = self.last_at.filter(|_| self.service_ends && self.open.is_some())?;
        match self.silent {
            0 => Some(last + PACKETS_LATE),
            fed if fed < SILENCE_FRAMES => {
                Some((last + PACKETS_LATE).max(last + FRAME * (fed + 1)))
            }
            _ => None,
        }
    }

    /// When [`Self::tick`] or [`Self::overdue`] is wanted.
    pub fn wake_at(&self) -> Option<Instant> {
        [self.due_by_sound(), self.due_by_clock()].into_iter().flatten().min()
    }

    /// Whether something is to be done, `now` by the clock and `at` by what was heard.
    pub fn is_due(&self, now: Instant, at: Instant) -> bool {
        self.due_by_sound().is_some_and(|due| due <= at)
            || self.due_by_clock().is_some_and(|due| due <= now)
    }

    fn due_by_sound(&self) -> Option<Instant> {
        let end = self.endpointer.wake_at().map(Instant::from_std);
        let stable = self.open.as_ref().and_then(Stream::stable_at);
        [end, stable, self.silence_at()].into_iter().flatten().min()
    }

    fn due_by_clock(&self) -> Option<Instant> {
        let overdue =
            self.closed.iter().filter_map(|s| s.closed_at).min().map(|at| at + FINAL_TIMEOUT);
        let untold =
            self.unaddressed.as_ref().map(|(utterance, _)| utterance.speech_end + CONTINUES);
        let ended = self.ended.map(|(at, _)| at);
        let stuck = self.open.as_ref().map(Stream::stuck_at);
        [overdue, untold, ended, stuck].into_iter().flatten().min()
    }

    /// An utterance whose final did not come, or whose sound nobody takes.
    pub fn overdue(&mut self, now: Instant) -> Option<(Utterance, Error)> {
        if let Some(stream) = self.open.take_if(|stream| stream.is_stuck(now)) {
            let text = "the recogniser takes no sound (start again; glyphoxa doctor tries it)";
            let error = Error::new(Kind::Timeout, text);
            return Some((stream.into_utterance(self.speaker, now), error));
        }
        let late = |s: &Stream| s.closed_at.is_some_and(|at| at + FINAL_TIMEOUT <= now);
        let index = self.closed.iter().position(late)?;
        let stream = self.closed.remove(index);
        let error = Error::new(Kind::Timeout, "the recogniser gave no final transcript in 10 s");
        Some((stream.into_utterance(self.speaker, now), error))
    }

    /// Keeps an utterance that was said to nobody for as long as it may be continued; false when
    /// that is over.
    pub fn keep_unaddressed(&mut self, now: Instant, utterance: &Utterance, why: &str) -> bool {
        let keeps = self.open.is_none() && now < utterance.speech_end + CONTINUES;
        if keeps {
            self.unaddressed = Some((utterance.clone(), why.to_owned()));
        }
        keeps
    }

    /// What was said to nobody, once nothing can continue it any more.
    pub fn unaddressed(&mut self, now: Instant) -> Option<(Utterance, String)> {
        let over =
            |(utterance, _): &mut (Utterance, String)| utterance.speech_end + CONTINUES <= now;
        self.unaddressed.take_if(over)
    }

    /// The same at once.
    pub fn take_unaddressed(&mut self) -> Option<(Utterance, String)> {
        self.unaddressed.take()
    }

    /// Whether an utterance is over but not told yet.
    pub fn is_finalising(&self) -> bool {
        !self.closed.is_empty() || self.unaddressed.is_some()
    }

    /// Whether the recogniser has taken all sound there is.
    pub fn is_drained(&self) -> bool {
        self.open.as_ref().is_none_or(Stream::is_drained)
    }

    /// Whether nobody has been speaking here for long.
    pub fn is_stale(&self, now: Instant) -> bool {
        let idle = self.service_ends || self.open.is_none();
        let quiet = self.last_at.is_some_and(|at| now.saturating_duration_since(at) > STALE);
        idle && quiet && !self.is_finalising() && self.ahead.is_none()
    }

    /// Whether a stream to the recogniser is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// When the last utterance ended.
    pub fn last_end(&self) -> Option<Instant> {
        self.last_end
    }

    /// The open utterance as it may be answered ahead of its final: its text so far, offered once.
    pub fn stable_partial(&mut self, at: Instant) -> Option<Utterance> {
        let stream = self.open.as_mut()?;
        stream.stable_at().filter(|due| *due <= at)?;
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

    /// Takes in what the recogniser said; the times are those of [`Self::is_due`].
    pub fn news(
        &mut self,
        event: LaneEvent,
        (now, at): (Instant, Instant),
        names: &[NpcNames],
    ) -> LaneNews {
        if self.open.as_ref().is_some_and(|stream| stream.id == event.utterance) {
            return self.open_news(event.news, (now, at), names);
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
            // The rest of the utterance is worth more than the failure of its beginning.
            News::Ended(Err(error)) if self.closed[index].parked => {
                tracing::warn!(%error, "the beginning of an utterance is lost");
                self.closed[index].text.get_or_insert_default();
                self.settle(index, now)
            }
            News::Ended(Err(error)) => {
                let stream = self.closed.remove(index);
                LaneNews::Failed(stream.into_utterance(self.speaker, now), error)
            }
        }
    }

    fn open_news(
        &mut self,
        news: News,
        (now, at): (Instant, Instant),
        names: &[NpcNames],
    ) -> LaneNews {
        let Some(stream) = &mut self.open else { return LaneNews::Nothing };
        match news {
            News::Heard(Heard::Partial(text)) => {
                if text == stream.partial {
                    return LaneNews::Nothing;
                }
                let reading = reads(&text, names);
                let at = self.last_at.map_or(at, |last| last.max(at));
                stream.read(at, text);
                let at = at.into_std();
                let partial = Input::Partial { reading, stable_since: at };
                if let Some(Output::Close { reason, .. }) = self.endpointer.handle(at, partial) {
                    self.ended = Some((now, reason));
                }
                LaneNews::Partial
            }
            News::Heard(Heard::Final(text)) if self.service_ends => {
                LaneNews::Heard(stream.cut(self.speaker, text, now))
            }
            News::Heard(Heard::Final(text)) => {
                stream.text = Some(text);
                LaneNews::Nothing
            }
            News::Ended(result) => {
                let Some(stream) = self.open.take() else { return LaneNews::Nothing };
                match result {
                    Ok(()) if self.service_ends => LaneNews::Nothing,
                    // The recogniser did not want the rest.
                    Ok(()) => LaneNews::Heard(stream.into_utterance(self.speaker, now)),
                    Err(error) => LaneNews::Failed(stream.into_utterance(self.speaker, now), error),
                }
            }
        }
    }

    /// A final text is there: it is told unless a later segment continues it, or it continues one
    /// that is not known yet.
    fn settle(&mut self, index: usize, now: Instant) -> LaneNews {
        let id = self.closed[index].id;
        if self.closed.iter().any(|earlier| earlier.parked && earlier.id < id) {
            return LaneNews::Nothing;
        }
        let stream = self.closed.remove(index);
        let later = self.closed.iter_mut().chain(self.open.as_mut()).find(|next| next.id > id);
        let Some(next) = later.filter(|_| stream.parked) else {
            return LaneNews::Heard(stream.into_utterance(self.speaker, now));
        };
        next.before = stream.joined(stream.text.as_deref().unwrap_or_default());
        next.partials += stream.partials;
        let known = |next: &Stream| next.id > id && next.text.is_some();
        match self.closed.iter().position(known) {
            Some(next) if next == index => self.settle(next, now),
            _ => LaneNews::Nothing,
        }
    }

    fn begin(&mut self, times: (Instant, Instant), ear: &mut Ear<'_>) {
        self.streams += 1;
        let listening = ear.start(self.streams);
        self.open = listening.map(|listening| Stream::new(self.streams, listening, times));
    }

    fn feed(&mut self, times: (Instant, Instant), samples: &Arc<[i16]>, voiced: bool) {
        if let Some(stream) = &mut self.open {
            // A stream that never ends is mostly silence, and a megabyte of it every 30 s.
            stream.feed(times, samples, voiced, !self.service_ends);
        }
    }

    fn close(&mut self, now: Instant, reason: CloseReason) -> Edge {
        let Some(mut stream) = self.open.take() else { return Edge::Blip };
        stream.close(now);
        if reason == CloseReason::Blip && stream.before.is_empty() {
            return Edge::Blip;
        }
        self.last_end = Some(stream.speech_end);
        self.closed.push(stream);
        Edge::Closed
    }
}
