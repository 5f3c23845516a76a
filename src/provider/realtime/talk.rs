//! State of a session: orders and service events in, messages and engine events out.
//!
//! Entry type: [`RealtimeTalk`]. The service refuses a second answer while one runs, so orders wait
//! from an early [`SpeechOrder::Answer`] until the running answer has ended. Each requested answer
//! ends with one [`SpeechSessionEvent::Done`], in order. **Never**: does I/O; requests an answer
//! that was not ordered.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    failure::{briefly, ending},
    orders,
    wire::{Complaint, Ended, Part, Said},
};
use crate::{
    audio::SampleRate,
    domain::ToolChoice,
    provider::{
        Pcm, SpeechDone, SpeechEnding, SpeechItem, SpeechItemId, SpeechOrder, SpeechSessionEvent,
        bounds::EVENT,
        speech_to_speech::{
            answer::{Answer, Called},
            events::{EVENTS_MAX, Events, Full, unread},
            items::Items,
            peer::{Peer, exceeds},
            session::{Language, Over, Waiting, Waits},
            sound_input::SoundInput,
        },
    },
};

/// Longest wait for the end of a cancelled answer.
const STOPPED: Duration = Duration::from_secs(10);

/// Shortest utterance that the service accepts: 100 ms at 24 kHz.
const SHORTEST: usize = 2_400;

const UNASKED_MAX: usize = 16;

#[derive(Debug)]
pub struct RealtimeTalk {
    peer: Arc<Peer>,
    events: Events,
    /// Messages to send, oldest first.
    outbox: VecDeque<String>,
    input: SoundInput,
    items: Items,
    /// The requested answer that has not ended.
    answer: Option<Answer>,
    /// The service's id of the previous answer.
    last: Option<String>,
    /// Orders that wait for its end; the first is an answer.
    held: Waiting,
    asked: u64,
    unasked: usize,
}

impl RealtimeTalk {
    /// A session that is already set up; sends it `before`.
    pub fn new(peer: Arc<Peer>, events: Events, before: &[SpeechItem]) -> Self {
        Self {
            peer,
            events,
            outbox: before.iter().map(orders::text).collect(),
            input: SoundInput::new(SampleRate::HZ_24000, SHORTEST),
            items: Items::default(),
            answer: None,
            last: None,
            held: Waiting::default(),
            asked: 0,
            unasked: 0,
        }
    }

    fn must_wait(&self, order: &SpeechOrder) -> bool {
        let comes_early = self.answer.is_some() && matches!(order, SpeechOrder::Answer(_));
        comes_early || !self.held.is_empty()
    }

    fn obey(&mut self, order: SpeechOrder) -> Result<(), Over> {
        match order {
            SpeechOrder::Tools(tools) => self.outbox.push_back(orders::tools(&tools)),
            SpeechOrder::Sound(sound) => return self.listen(&sound),
            SpeechOrder::Commit => {
                // The service refuses an utterance without sound.
                if let Some(rest) = self.input.end() {
                    self.outbox.extend(orders::sound(&rest));
                    self.outbox.push_back(orders::commit());
                }
            }
            SpeechOrder::Clear => {
                self.input.end();
                self.outbox.push_back(orders::clear());
            }
            SpeechOrder::Text(item) => self.outbox.push_back(orders::text(&item)),
            SpeechOrder::Answer(choice) => self.ask(&choice),
            SpeechOrder::Result { call, output } => {
                self.outbox.push_back(orders::result(&call.0, &output));
            }
            SpeechOrder::Cancel => self.cancel(),
            SpeechOrder::Truncate { item, played } => {
                if let Some(played) = self.items.cut(&item, played) {
                    self.outbox.push_back(orders::truncate(&item, played));
                }
            }
        }
        Ok(())
    }

    fn listen(&mut self, sound: &Pcm) -> Result<(), Over> {
        match self.input.take(sound) {
            Ok(samples) => {
                self.outbox.extend(orders::sound(&samples));
                Ok(())
            }
            Err(error) => self.tell(SpeechSessionEvent::Refused(error)),
        }
    }

