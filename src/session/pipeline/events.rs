//! Events of the open utterance's recogniser, and the change to another one that may end
//! utterances differently.

use tokio::time::Instant;

use super::{REOPEN_AFTER, SpeakerPipeline};
use crate::{
    audio::FRAME,
    logic::{
        command::NpcNames,
        turn::{Input, Output, reads},
    },
    provider::{Error, Kind, SpeechEvent},
    session::{
        clock::Received,
        finals::Recognised,
        recogniser::{News, Recogniser, RecognitionEvent},
    },
};

impl SpeakerPipeline {
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
                    return Recognised::Understood(open.cut(text, at.clock));
                }
                open.text = Some(text);
                Recognised::Nothing
            }
            News::Sounds(judgement) => {
                self.learn(at, Input::Judged(judgement));
                Recognised::Nothing
            }
            News::Failed(error) => self.failed(error, at.clock),
            // The recogniser ignored the rest.
            News::Over => match self.open.take().filter(|_| !self.service_ends) {
                Some(over) => Recognised::Understood(over.into_utterance(at.clock)),
                None => Recognised::Nothing,
            },
        }
    }

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

    /// Processes a text that is probably complete; it may be answered at once.
    fn nearly_over(&mut self, text: String, at: Received) -> Recognised {
        let Some(open) = &mut self.open else { return Recognised::Nothing };
        let is_new = open.partial != text;
        open.nearly_over(at.sound, text.clone());
        if is_new { Recognised::Partial(text) } else { Recognised::Nothing }
    }

    /// Processes the text until a pause, if the pause lasts.
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

    /// Passes evidence to the endpointer; an end that follows is reported by the next tick.
    fn learn(&mut self, at: Received, input: Input) {
        let sound = self.sound_at(at);
        if let Some(Output::Close { reason, .. }) = self.endpointer.handle(sound.into_std(), input)
        {
            self.ended = Some((at.clock, reason));
        }
    }

    /// Gives the open utterance to another recogniser, unless nothing was said yet.
    fn failed(&mut self, error: Error, now: Instant) -> Recognised {
        if error.kind() == Kind::OverBudget {
            self.reopen_at = Some(now + REOPEN_AFTER);
        }
        if let Some(mut idle) = self.open.take_if(|open| open.is_idle()) {
            idle.fail(&error);
            // The next voice opens one that works.
            self.reopen_at = None;
            return Recognised::Nothing;
        }
        let Err(error) = self.fall_over(error, now) else { return Recognised::Nothing };
        let Some(over) = self.open.take() else { return Recognised::Nothing };
        Recognised::Failed(over.into_utterance(now), error)
    }

    /// Lets the next recogniser hear the open utterance; fails if there is none.
    pub(super) fn fall_over(&mut self, error: Error, now: Instant) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Err(error) };
        open.fall_over(error, now)?;
        // The delay applied to the failed recogniser.
        self.reopen_at = None;
        self.follow();
        Ok(())
    }

    /// Prepares for the recogniser that would hear an utterance that begins now.
    pub(super) fn prepare(&mut self, recogniser: &Recogniser) {
        if self.open.is_none() && !self.endpointer.is_open() {
            self.service_ends = recogniser.chain.abilities().endpointing;
        }
    }

    /// Lets the table or the service end the open utterance, as its recogniser requires.
    pub(super) fn follow(&mut self) {
        let Some(open) = self.open.as_ref().filter(|it| it.is_endless() != self.service_ends)
        else {
            return;
        };
        self.service_ends = open.is_endless();
        (self.ended, self.silent) = (None, 0);
        if self.service_ends {
            return self.endpointer.leave();
        }
        let (voiced_at, voiced) = (open.voiced_at().into_std(), FRAME * open.voiced());
        let began = open.began().map_or(voiced_at, |began| began.into_std().min(voiced_at));
        self.endpointer.take_over(began, voiced_at, voiced);
    }
}
