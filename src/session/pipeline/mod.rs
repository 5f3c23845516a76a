//! One speaker's way to the recogniser: voice detection, endpointing, and one recognition per
//! utterance (or one for all, if the service ends utterances itself).
//!
//! Entry type: [`SpeakerPipeline`]. When another recogniser takes over, even within an utterance,
//! finding its end may pass from the table to the service or back (`events.rs`).

mod events;

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    clock::{Received, SoundTime},
    finals::Finals,
    input::{Edge, FrameResult, Preroll},
    judging::Listening,
    recogniser::{Recogniser, RecognitionEvent},
    recognition::Recognition,
    speakers::SpeakerId,
    utterance::Utterance,
};
use crate::{
    audio::{FRAME, Frame, SampleRate},
    domain::TurnId,
    logic::{
        turn::{CloseReason, Endpointer, Input, Output},
        vad::{Vad, VadOptions},
    },
    provider::{Error, Kind, TurnJudge},
};

/// A segment this soon after the last voice continues its utterance.
pub const CONTINUES: Duration = Duration::from_millis(600);
/// Delay before a failed streaming recognition is reopened.
const REOPEN_AFTER: Duration = Duration::from_secs(5);
/// A streaming recognition is closed after this time without a voice.
const IDLE: Duration = Duration::from_secs(20);
/// A streaming recogniser reports the end of an utterance within this time of the last voice: 2 s,
/// and its longest wait.
const UNENDED: Duration = Duration::from_millis(3_500);
/// Packets up to this late are still in transit.
const PACKETS_LATE: Duration = Duration::from_millis(100);
/// Silence fed after packets stop: 1.5 s, more than any service waits for.
const SILENCE_FRAMES: u32 = 75;
const STALE: Duration = Duration::from_secs(60);

pub struct SpeakerPipeline {
    pub speaker: SpeakerId,
    /// The guess on its partial.
    pub ahead: Option<TurnId>,
    endpointer: Endpointer,
    /// Not asked if the recogniser ends utterances itself and so has judged their sound.
    judge: Option<Arc<dyn TurnJudge>>,
    vad: Vad,
    /// The recogniser of the open or the next utterance ends utterances itself, in one streaming
    /// recognition.
    service_ends: bool,
    preroll: Preroll,
    open: Option<Recognition>,
    finals: Finals,
    begun: u64,
    last_at: Option<SoundTime>,
    /// End found by a partial after the fact; reported by the next tick.
    ended: Option<(Instant, CloseReason)>,
    /// End of the last utterance, clicks aside.
    last_end: Option<Instant>,
    /// Utterance without an addressee, and why; reported once nothing can continue it.
    unaddressed: Option<(Utterance, String)>,
    silent: u32,
    reopen_at: Option<Instant>,
}

impl SpeakerPipeline {
    pub fn new(speaker: SpeakerId, listening: Listening) -> Self {
        Self {
            speaker,
            ahead: None,
            endpointer: Endpointer::new(listening.ends),
            judge: listening.judge,
            vad: Vad::new(VadOptions::default()),
            service_ends: false,
            preroll: Preroll::default(),
            open: None,
            finals: Finals::default(),
            begun: 0,
            last_at: None,
            ended: None,
            last_end: None,
            unaddressed: None,
            silent: 0,
            reopen_at: None,
        }
    }

    pub fn set_listening(&mut self, listening: Listening) {
        self.endpointer.set_ends(listening.ends);
        self.judge = listening.judge;
    }

    fn sound_at(&self, at: Received) -> SoundTime {
        self.last_at.map_or(at.sound, |last| last.max(at.sound))
    }

    pub fn frame(&mut self, at: Received, frame: &Frame, recogniser: &Recogniser) -> FrameResult {
        let sound = self.sound_at(at);
        let at = Received { sound, ..at };
        self.last_at = Some(sound);
        self.silent = 0;
        self.prepare(recogniser);
        let voicing = self.vad.push(frame.samples());
        let voiced = voicing.voiced;
        if self.service_ends {
            let refused = self.endless_frame(at, frame, voiced, recogniser).err();
            return FrameResult { voicing, edge: None, refused };
        }
        let (edge, begun) = match self.endpointer.handle(sound.into_std(), Input::Frame { voiced })
        {
            Some(Output::Open { continues }) => {
                let begun = self.begin(at, recogniser);
                for earlier in self.preroll.take() {
                    self.feed(at, &earlier, true);
                }
                self.feed(at, frame, true);
                let edge = (!self.service_ends).then_some(Edge::Opened { continues });
                (edge, begun)
            }
            Some(Output::Feed) => {
                self.feed(at, frame, voiced);
                (None, Ok(()))
            }
            Some(Output::Close { reason, .. }) => (Some(self.close(at.clock, reason)), Ok(())),
            None => (None, Ok(())),
        };
        if self.open.is_none() {
            self.preroll.keep(frame);
        }
        FrameResult { voicing, edge, refused: begun.err() }
    }

