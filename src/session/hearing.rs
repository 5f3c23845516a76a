//! Hearing of a table: a pipeline for each speaker, the recogniser they share, and how far the sound is.
//!
//! Entry type: [`Hearing`]. A panic while a pipeline is used costs this pipeline alone: it is dropped with the
//! recogniser's streams, which are not polled again, and stays in [`Broken`] until the table has reported it.
//! The speaker's next frame makes another, once a pause is over that the table sets.
//! **Never**: decides who is addressed, or tells anybody.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    task::Poll,
};

use tokio::time::Instant;

use super::{
    clock::{Received, SoundClock, SoundTime},
    edge::{Edge, FrameResult},
    finals::Recognised,
    input::VoiceFrame,
    judging::Listening,
    pipeline::SpeakerPipeline,
    recogniser::Recogniser,
    recognition::Recognition,
    recognition_event::RecognitionEvent,
    rest_of_speech::RestOfSpeech,
    speakers::SpeakerId,
    utterance::Utterance,
};
use crate::{
    audio::Frame,
    domain::TurnId,
    logic::command::NpcNames,
    panics::{Panicked, caught_now},
    provider::Error,
};

/// Hears each speaker by a pipeline of their own.
pub struct Hearing {
    recogniser: Recogniser,
    listening: Listening,
    pipelines: HashMap<SpeakerId, SpeakerPipeline>,
    /// Speech that an X-card dropped and that goes on.
    rest: RestOfSpeech,
    /// Pipelines that were dropped after a panic, not reported yet.
    broken: Vec<Broken>,
    /// Speakers who are not heard until then, after a panic.
    resting: HashMap<SpeakerId, Instant>,
    /// Time up to which the sound has been heard.
    pub clock: SoundClock,
}

/// Hearing of one speaker that was dropped after a panic.
pub struct Broken {
    /// The speaker, whose utterances under way are lost.
    pub speaker: SpeakerId,
    /// Place of the panic.
    pub fault: Panicked,
    /// The turn that was begun on a partial.
    pub ahead: Option<TurnId>,
    /// Said to nobody and not reported yet, and why nobody was meant.
    pub unaddressed: Option<(Utterance, String)>,
}

/// Events of one speaker that time alone has brought about.
pub struct Due {
    /// The utterance was ended by silence.
    pub edge: Option<Edge>,
    /// An utterance whose final did not come, or whose sound nobody takes.
    pub overdue: Option<(Utterance, Error)>,
    /// An utterance whose end the recogniser should have told, as far as it is known.
    pub unended: Option<Utterance>,
    /// An utterance that may be answered ahead of its final.
    pub stable: Option<Utterance>,
    /// Said to nobody and continued by nothing, and why nobody was meant.
    pub unaddressed: Option<(Utterance, String)>,
}

impl Hearing {
    /// Hears with `recogniser`; `listening` says when an utterance ends.
    pub fn new(recogniser: Recogniser, listening: Listening) -> Self {
        Self {
            recogniser,
            listening,
            pipelines: HashMap::new(),
            rest: RestOfSpeech::default(),
            broken: Vec::new(),
            resting: HashMap::new(),
            clock: SoundClock::default(),
        }
    }

    /// From now on `listening` says when an utterance ends.
    pub fn set_listening(&mut self, listening: Listening) {
        self.pipelines.values_mut().for_each(|pipeline| pipeline.set_listening(listening.clone()));
        self.listening = listening;
    }

    /// Name of the recogniser, for reports.
    pub fn recogniser(&self) -> &str {
        self.recogniser.stt.name()
    }

    /// True if a sound model judges pauses.
    pub fn listens(&self) -> bool {
        self.listening.judge.is_some()
    }

    /// True if the recogniser gives partials while somebody speaks.
    pub fn gives_partials(&self) -> bool {
        self.recogniser.stt.abilities().partials
    }