    fn ask(&mut self, choice: &ToolChoice) {
        self.asked += 1;
        let name = format!("answer_{}", self.asked);
        self.outbox.push_back(orders::answer(&name, choice));
        self.answer = Some(Answer::new(name));
    }

    /// Stops the running answer and cancels waiting ones.
    fn cancel(&mut self) {
        self.held.cancel();
        self.stop();
    }

    fn stop(&mut self) {
        let Some(answer) = &mut self.answer else { return };
        if answer.cancelled_at.is_none() {
            answer.cancelled_at = Some(Instant::now());
            self.outbox.push_back(orders::cancel(&answer.asked_as));
        }
    }

    /// Handles an event of the service; an error ends the session.
    pub fn said(&mut self, said: Said) -> Result<(), Over> {
        match said {
            Said::Begun(response) => return self.begun(response),
            Said::Calling(response) => self.calling(response),
            Said::Audio { at, bytes } => self.sound(at, &bytes),
            Said::Words { at, delta } => self.words(at, delta),
            Said::Call { response, call } => self.call(response, call),
            Said::Ended(ended) => return self.ended(*ended),
            Said::Error(said) => return self.complains(&said),
            Said::Oversized(kind) => return self.oversized(&kind),
            Said::Unknown(kind) => self.peer.notes(&format!("unknown event \"{kind}\"")),
            Said::Garbled => self.peer.notes("a message that is no event"),
            Said::Created | Said::Updated | Said::Known => {}
        }
        Ok(())
    }

    /// The running answer, if `response` belongs to it.
    fn running(&mut self, response: Option<String>) -> Option<&mut Answer> {
        let is_last = response.is_some() && response == self.last;
        let answer = self.answer.as_mut().filter(|_| !is_last);
        let answer = answer.filter(|answer| match (&answer.response, &response) {
            (Some(known), Some(response)) => known == response,
            _ => true,
        });
        match answer {
            Some(answer) => {
                answer.response = answer.response.take().or(response);
                Some(answer)
            }
            None => {
                self.peer.notes("an event of an answer that is not running");
                None
            }
        }
    }

    fn calling(&mut self, response: Option<String>) {
        if self.running(response).is_some()
            && self.events.part(SpeechSessionEvent::Calling) == Err(Full)
        {
            self.cut(unread());
        }
    }

    fn begun(&mut self, response: Option<String>) -> Result<(), Over> {
        if self.running(response.clone()).is_none()
            && let Some(response) = response
        {
            self.unasked += 1;
            if self.unasked > UNASKED_MAX {
                return Err(Over::Failed(self.peer.flooding(UNASKED_MAX)));
            }
            // It would be billed without being requested.
            self.outbox.push_back(orders::cancel_unasked(&response));
        }
        Ok(())
    }

    fn sound(&mut self, at: Part, bytes: &[u8]) {
        let Some(answer) = self.running(at.response) else { return };
        let takes_sound = answer.takes_sound();
        let samples = self.items.take(&at.item, bytes);
        if samples.is_empty() || !takes_sound {
            return;
        }
        if self.events.sound(SpeechItemId(at.item), samples) == Err(Full) {
            if let Some(answer) = &mut self.answer {
                answer.mute(unread());
            }
            self.stop();
        }
    }

    fn words(&mut self, at: Part, delta: String) {
        let Some(answer) = self.running(at.response) else { return };
        if !answer.takes_words() || delta.is_empty() {
            return;
        }
        if let Err(bound) = answer.words(&delta) {
            return self.cut(exceeds(bound));
        }
        let item = SpeechItemId(at.item);
        if self.events.part(SpeechSessionEvent::Words { item, delta }) == Err(Full) {
            self.cut(unread());
        }
    }

    fn call(&mut self, response: Option<String>, call: Called) {
        let Some(answer) = self.running(response) else { return };
        if !answer.takes_words() {
            return;
        }
        if let Err(bound) = answer.call(call) {
            self.cut(exceeds(bound));
        }
    }

    /// Discards the rest of the running answer.
    fn cut(&mut self, why: String) {
        if let Some(answer) = &mut self.answer {
            answer.cut(why);
        }
        self.stop();
    }