    /// Takes 20 ms for a streaming recogniser. A voice opens it.
    fn endless_frame(
        &mut self,
        at: Received,
        frame: &Frame,
        voiced: bool,
        recogniser: &Recogniser,
    ) -> Result<(), Error> {
        let mut begun = Ok(());
        if self.open.is_none() {
            if !voiced || self.reopen_at.is_some_and(|reopen| at.clock < reopen) {
                self.preroll.keep(frame);
                return Ok(());
            }
            begun = self.begin(at, recogniser);
            self.reopen_at = Some(at.clock + REOPEN_AFTER);
            for earlier in self.preroll.take() {
                self.feed(at, &earlier, true);
            }
        }
        self.feed(at, frame, voiced);
        begun
    }

    pub fn tick(&mut self, at: Received) -> Option<Edge> {
        self.feed_silence(at);
        self.judge(at);
        if self.idle_at().is_some_and(|idle| idle <= at.sound) {
            self.open = None;
        }
        if let Some((_, reason)) = self.ended.take() {
            return Some(self.close(at.clock, reason));
        }
        let sound = self.sound_at(at).into_std();
        if self.endpointer.wake_at().is_none_or(|due| sound < due) {
            return None;
        }
        match self.endpointer.handle(sound, Input::Tick) {
            Some(Output::Close { reason, .. }) => Some(self.close(at.clock, reason)),
            Some(Output::Open { .. } | Output::Feed) | None => None,
        }
    }

    /// Ends the open utterance: its speaker has let go of a talk button.
    pub fn release(&mut self, at: Received) -> Option<Edge> {
        if self.service_ends {
            self.silence(at);
            return None;
        }
        let sound = self.sound_at(at).into_std();
        match self.endpointer.handle(sound, Input::Released) {
            Some(Output::Close { reason, .. }) => Some(self.close(at.clock, reason)),
            Some(Output::Open { .. } | Output::Feed) | None => None,
        }
    }

    /// Feeds all the silence at once by which a service finds the end.
    fn silence(&mut self, at: Received) {
        while self.open.is_some() && self.silent < SILENCE_FRAMES {
            self.silent += 1;
            self.feed(at, &Frame::silence(SampleRate::HZ_16000), false);
        }
    }

    fn judge(&mut self, at: Received) {
        let due = self.judge_at().is_some_and(|due| due <= at.sound);
        if let (true, Some(judge), Some(open)) = (due, &self.judge, &mut self.open) {
            open.ask(&**judge);
        }
    }

    fn judge_at(&self) -> Option<SoundTime> {
        self.judge.as_ref().filter(|_| !self.service_ends)?;
        self.open.as_ref()?.judge_at()
    }

    /// Feeds silence to a streaming recogniser, because packets stop when the speaker does.
    fn feed_silence(&mut self, at: Received) {
        while let Some(due) = self.silence_at().filter(|due| *due <= at.sound) {
            self.silent += 1;
            let silence = Frame::silence(SampleRate::HZ_16000);
            self.feed(Received { sound: due, ..at }, &silence, false);
        }
    }

    fn silence_at(&self) -> Option<SoundTime> {
        let last = self.last_at.filter(|_| self.service_ends && self.open.is_some())?;
        match self.silent {
            0 => Some(last + PACKETS_LATE),
            fed if fed < SILENCE_FRAMES => {
                Some((last + PACKETS_LATE).max(last + FRAME * (fed + 1)))
            }
            _ => None,
        }
    }

    fn idle_at(&self) -> Option<SoundTime> {
        let open = self.open.as_ref().filter(|_| self.service_ends)?;
        Some(open.voiced_at() + IDLE)
    }

    fn unended_at(&self) -> Option<SoundTime> {
        let open =
            self.open.as_ref().filter(|open| self.service_ends && !open.partial.is_empty())?;
        Some(open.voiced_at() + UNENDED)
    }

    /// Takes the open utterance, as far as known, if its recogniser is overdue to report the end.
    pub fn unended(&mut self, at: Received) -> Option<Utterance> {
        self.unended_at().filter(|due| *due <= at.sound)?;
        let late = Error::new(Kind::Timeout, "the recogniser never reported the end");
        if self.fall_over(late, at.clock).is_ok() {
            return None;
        }
        let mut open = self.open.take()?;
        tracing::warn!("giving up an utterance: the recogniser never reported its end");
        let text = std::mem::take(&mut open.partial);
        Some(open.cut(text, at.clock))
    }

    pub fn wake_at(&self) -> Option<Instant> {
        let by_sound = self.due_by_sound().map(|due| due.0);
        [by_sound, self.due_by_clock()].into_iter().flatten().min()
    }

    pub fn is_due(&self, at: Received) -> bool {
        self.due_by_sound().is_some_and(|due| due <= at.sound)
            || self.due_by_clock().is_some_and(|due| due <= at.clock)
    }

