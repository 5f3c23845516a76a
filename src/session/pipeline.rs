//! One speaker's way to the recogniser: voice activity, endpointing, one recognition an utterance.
//!
//! Entry type: [`SpeakerPipeline`]. **Never**: decides who is addressed.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    clock::{Received, SoundTime},
    edge::{Edge, FrameResult},
    finals::{Finals, Recognised},
    judging::Listening,
    preroll::Preroll,
    recogniser::Recogniser,
    recognition::Recognition,
    recognition_event::{News, RecognitionEvent},
    speakers::SpeakerId,
    utterance::Utterance,
};
use crate::{
    audio::{FRAME, Frame, SampleRate},
    domain::TurnId,
    logic::{
        command::NpcNames,
        turn::{CloseReason, Endpointer, Input, Output, reads},
        vad::{Vad, VadOptions},
    },
    provider::{Error, Kind, SpeechEvent, SttAbilities, TurnJudge},
};

/// A segment that begins this soon after the last one's voice belongs to the same utterance.
pub const CONTINUES: Duration = Duration::from_millis(600);
/// A recognition that did not begin or broke off is not begun again for so long, where one goes on
/// for all utterances.
const REOPEN_AFTER: Duration = Duration::from_secs(5);
/// A recogniser that goes on for all utterances is given back after so long without a voice.
const IDLE: Duration = Duration::from_secs(20);
/// A recogniser that ends utterances itself has told the end by then, after the last voice: 2 s, and
/// the longest it waits by itself.
const UNENDED: Duration = Duration::from_millis(3_500);
/// Packets this late are still on their way.
const PACKETS_LATE: Duration = Duration::from_millis(100);
/// Silence that is handed on when packets have stopped: 1.5 s, more than any service waits for.
const SILENCE_FRAMES: u32 = 75;
/// A pipeline without a frame for so long is given back.
const STALE: Duration = Duration::from_secs(60);

/// Voice activity, endpointing and recognitions of one speaker.
pub struct SpeakerPipeline {
    /// The speaker whose voice it takes.
    pub speaker: SpeakerId,
    /// The turn that was begun on the partial, if any.
    pub ahead: Option<TurnId>,
    endpointer: Endpointer,
    /// Judges how pauses sound.
    judge: Option<Arc<dyn TurnJudge>>,
    vad: Vad,
    /// The recogniser ends utterances itself, in one recognition.
    service_ends: bool,
    preroll: Preroll,
    open: Option<Recognition>,
    finals: Finals,
    /// Recognitions so far.
    begun: u64,
    /// Time at which the last frame was spoken.
    last_at: Option<SoundTime>,
    /// A partial came after the time of the end: told with the next tick.
    ended: Option<(Instant, CloseReason)>,
    /// End of the last utterance, clicks aside.
    last_end: Option<Instant>,
    /// Said to nobody, and why; told when nothing continues it.
    unaddressed: Option<(Utterance, String)>,
    /// Frames of silence handed on since the last frame.
    silent: u32,
    reopen_at: Option<Instant>,
}

impl SpeakerPipeline {
    /// A speaker who has not spoken yet.
    pub fn new(speaker: SpeakerId, listening: Listening, abilities: SttAbilities) -> Self {
        let service_ends = abilities.endpointing;
        Self {
            speaker,
            ahead: None,
            endpointer: Endpointer::new(listening.ends),
            // A service that ends utterances itself has judged their sound.
            judge: listening.judge.filter(|_| !service_ends),
            vad: Vad::new(VadOptions::default()),
            service_ends,
            preroll: Preroll::default(),
            open: None,
            finals: Finals::new(speaker),
            begun: 0,
            last_at: None,
            ended: None,
            last_end: None,
            unaddressed: None,
            silent: 0,
            reopen_at: None,
        }
    }

    /// From now on `listening` says when they have finished.
    pub fn set_listening(&mut self, listening: Listening) {
        self.endpointer.set_ends(listening.ends);
        self.judge = listening.judge.filter(|_| !self.service_ends);
    }

    /// Time in the sound; it never goes back.
    fn sound_at(&self, at: Received) -> SoundTime {
        self.last_at.map_or(at.sound, |last| last.max(at.sound))
    }

