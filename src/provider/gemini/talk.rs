//! State of a session: orders and service messages in, messages and engine events out.
//!
//! Entry type: [`GeminiTalk`]. Any order sent during an answer interrupts it, so all orders but
//! [`SpeechOrder::Cancel`] wait for the answer's end. The service answers the end of an utterance
//! and results of calls at once, so they are sent with the order to answer. **Never**: does I/O;
//! sends a cancelled result.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    orders,
    results::Results,
    running::{Running, STOPPED, ending},
    tail::{CALLS_MAX, Tail},
    wire::{self, Said},
};
use crate::{
    audio::SampleRate,
    domain::{Calling, ToolSpec},
    provider::{
        Kind, Pcm, SpeechDone, SpeechEnding, SpeechItem, SpeechItemId, SpeechOrder,
        SpeechSessionEvent, SpeechUsage,
        bounds::EVENT,
        speech_to_speech::{
            answer::Called,
            events::{EVENTS_MAX, Events, Full, unread},
            items::Items,
            peer::{Peer, exceeds},
            session::{Language, Over, Waiting, Waits},
            sound_input::SoundInput,
        },
    },
};

/// Shortest utterance that is answered: 100 ms at 16 kHz.
const SHORTEST: usize = 1_600;
/// Longest remaining time that is believed.
const LEFT_MAX: Duration = Duration::from_secs(3_600);
const UNASKED_MAX: usize = 16;

#[derive(Debug)]
pub struct GeminiTalk {
    peer: Arc<Peer>,
    events: Events,
    /// Messages to send, oldest first.
    outbox: VecDeque<String>,
    input: SoundInput,
    items: Items,
    results: Results,
    /// The last requested answer has sound.
    has_spoken: bool,
    is_begun: bool,
    /// The utterance is over, which the order to answer reports.
    is_complete: bool,
    /// The requested answer that has not ended.
    running: Option<Running>,
    /// The previous answer's turn.
    tail: Tail,
    /// Orders that wait for the end of the answer.
    held: Waiting,
    asked: u64,
    unasked: usize,
}

impl GeminiTalk {
    /// A session already set up with `tools`; sends it `before`.
    pub fn new(peer: Arc<Peer>, events: Events, tools: &[ToolSpec], before: &[SpeechItem]) -> Self {
        let before = (!before.is_empty()).then(|| orders::text(before));
        Self {
            peer,
            events,
            outbox: before.into_iter().collect(),
            input: SoundInput::new(SampleRate::HZ_16000, SHORTEST),
            items: Items::default(),
            results: Results::new(tools),
            has_spoken: false,
            is_begun: false,
            is_complete: false,
            running: None,
            tail: Tail::default(),
            held: Waiting::default(),
            asked: 0,
            unasked: 0,
        }
    }

    fn obey(&mut self, order: SpeechOrder) -> Result<(), Over> {
        if !matches!(order, SpeechOrder::Result { .. } | SpeechOrder::Answer(_)) {
            self.send_results(false);
            // All other orders interrupt the turn.
            self.tail.interrupt();
        }
        match order {
            SpeechOrder::Sound(sound) => return self.listen(&sound),
            SpeechOrder::Commit => {
                if let Some(rest) = self.input.end() {
                    self.send_sound(&rest);
                    self.is_complete = self.is_begun;
                }
            }
            SpeechOrder::Text(item) => self.outbox.push_back(orders::text([&item])),
            // The service chooses which tools to call.
            SpeechOrder::Answer(_) => return self.ask(),
            SpeechOrder::Result { call, output } => self.result(call.0, output),
            SpeechOrder::Cancel => self.cancel(),
            // Unsupported by this service.
            SpeechOrder::Tools(_) | SpeechOrder::Clear | SpeechOrder::Truncate { .. } => {
                let what = "it cannot change its tools or take anything back";
                let error = self.peer.error(Kind::InvalidRequest, what, "please report this");
                return self.tell(SpeechSessionEvent::Refused(error));
            }
        }
        Ok(())
    }

    fn listen(&mut self, sound: &Pcm) -> Result<(), Over> {
        match self.input.take(sound) {
            Ok(samples) => {
                self.send_sound(&samples);
                Ok(())
            }
            Err(error) => self.tell(SpeechSessionEvent::Refused(error)),
        }
    }

    fn send_sound(&mut self, samples: &[i16]) {
        if samples.is_empty() {
            return;
        }
        if !mem::replace(&mut self.is_begun, true) {
            self.outbox.push_back(orders::begin());
        }
        self.outbox.extend(orders::sound(samples));
    }

    fn result(&mut self, id: String, output: String) {
        self.results.add(id, output);
        // An answer that continued beside recording calls is not followed by another.
        if self.has_spoken && self.results.are_silent() {
            self.send_results(false);
        }
    }

    fn send_results(&mut self, is_awaited: bool) {
        let results = self.results.take();
        if !results.is_empty() {
            self.outbox.push_back(orders::results(&results, is_awaited));
        }
    }

