//! A table's recognition: one pipeline per speaker, the shared recogniser, and the sound clock.
//!
//! Entry type: [`Hearing`]. A panic in a pipeline costs only that pipeline: it is dropped with its
//! recogniser streams, which are not polled again, and kept in [`Broken`] until the table has
//! reported it. The speaker's next frame opens a new one, after a pause set by the table.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::Arc,
    task::Poll,
};

use tokio::time::Instant;

use super::{
    clock::{Received, SoundClock, SoundTime},
    finals::Recognised,
    input::{Edge, FrameResult, VoiceFrame},
    judging::Listening,
    pipeline::SpeakerPipeline,
    recogniser::{Recogniser, RecognitionEvent},
    recognition::Recognition,
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

pub struct Hearing {
    recogniser: Recogniser,
    listening: Listening,
    pipelines: HashMap<SpeakerId, SpeakerPipeline>,
    /// Speech after an X-card that is still dropped.
    rest: RestOfSpeech,
    broken: Vec<Broken>,
    /// End of each speaker's pause after a panic.
    resting: HashMap<SpeakerId, Instant>,
    /// No recogniser could hear an utterance since one last understood a person.
    is_deaf: bool,
    pub clock: SoundClock,
}

pub struct Broken {
    pub speaker: SpeakerId,
    pub fault: Panicked,
    pub ahead: Option<TurnId>,
    /// Utterance without an addressee that is not reported yet, and why it has none.
    pub unaddressed: Option<(Utterance, String)>,
}

/// Events of one speaker caused by time alone.
pub struct Due {
    pub edge: Option<Edge>,
    /// An utterance whose final is overdue, or whose sound the recogniser does not take.
    pub overdue: Option<(Utterance, Error)>,
    /// An utterance, as far as known, whose recogniser failed to report the end.
    pub unended: Option<Utterance>,
    /// An utterance stable enough for a guess.
    pub stable: Option<Utterance>,
    /// A final utterance without an addressee, and why it has none.
    pub unaddressed: Option<(Utterance, String)>,
}

impl Hearing {
    pub fn new(recogniser: Recogniser, listening: Listening) -> Self {
        Self {
            recogniser,
            listening,
            pipelines: HashMap::new(),
            rest: RestOfSpeech::default(),
            broken: Vec::new(),
            resting: HashMap::new(),
            is_deaf: false,
            clock: SoundClock::default(),
        }
    }

    pub fn set_listening(&mut self, listening: Listening) {
        self.pipelines.values_mut().for_each(|pipeline| pipeline.set_listening(listening.clone()));
        self.listening = listening;
    }

    /// Name of the recogniser that would hear an utterance now.
    pub fn recogniser(&self) -> Arc<str> {
        self.recogniser.chain.called()
    }

    pub fn listens(&self) -> bool {
        self.listening.judge.is_some()
    }

    /// True if the recogniser that would hear an utterance now gives partials.
    pub fn gives_partials(&self) -> bool {
        self.recogniser.chain.abilities().partials
    }

    /// Passes likely names to the recognisers that accept hints.
    pub fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        self.recogniser.chain.iter().for_each(|it| it.service().expect(names));
    }

    /// Notes that no recogniser could hear an utterance; true the first time.
    pub fn goes_deaf(&mut self) -> bool {
        !std::mem::replace(&mut self.is_deaf, true)
    }

    /// Notes that a person was understood; true if none was before.
    pub fn understands(&mut self) -> bool {
        std::mem::take(&mut self.is_deaf)
    }

    /// Unread news for the game master: recognisers that reject all requests.
    pub fn news(&self) -> Vec<String> {
        self.recogniser.chain.news()
    }

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
        let begin = || SpeakerPipeline::new(*speaker, listening.clone());
        let pipeline = self.pipelines.entry(*speaker).or_insert_with(begin);
        let at = Received { clock: now, sound: *at };
        let result = caught_now(|| pipeline.frame(at, frame, recogniser));
        result.map_err(|fault| self.breaks(*speaker, fault)).ok()
    }

    /// Speakers for whom [`Self::tick`] has work.
    pub fn due(&self, now: Instant) -> Vec<SpeakerId> {
        let at = self.clock.at(now);
        let due = |pipeline: &&SpeakerPipeline| pipeline.is_due(at);
        self.pipelines.values().filter(due).map(|pipeline| pipeline.speaker).collect()
    }

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

    /// Ends the open utterance of `speaker`, who has let go of a talk button.
    pub fn release(&mut self, now: Instant, speaker: SpeakerId) -> Option<Edge> {
        let at = self.clock.at(now);
        self.guarded(speaker, |pipeline| pipeline.release(at)).flatten()
    }

    /// Next event of a recogniser; pending while none comes. `None`: a recogniser panicked. Cancel
    /// safe.
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

    fn guarded<T>(
        &mut self,
        speaker: SpeakerId,
        usage: impl FnOnce(&mut SpeakerPipeline) -> T,
    ) -> Option<T> {
        let pipeline = self.pipelines.get_mut(&speaker)?;
        caught_now(|| usage(pipeline)).map_err(|fault| self.breaks(speaker, fault)).ok()
    }

    fn breaks(&mut self, speaker: SpeakerId, fault: Panicked) {
        let Some(mut pipeline) = self.pipelines.remove(&speaker) else { return };
        let (ahead, unaddressed) = (pipeline.ahead.take(), pipeline.take_unaddressed());
        self.broken.push(Broken { speaker, fault, ahead, unaddressed });
        // A stream interrupted by a panic may panic again when dropped.
        if let Err(again) = caught_now(|| drop(pipeline)) {
            tracing::error!(fault = %again, "cannot drop what heard a speaker");
        }
    }

    pub fn take_broken(&mut self) -> Vec<Broken> {
        std::mem::take(&mut self.broken)
    }

    pub fn rest(&mut self, now: Instant, speaker: SpeakerId, until: Instant) {
        self.resting.retain(|_, until| now < *until);
        self.resting.insert(speaker, until);
    }

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

    pub fn of(&mut self, speaker: SpeakerId) -> Option<&mut SpeakerPipeline> {
        self.pipelines.get_mut(&speaker)
    }

    pub fn sounding(&self) -> impl Iterator<Item = SpeakerId> {
        let speaking =
            self.pipelines.values().filter(|it| it.open().is_some_and(|it| it.sound().is_some()));
        speaking.map(|it| it.speaker)
    }

    /// Sound so far of the open utterance of `speaker`.
    pub fn sound_of(&self, speaker: SpeakerId) -> Option<&VecDeque<Frame>> {
        self.pipelines.get(&speaker)?.open()?.sound()
    }

    /// True if `speaker` has an open utterance or one without a final.
    pub fn is_hearing(&self, speaker: SpeakerId) -> bool {
        let pipeline = self.pipelines.get(&speaker);
        pipeline.is_some_and(|it| it.open().is_some() || it.is_finalising())
    }

    pub fn knows(&self, speaker: SpeakerId) -> bool {
        self.pipelines.contains_key(&speaker)
    }

    pub fn speakers(&self) -> Vec<SpeakerId> {
        self.pipelines.keys().copied().collect()
    }

    /// Drops the pipeline of `speaker`; returns an unreported utterance without an addressee.
    pub fn remove(&mut self, speaker: SpeakerId) -> Option<(Utterance, String)> {
        self.pipelines.remove(&speaker)?.take_unaddressed()
    }

    pub fn clear(&mut self) -> Vec<(Utterance, String)> {
        let dropped = self.pipelines.drain();
        dropped.filter_map(|(_, mut pipeline)| pipeline.take_unaddressed()).collect()
    }

    /// Drops current speech and its continuation after an X-card.
    pub fn drop_speech(&mut self, now: Instant) {
        let voices = self.pipelines.drain().filter_map(|(speaker, pipeline)| {
            let open = pipeline.open().map(Recognition::voiced_at);
            Some((speaker, open.or_else(|| pipeline.last_end().map(SoundTime))?))
        });
        self.rest.begin(SoundTime(now), voices);
    }

    pub fn is_drained(&self) -> bool {
        self.pipelines.values().all(SpeakerPipeline::is_drained)
    }

    /// True if a finished utterance is not reported yet.
    pub fn is_finalising(&self) -> bool {
        self.pipelines.values().any(SpeakerPipeline::is_finalising)
    }

    /// Next time at which [`Self::due`] has work without a new frame.
    pub fn wake_at(&self) -> Option<Instant> {
        self.pipelines.values().filter_map(SpeakerPipeline::wake_at).min()
    }
}