    fn ended(&mut self, ended: Ended) -> Result<(), Over> {
        if self.running(ended.response.clone()).is_none() {
            return Ok(());
        }
        let Some(answer) = self.answer.take() else { return Ok(()) };
        self.last.clone_from(&answer.response);
        let ending = ending(&ended, &self.peer);
        let (calls, done) = answer.end(ending, ended.calls, ended.usage, &self.peer);
        for call in calls {
            self.tell(SpeechSessionEvent::Call(call))?;
        }
        self.tell(SpeechSessionEvent::Done(done))?;
        self.release()
    }

    /// Ends the running answer without the service's confirmation.
    fn give_up(&mut self, ending: SpeechEnding) -> Result<(), Over> {
        if let Some(answer) = self.answer.take() {
            // Late parts of it belong to no other answer.
            self.last = answer.response.or(self.last.take());
            self.tell(SpeechSessionEvent::Done(SpeechDone { ending, usage: None }))?;
        }
        self.release()
    }

    /// Sends waiting orders, up to the next that must wait.
    fn release(&mut self) -> Result<(), Over> {
        while let Some(held) = self.held.next(self.answer.is_some()) {
            match held {
                Waits::Order(order) => self.obey(order)?,
                Waits::Stopped => {
                    let done = SpeechDone { ending: SpeechEnding::Cancelled, usage: None };
                    self.tell(SpeechSessionEvent::Done(done))?;
                }
            }
        }
        Ok(())
    }

    fn complains(&mut self, said: &Complaint) -> Result<(), Over> {
        if said.is_expiry() {
            self.tell(SpeechSessionEvent::GoingAway(Instant::now()))?;
            return Err(Over::Quietly);
        }
        if said.code == "response_cancel_not_active" {
            // The answer ended as we cancelled it; an end not yet seen never arrives. An error that
            // names another answer is about an earlier one.
            let about = said.about.as_deref();
            let is_cancelled = self.answer.as_ref().is_some_and(|answer| {
                let order = orders::stop_of(&answer.asked_as);
                answer.cancelled_at.is_some() && about.is_none_or(|it| it == order)
            });
            return if is_cancelled { self.give_up(SpeechEnding::Cancelled) } else { Ok(()) };
        }
        let about = said.about.as_deref();
        if about == Some(orders::CUT) {
            self.peer.notes("a cut that it refuses");
            return Ok(());
        }
        let error = briefly(&self.peer, said);
        let is_refused =
            self.answer.as_ref().is_some_and(|answer| about == Some(answer.asked_as.as_str()));
        let ending = SpeechEnding::Failed(error.to_string());
        self.tell(SpeechSessionEvent::Refused(error))?;
        if is_refused { self.give_up(ending) } else { Ok(()) }
    }

    fn oversized(&mut self, kind: &str) -> Result<(), Over> {
        if self.answer.is_none() {
            return self.tell(SpeechSessionEvent::Refused(self.peer.oversized(kind)));
        }
        if kind == "response.done" {
            return self.give_up(SpeechEnding::Failed(exceeds(EVENT)));
        }
        self.cut(exceeds(EVENT));
        Ok(())
    }

    fn tell(&self, event: SpeechSessionEvent) -> Result<(), Over> {
        self.events.put(event).map_err(|Full| Over::Failed(self.peer.flooding(EVENTS_MAX)))
    }
}

impl Language for RealtimeTalk {
    fn take(&mut self) -> VecDeque<String> {
        std::mem::take(&mut self.outbox)
    }

    fn due(&self) -> Option<Instant> {
        Some(self.answer.as_ref()?.cancelled_at? + STOPPED)
    }

    fn overdue(&mut self) -> Result<(), Over> {
        Err(Over::Failed(self.peer.unstopped(STOPPED)))
    }

    fn order(&mut self, order: SpeechOrder) -> Result<(), Over> {
        match order {
            SpeechOrder::Cancel => {
                self.cancel();
                Ok(())
            }
            order if self.must_wait(&order) => {
                self.held.push(order);
                Ok(())
            }
            order => self.obey(order),
        }
    }

    fn message(&mut self, message: &[u8]) -> Result<(), Over> {
        self.said(Said::read(message))
    }

    fn into_events(self) -> Events {
        self.events
    }
}