    fn ask(&mut self) -> Result<(), Over> {
        self.asked += 1;
        self.has_spoken = false;
        let (mut late, billed) = self.tail.hand_over();
        if !self.results.is_empty() {
            self.send_results(true);
        } else {
            late.clear();
            let is_complete = mem::take(&mut self.is_complete);
            self.outbox.push_back(if is_complete { orders::end() } else { orders::answer() });
            self.is_begun &= !is_complete;
        }
        let running = self.running.insert(Running::new(format!("answer_{}", self.asked)));
        if late.is_empty() {
            return Ok(());
        }
        running.count(billed);
        self.calls(late)?;
        // Nothing more arrives before their results.
        if self.running.as_ref().is_some_and(|it| it.is_blocked) { self.finish() } else { Ok(()) }
    }

    /// Stops the running answer and cancels waiting ones.
    fn cancel(&mut self) {
        self.held.cancel();
        self.stop();
    }

    fn stop(&mut self) {
        let Some(running) = &mut self.running else { return };
        if running.answer.cancelled_at.is_none() {
            running.answer.cancelled_at = Some(Instant::now());
            self.outbox.push_back(orders::stop());
        }
    }

    /// Handles a message of the service; an error ends the session.
    pub fn said(&mut self, said: Said) -> Result<(), Over> {
        match said {
            Said::Audio(bytes) => return self.sound(&bytes),
            Said::Words(words, is_last) => return self.words(words, is_last),
            Said::Calls(calls) => return self.calls(calls),
            Said::CallsCancelled(ids) => return self.calls_cancelled(&ids),
            Said::Interrupted => self.ends(Some(SpeechEnding::Cancelled)),
            Said::Generated => self.ends(None),
            Said::TurnOver(reason) => return self.turn_over(&reason),
            Said::Usage(usage) => return self.count(usage),
            Said::GoingAway(left) => {
                let at = Instant::now() + left.unwrap_or_default().min(LEFT_MAX);
                return self.tell(SpeechSessionEvent::GoingAway(at));
            }
            Said::Oversized(kind) => return self.oversized(kind),
            Said::Unknown(kind) => self.peer.notes(&format!("unknown message \"{kind}\"")),
            Said::OtherData(kind) => {
                self.peer.notes(&format!("\"{kind}\" instead of sound at 24 kHz"));
            }
            Said::Garbled => self.peer.notes("a message that cannot be read"),
            Said::Ready => {}
        }
        Ok(())
    }

    /// The running answer, which a part belongs to; without one, stops the service's answer.
    fn part(&mut self) -> Result<Option<&mut Running>, Over> {
        if self.running.is_none() && !self.tail.is_open() {
            self.peer.notes("an answer that nobody has asked for");
            self.unasked += 1;
            if self.unasked > UNASKED_MAX {
                return Err(Over::Failed(self.peer.flooding(UNASKED_MAX)));
            }
            // It would be billed.
            self.outbox.push_back(orders::stop());
            self.tail.begins();
        }
        if let Some(running) = &mut self.running {
            running.goes_on();
        }
        Ok(self.running.as_mut())
    }

    fn sound(&mut self, bytes: &[u8]) -> Result<(), Over> {
        let Some(running) = self.part()? else { return Ok(()) };
        running.sounds(bytes.len() / size_of::<i16>());
        let (item, takes_sound) = (running.answer.asked_as.clone(), running.answer.takes_sound());
        let samples = self.items.take(&item, bytes);
        if samples.is_empty() || !takes_sound {
            return Ok(());
        }
        self.has_spoken = true;
        if self.events.sound(SpeechItemId(item), samples) == Err(Full) {
            if let Some(running) = &mut self.running {
                running.answer.mute(unread());
            }
            self.stop();
        }
        Ok(())
    }

    fn words(&mut self, mut delta: String, is_last: bool) -> Result<(), Over> {
        // Words have no order against answers: without one, they are late.
        let may_be_late = self.tail.owns_end(self.running.as_ref());
        let Some(running) = &mut self.running else { return Ok(()) };
        if delta.is_empty() && !running.has_begun {
            // The end mark of words, without a hint at their answer.
            return Ok(());
        }
        if may_be_late && is_last && !delta.is_empty() {
            // More words of this answer may follow.
            delta.push(' ');
        }
        running.words(may_be_late, is_last);
        if running.answer.takes_words() && !delta.is_empty() {
            let item = SpeechItemId(running.answer.asked_as.clone());
            if let Err(bound) = running.answer.words(&delta) {
                self.cut(exceeds(bound));
            } else if self.events.part(SpeechSessionEvent::Words { item, delta }) == Err(Full) {
                self.cut(unread());
            }
        }
        self.finish_if_whole()
    }