    /// Takes 20 ms.
    pub fn frame(&mut self, at: Received, frame: &Frame, recogniser: &Recogniser) -> FrameResult {
        let sound = self.sound_at(at);
        let at = Received { sound, ..at };
        self.last_at = Some(sound);
        self.silent = 0;
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
                (Some(Edge::Opened { continues }), begun)
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

    /// Takes 20 ms for a recogniser that ends utterances itself. It is opened by a voice.
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

    /// Ends what is over because nothing came any more.
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

    /// Has it judged how the pause sounds, once it is one.
    fn judge(&mut self, at: Received) {
        let due = self.judge_at().is_some_and(|due| due <= at.sound);
        if let (true, Some(judge), Some(open)) = (due, &self.judge, &mut self.open) {
            open.ask(&**judge);
        }
    }

    /// Time to have the sound of the pause judged.
    fn judge_at(&self) -> Option<SoundTime> {
        self.judge.as_ref()?;
        self.open.as_ref()?.judge_at()
    }

    /// Packets stop when nobody speaks; a recogniser that ends utterances itself has to hear the
    /// silence.
    fn feed_silence(&mut self, at: Received) {
        while let Some(due) = self.silence_at().filter(|due| *due <= at.sound) {
            self.silent += 1;
            let silence = Frame::silence(SampleRate::HZ_16000);
            self.feed(Received { sound: due, ..at }, &silence, false);
        }
    }

    /// Time to hand on the next frame of silence.
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

    /// Time to give back a recogniser that goes on for all utterances.
    fn idle_at(&self) -> Option<SoundTime> {
        let open = self.open.as_ref().filter(|_| self.service_ends)?;
        Some(open.voiced_at() + IDLE)
    }

    /// Deadline for a recogniser that ends utterances itself to report the end of one.
    fn unended_at(&self) -> Option<SoundTime> {
        let open =
            self.open.as_ref().filter(|open| self.service_ends && !open.partial.is_empty())?;
        Some(open.voiced_at() + UNENDED)
    }

    /// The open utterance, as far as it is known, if its recogniser is overdue to report the end; gives it
    /// up.
    pub fn unended(&mut self, at: Received) -> Option<Utterance> {
        self.unended_at().filter(|due| *due <= at.sound)?;
        let mut open = self.open.take()?;
        tracing::warn!("giving up an utterance: the recogniser never reported its end");
        let text = std::mem::take(&mut open.partial);
        Some(open.cut(self.speaker, text, at.clock))
    }

    /// Time of the next [`Self::tick`] or [`Self::overdue`].
    pub fn wake_at(&self) -> Option<Instant> {
        let by_sound = self.due_by_sound().map(|due| due.0);
        [by_sound, self.due_by_clock()].into_iter().flatten().min()
    }

    /// True if something is to be done.
    pub fn is_due(&self, at: Received) -> bool {
        self.due_by_sound().is_some_and(|due| due <= at.sound)
            || self.due_by_clock().is_some_and(|due| due <= at.clock)
    }

    fn due_by_sound(&self) -> Option<SoundTime> {
        let end = self.endpointer.wake_at().map(|due| SoundTime(Instant::from_std(due)));
        let stable = self.open.as_ref().and_then(Recognition::stable_at);
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

    /// An utterance whose final did not come, or whose sound nobody takes.
    pub fn overdue(&mut self, now: Instant) -> Option<(Utterance, Error)> {
        if let Some(stuck) = self.open.take_if(|open| open.is_stuck(now)) {
            let text = "the recogniser accepts no sound (restart, or test it with glyphoxa doctor)";
            let error = Error::new(Kind::Timeout, text);
            return Some((stuck.into_utterance(self.speaker, now), error));
        }
        self.finals.overdue(now)
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

    /// The last utterance that addressed nobody, once nothing can continue it any more.
    pub fn unaddressed(&mut self, now: Instant) -> Option<(Utterance, String)> {
        let over =
            |(utterance, _): &mut (Utterance, String)| utterance.speech_end + CONTINUES <= now;
        self.unaddressed.take_if(over)
    }

    /// The last utterance that addressed nobody, at once.
    pub fn take_unaddressed(&mut self) -> Option<(Utterance, String)> {
        self.unaddressed.take()
    }

    /// True if the final of an utterance is waited for.
    pub fn awaits_final(&self) -> bool {
        !self.finals.is_empty()
    }

    /// True if an utterance is over but not told yet.
    pub fn is_finalising(&self) -> bool {
        let is_half_understood = self.open.as_ref().is_some_and(Recognition::is_half_understood);
        !self.finals.is_empty() || self.unaddressed.is_some() || is_half_understood
    }

    /// True if the recogniser has taken all sound there is.
    pub fn is_drained(&self) -> bool {
        self.open.as_ref().is_none_or(Recognition::is_drained)
    }

    /// True if nobody has been speaking here for long.
    pub fn is_stale(&self, now: Instant) -> bool {
        let idle = self.service_ends || self.open.is_none();
        let quiet = self.last_at.is_some_and(|at| now.saturating_duration_since(at.0) > STALE);
        idle && quiet && !self.is_finalising() && self.ahead.is_none()
    }

    /// The utterance that the recogniser hears and that is not over.
    pub fn open(&self) -> Option<&Recognition> {
        self.open.as_ref()
    }

    /// End of the last utterance.
    pub fn last_end(&self) -> Option<Instant> {
        self.last_end
    }

    /// The open utterance as it may be answered ahead of its final; offered once.
    pub fn stable_partial(&mut self, at: SoundTime) -> Option<Utterance> {
        let open = self.open.as_mut()?;
        open.stable_at().filter(|due| *due <= at)?;
        Some(open.offer(self.speaker))
    }

    /// Joins the segment that just opened to the one before: an utterance that is known already, or
    /// the one still being recognised. `apart`: after more than a pause.
    pub fn continue_with(&mut self, before: Option<Utterance>, apart: bool) {
        if let Some(open) = &mut self.open {
            open.apart = apart;
            if let Some(before) = before {
                open.continue_after(before);
            }
        }
        self.finals.park_last();
    }

    /// The recogniser's next event about any utterance.
    pub fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<RecognitionEvent> {
        for recognition in self.finals.iter_mut().chain(&mut self.open) {
            if let Poll::Ready(event) = recognition.poll_event(context) {
                return Poll::Ready(event);
            }
        }
        Poll::Pending
    }

    /// Takes in what the recogniser said.
    pub fn recognised(
        &mut self,
        event: RecognitionEvent,
        at: Received,
        names: &[NpcNames],
    ) -> Recognised {
        if self.open.as_ref().is_some_and(|open| open.id == event.recognition) {
            return self.open_recognised(event.news, at, names);
        }
        self.finals.recognised(event, self.open.as_mut(), at.clock)
    }

    fn open_recognised(&mut self, news: News, at: Received, names: &[NpcNames]) -> Recognised {
        match news {
            News::Said(SpeechEvent::Partial { text }) => self.partial(text, at, names),
            News::Said(SpeechEvent::Pause { text }) => self.paused(text, at, names),
            News::Said(SpeechEvent::EagerEnd { text }) => self.nearly_over(text, at),
            News::Said(SpeechEvent::Resumed) => {
                let sound = self.sound_at(at);
                let Some(open) = &mut self.open else { return Recognised::Nothing };
                open.resumed(sound);
                Recognised::Resumed
            }
            News::Said(SpeechEvent::Final { text }) => {
                let Some(open) = &mut self.open else { return Recognised::Nothing };
                if self.service_ends {
                    return Recognised::Understood(open.cut(self.speaker, text, at.clock));
                }
                open.text = Some(text);
                Recognised::Nothing
            }
            News::Sounds(judgement) => {
                self.learn(at, Input::Judged(judgement));
                Recognised::Nothing
            }
            News::Failed(error) => {
                if error.kind() == Kind::OverBudget {
                    self.reopen_at = Some(at.clock + REOPEN_AFTER);
                }
                let Some(over) = self.open.take() else { return Recognised::Nothing };
                Recognised::Failed(over.into_utterance(self.speaker, at.clock), error)
            }
            // The recogniser did not want the rest.
            News::Over => match self.open.take().filter(|_| !self.service_ends) {
                Some(over) => Recognised::Understood(over.into_utterance(self.speaker, at.clock)),
                None => Recognised::Nothing,
            },
        }
    }

    /// Takes in a partial text, while somebody speaks.
    fn partial(&mut self, text: String, at: Received, names: &[NpcNames]) -> Recognised {
        let sound = self.sound_at(at);
        let Some(open) = self.open.as_mut().filter(|open| open.partial != text) else {
            return Recognised::Nothing;
        };
        let reading = reads(&text, names);
        open.read(sound, text.clone());
        self.learn(at, Input::Partial { reading, stable_since: sound.into_std() });
        Recognised::Partial(text)
    }

    /// Takes in a text that is probably complete: it may be answered ahead at once.
    fn nearly_over(&mut self, text: String, at: Received) -> Recognised {
        let Some(open) = &mut self.open else { return Recognised::Nothing };
        let is_new = open.partial != text;
        open.nearly_over(at.sound, text.clone());
        if is_new { Recognised::Partial(text) } else { Recognised::Nothing }
    }

    /// Takes in the text until a pause, if that still lasts.
    fn paused(&mut self, text: String, at: Received, names: &[NpcNames]) -> Recognised {
        let sound = self.sound_at(at);
        let Some(open) = self.open.as_mut().filter(|open| open.is_pausing(sound)) else {
            return self.partial(text, at, names);
        };
        let is_new = open.partial != text;
        let reading = reads(&text, names);
        open.paused(text.clone());
        self.learn(at, Input::Pause { reading });
        if is_new { Recognised::Partial(text) } else { Recognised::Nothing }
    }

    /// Passes what is known of the open utterance to the endpointer; an end that follows is reported with the
    /// next tick.
    fn learn(&mut self, at: Received, input: Input) {
        let sound = self.sound_at(at);
        if let Some(Output::Close { reason, .. }) = self.endpointer.handle(sound.into_std(), input)
        {
            self.ended = Some((at.clock, reason));
        }
    }

    fn begin(&mut self, at: Received, recogniser: &Recogniser) -> Result<(), Error> {
        self.begun += 1;
        self.open = None;
        self.open = Some(Recognition::start(self.begun, self.speaker, recogniser, at)?);
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