    /// Tells the recogniser which names it is likely to hear, if it can be told.
    pub fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        self.recogniser.stt.expect(names);
    }

    /// Takes 20 ms of one speaker; `None`: they are not heard after a panic.
    pub fn frame(&mut self, now: Instant, voice: &VoiceFrame) -> Option<FrameResult> {
        if let Some(voicing) = self.rest.take(voice) {
            return Some(FrameResult { voicing, edge: None, refused: None });
        }
        let VoiceFrame { speaker, at, frame } = voice;
        if self.resting.get(speaker).is_some_and(|until| now < *until) {
            return None;
        }
        if !self.pipelines.contains_key(speaker) {
            self.pipelines.retain(|_, pipeline| !pipeline.is_stale(now));
        }
        let (listening, recogniser) = (&self.listening, &self.recogniser);
        let begin =
            || SpeakerPipeline::new(*speaker, listening.clone(), recogniser.stt.abilities());
        let pipeline = self.pipelines.entry(*speaker).or_insert_with(begin);
        let at = Received { clock: now, sound: *at };
        let result = caught_now(|| pipeline.frame(at, frame, recogniser));
        result.map_err(|fault| self.breaks(*speaker, fault)).ok()
    }

    /// Speakers for whom there is something to do.
    pub fn due(&self, now: Instant) -> Vec<SpeakerId> {
        let at = self.clock.at(now);
        let due = |pipeline: &&SpeakerPipeline| pipeline.is_due(at);
        self.pipelines.values().filter(due).map(|pipeline| pipeline.speaker).collect()
    }

    /// Does what is to be done for `speaker`.
    pub fn tick(&mut self, now: Instant, speaker: SpeakerId) -> Option<Due> {
        let at = self.clock.at(now);
        self.guarded(speaker, |pipeline| Due {
            edge: pipeline.tick(at),
            overdue: pipeline.overdue(now),
            unended: pipeline.unended(at),
            stable: pipeline.stable_partial(at.sound),
            unaddressed: pipeline.unaddressed(now),
        })
    }

    /// Next event of a recogniser, with its speaker; pending while none comes. `None`: a recogniser has
    /// panicked. Cancel safe.
    pub async fn next(&mut self) -> Option<(SpeakerId, RecognitionEvent)> {
        let next = poll_fn(|context| {
            for (speaker, pipeline) in &mut self.pipelines {
                match caught_now(|| pipeline.poll_event(context)) {
                    Ok(Poll::Ready(event)) => return Poll::Ready(Ok((*speaker, event))),
                    Ok(Poll::Pending) => {}
                    Err(fault) => return Poll::Ready(Err((*speaker, fault))),
                }
            }
            Poll::Pending
        });
        let result = next.await;
        result.map_err(|(speaker, fault)| self.breaks(speaker, fault)).ok()
    }

    /// Uses the pipeline of `speaker`, unless there is none; one that panics is dropped.
    fn guarded<T>(
        &mut self,
        speaker: SpeakerId,
        usage: impl FnOnce(&mut SpeakerPipeline) -> T,
    ) -> Option<T> {
        let pipeline = self.pipelines.get_mut(&speaker)?;
        caught_now(|| usage(pipeline)).map_err(|fault| self.breaks(speaker, fault)).ok()
    }

    /// Drops the pipeline of `speaker`, in which something has panicked.
    fn breaks(&mut self, speaker: SpeakerId, fault: Panicked) {
        let Some(mut pipeline) = self.pipelines.remove(&speaker) else { return };
        let (ahead, unaddressed) = (pipeline.ahead.take(), pipeline.take_unaddressed());
        self.broken.push(Broken { speaker, fault, ahead, unaddressed });
        // A stream that was left in the middle may panic again.
        if let Err(again) = caught_now(|| drop(pipeline)) {
            tracing::error!(fault = %again, "cannot drop what heard a speaker");
        }
    }

    /// Takes the pipelines that were dropped since the last time.
    pub fn take_broken(&mut self) -> Vec<Broken> {
        std::mem::take(&mut self.broken)
    }

    /// Does not hear `speaker` before `until`.
    pub fn rest(&mut self, now: Instant, speaker: SpeakerId, until: Instant) {
        self.resting.retain(|_, until| now < *until);
        self.resting.insert(speaker, until);
    }

    /// Takes in what a recogniser has said of what `speaker` says.
    pub fn recognised(
        &mut self,
        now: Instant,
        speaker: SpeakerId,
        event: RecognitionEvent,
        names: &[NpcNames],
    ) -> Recognised {
        let at = self.clock.at(now);
        let told = self.guarded(speaker, |pipeline| pipeline.recognised(event, at, names));
        told.unwrap_or(Recognised::Nothing)
    }

    /// The pipeline of `speaker`, who has been heard.
    pub fn of(&mut self, speaker: SpeakerId) -> Option<&mut SpeakerPipeline> {
        self.pipelines.get_mut(&speaker)
    }

    /// Speakers with an open utterance.
    pub fn sounding(&self) -> impl Iterator<Item = SpeakerId> {
        let speaking =
            self.pipelines.values().filter(|it| it.open().is_some_and(|it| it.sound().is_some()));
        speaking.map(|it| it.speaker)
    }

    /// The sound so far of what `speaker` is saying.
    pub fn sound_of(&self, speaker: SpeakerId) -> Option<&VecDeque<Frame>> {
        self.pipelines.get(&speaker)?.open()?.sound()
    }

    /// True if `speaker` is saying something, or it is not known yet what they have said.
    pub fn is_hearing(&self, speaker: SpeakerId) -> bool {
        let pipeline = self.pipelines.get(&speaker);
        pipeline.is_some_and(|it| it.open().is_some() || it.is_finalising())
    }

    /// True if `speaker` has been heard lately.
    pub fn knows(&self, speaker: SpeakerId) -> bool {
        self.pipelines.contains_key(&speaker)
    }

    /// Everybody who has been heard lately.
    pub fn speakers(&self) -> Vec<SpeakerId> {
        self.pipelines.keys().copied().collect()
    }

    /// Drops what `speaker` is saying; what they have said to nobody and is not told yet.
    pub fn remove(&mut self, speaker: SpeakerId) -> Option<(Utterance, String)> {
        self.pipelines.remove(&speaker)?.take_unaddressed()
    }

    /// Drops what anybody is saying; what was said to nobody and is not told yet.
    pub fn clear(&mut self) -> Vec<(Utterance, String)> {
        let dropped = self.pipelines.drain();
        dropped.filter_map(|(_, mut pipeline)| pipeline.take_unaddressed()).collect()
    }

    /// Drops what anybody is saying, with the rest of it: an X-card was used.
    pub fn drop_speech(&mut self, now: Instant) {
        let voices = self.pipelines.drain().filter_map(|(speaker, pipeline)| {
            let open = pipeline.open().map(Recognition::voiced_at);
            Some((speaker, open.or_else(|| pipeline.last_end().map(SoundTime))?))
        });
        self.rest.begin(SoundTime(now), voices);
    }

    /// True if the recogniser has taken all sound there is.
    pub fn is_drained(&self) -> bool {
        self.pipelines.values().all(SpeakerPipeline::is_drained)
    }

    /// True if an utterance is over but not told yet.
    pub fn is_finalising(&self) -> bool {
        self.pipelines.values().any(SpeakerPipeline::is_finalising)
    }

    /// Next time at which [`Self::due`] is worth calling without a new frame.
    pub fn wake_at(&self) -> Option<Instant> {
        self.pipelines.values().filter_map(SpeakerPipeline::wake_at).min()
    }
}