    fn due_by_sound(&self) -> Option<SoundTime> {
        let end = self.endpointer.wake_at().map(|due| SoundTime(Instant::from_std(due)));
        let finished = self.endpointer.is_finished();
        let stable = self.open.as_ref().and_then(|open| open.stable_at(finished));
        let service = [self.idle_at(), self.unended_at(), self.silence_at()];
        [end, stable, self.judge_at()].into_iter().chain(service).flatten().min()
    }

    fn due_by_clock(&self) -> Option<Instant> {
        let untold =
            self.unaddressed.as_ref().map(|(utterance, _)| utterance.speech_end + CONTINUES);
        let ended = self.ended.map(|(at, _)| at);
        let stuck = self.open.as_ref().map(Recognition::stuck_at);
        [self.finals.due(), untold, ended, stuck].into_iter().flatten().min()
    }

    /// An utterance whose final is overdue, or whose sound the recogniser does not take.
    pub fn overdue(&mut self, now: Instant) -> Option<(Utterance, Error)> {
        if self.open.as_mut().is_some_and(|open| open.is_stuck(now)) {
            let text = "the recogniser accepts no sound (restart, or test it with glyphoxa doctor)";
            let error = self.fall_over(Error::new(Kind::Timeout, text), now).err()?;
            let stuck = self.open.take()?;
            return Some((stuck.into_utterance(now), error));
        }
        self.finals.overdue(now)
    }

    /// Stores an utterance without an addressee while it may be continued; false if that time is
    /// over.
    pub fn keep_unaddressed(&mut self, now: Instant, utterance: &Utterance, why: &str) -> bool {
        let keeps = self.open.is_none() && now < utterance.speech_end + CONTINUES;
        if keeps {
            self.unaddressed = Some((utterance.clone(), why.to_owned()));
        }
        keeps
    }

    /// Takes the last utterance without an addressee once nothing can continue it.
    pub fn unaddressed(&mut self, now: Instant) -> Option<(Utterance, String)> {
        let over =
            |(utterance, _): &mut (Utterance, String)| utterance.speech_end + CONTINUES <= now;
        self.unaddressed.take_if(over)
    }

    pub fn take_unaddressed(&mut self) -> Option<(Utterance, String)> {
        self.unaddressed.take()
    }

    pub fn awaits_final(&self) -> bool {
        !self.finals.is_empty()
    }

    /// True if a finished utterance is not reported yet.
    pub fn is_finalising(&self) -> bool {
        let is_half_understood = self.open.as_ref().is_some_and(Recognition::is_half_understood);
        !self.finals.is_empty() || self.unaddressed.is_some() || is_half_understood
    }

    pub fn is_drained(&self) -> bool {
        self.open.as_ref().is_none_or(Recognition::is_drained)
    }

    pub fn is_stale(&self, now: Instant) -> bool {
        let idle = self.service_ends || self.open.is_none();
        let quiet = self.last_at.is_some_and(|at| now.saturating_duration_since(at.0) > STALE);
        idle && quiet && !self.is_finalising() && self.ahead.is_none()
    }

    pub fn open(&self) -> Option<&Recognition> {
        self.open.as_ref()
    }

    pub fn last_end(&self) -> Option<Instant> {
        self.last_end
    }

    /// Offers the open utterance for a guess again, unless there is one: a seat has become free.
    pub fn offer_again(&mut self) {
        if let (None, Some(open)) = (self.ahead, &mut self.open) {
            open.offer_again();
        }
    }

    /// The open utterance for a guess; offered once.
    pub fn stable_partial(&mut self, at: SoundTime) -> Option<Utterance> {
        let open = self.open.as_mut()?;
        open.stable_at(self.endpointer.is_finished()).filter(|due| *due <= at)?;
        Some(open.offer())
    }

    /// Continues the previous utterance, known or still being recognised, in the segment that just
    /// opened. `apart`: after more than a pause.
    pub fn continue_with(&mut self, before: Option<Utterance>, apart: bool) {
        if let Some(open) = &mut self.open {
            open.apart = apart;
            if let Some(before) = before {
                open.continue_after(before);
            }
        }
        self.finals.park_last();
    }

    pub fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<RecognitionEvent> {
        for recognition in self.finals.iter_mut().chain(&mut self.open) {
            if let Poll::Ready(event) = recognition.poll_event(context) {
                return Poll::Ready(event);
            }
        }
        Poll::Pending
    }

    fn begin(&mut self, at: Received, recogniser: &Recogniser) -> Result<(), Error> {
        self.begun += 1;
        self.open = None;
        self.open = Some(Recognition::start(self.begun, self.speaker, recogniser, at)?);
        self.follow();
        Ok(())
    }

    fn feed(&mut self, at: Received, frame: &Frame, voiced: bool) {
        if let Some(open) = &mut self.open {
            open.feed(at, frame, voiced);
        }
    }

    fn close(&mut self, now: Instant, reason: CloseReason) -> Edge {
        let Some(mut over) = self.open.take() else { return Edge::Blip };
        over.close(now);
        if reason == CloseReason::Blip && over.before.is_empty() {
            return Edge::Blip;
        }
        self.last_end = Some(over.speech_end);
        self.finals.push(over);
        Edge::Closed
    }
}