    fn calls(&mut self, calls: Vec<Called>) -> Result<(), Over> {
        if self.running.is_none() && self.tail.takes_calls() {
            let flooding = || Over::Failed(self.peer.flooding(CALLS_MAX));
            return self.tail.call(calls).then_some(()).ok_or_else(flooding);
        }
        let is_awaited = |call: &Called| self.results.calling(&call.name) == Calling::Waits;
        let is_awaited = calls.iter().any(is_awaited);
        let Some(running) = self.part()? else { return Ok(()) };
        if !running.answer.takes_words() {
            return Ok(());
        }
        for call in calls {
            if let Err(bound) = running.answer.call(call) {
                self.cut(exceeds(bound));
                return Ok(());
            }
        }
        if self.events.part(SpeechSessionEvent::Calling) == Err(Full) {
            self.cut(unread());
        } else if let Some(running) = &mut self.running {
            running.calls(is_awaited && running.answer.cancelled_at.is_none());
        }
        Ok(())
    }

    fn calls_cancelled(&mut self, ids: &[String]) -> Result<(), Over> {
        if let Some(running) = &mut self.running {
            running.answer.calls().retain(|call| !ids.contains(&call.id));
        }
        self.tail.take_back(ids);
        let known = self.results.take_back(ids);
        if known.is_empty() {
            return Ok(());
        }
        self.tell(SpeechSessionEvent::CallsCancelled(known))
    }

    fn ends(&mut self, ending: Option<SpeechEnding>) {
        if self.tail.owns_end(self.running.as_ref()) {
            return;
        }
        if let Some(running) = &mut self.running {
            running.ending = ending.unwrap_or(SpeechEnding::Completed);
            running.ends();
        }
    }

    fn turn_over(&mut self, reason: &str) -> Result<(), Over> {
        let ending = ending(reason, &self.peer);
        let is_tails = self.tail.owns_end(self.running.as_ref());
        let begun = self.running.as_mut().filter(|it| it.has_begun);
        // An answer that has begun is the one that failed.
        if is_tails && (begun.is_none() || ending == SpeechEnding::Completed) {
            self.tail.ends();
            if let Some(running) = begun {
                running.begins_again();
            }
            return Ok(());
        }
        if let Some(running) = &mut self.running {
            running.is_over = true;
            if running.ending == SpeechEnding::Completed {
                running.ending = ending;
            }
            running.ends();
        }
        self.finish_if_whole()
    }

    fn count(&mut self, usage: SpeechUsage) -> Result<(), Over> {
        if self.tail.owns_end(self.running.as_ref()) {
            self.tail.count(usage);
            return Ok(());
        }
        if let Some(running) = &mut self.running {
            running.count(usage);
        }
        self.finish_if_whole()
    }

    fn finish_if_whole(&mut self) -> Result<(), Over> {
        if self.running.as_ref().is_some_and(Running::is_whole) { self.finish() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), Over> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let is_over = running.is_turn_over();
        let Running { answer, is_blocked, ending, usage, .. } = running;
        let (calls, done) = answer.end(ending, Vec::new(), usage.get(), &self.peer);
        // The end of a turn with awaited calls arrives at once, or after their results.
        self.tail.follow(is_over, is_blocked && !calls.is_empty());
        for call in calls {
            self.results.owe(&call.id, &call.name);
            self.tell(SpeechSessionEvent::Call(call))?;
        }
        self.tell(SpeechSessionEvent::Done(done))?;
        self.release()
    }

    fn release(&mut self) -> Result<(), Over> {
        while self.running.is_none()
            && let Some(held) = self.held.next(false)
        {
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

    /// Discards the rest of the running answer.
    fn cut(&mut self, why: String) {
        if let Some(running) = &mut self.running {
            running.answer.cut(why);
        }
        self.stop();
    }

    fn oversized(&mut self, kind: &str) -> Result<(), Over> {
        if self.running.is_none() {
            return self.tell(SpeechSessionEvent::Refused(self.peer.oversized(kind)));
        }
        self.cut(exceeds(EVENT));
        Ok(())
    }

    fn tell(&self, event: SpeechSessionEvent) -> Result<(), Over> {
        self.events.put(event).map_err(|Full| Over::Failed(self.peer.flooding(EVENTS_MAX)))
    }
}

impl Language for GeminiTalk {
    fn take(&mut self) -> VecDeque<String> {
        mem::take(&mut self.outbox)
    }

    fn due(&self) -> Option<Instant> {
        self.running.as_ref()?.due()
    }

    fn overdue(&mut self) -> Result<(), Over> {
        match self.running.as_ref().is_some_and(Running::is_due) {
            true => self.finish(),
            false => Err(Over::Failed(self.peer.unstopped(STOPPED))),
        }
    }

    fn order(&mut self, order: SpeechOrder) -> Result<(), Over> {
        match order {
            SpeechOrder::Cancel => {
                self.cancel();
                Ok(())
            }
            order if self.running.is_some() || !self.held.is_empty() => {
                self.held.push(order);
                Ok(())
            }
            order => self.obey(order),
        }
    }

    fn message(&mut self, message: &[u8]) -> Result<(), Over> {
        wire::read(message).into_iter().try_for_each(|said| self.said(said))
    }

    fn into_events(self) -> Events {
        self.events
    }
}
