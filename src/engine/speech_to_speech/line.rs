//! The session of one seat with a voice model, and what the service knows of the conversation.
//!
//! Entry type: [`Line`]. What it knows is compared with our own conversation before each turn: what is
//! new is told in writing, and a session that knows anything else is opened anew. **Never**: answers.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt};
use tokio::time::{Instant, timeout};

use super::{
    money::{Answered, Contents, LONGEST},
    outgoing::Spoken,
};
use crate::{
    audio::FRAME,
    domain::{Message, Npc, Said, ToolSpec},
    engine::{
        HeardAloud, Reservation,
        conversation::{Excerpt, kept},
        size::tool_bytes,
    },
    provider::{
        Error, Kind, SpeechControl, SpeechEvents, SpeechItem, SpeechItemId, SpeechOrder,
        SpeechSession, SpeechSessionEvent, SpeechSetup, SpeechToSpeech,
    },
};

/// Most of a conversation that a new session is told, in bytes: what is older costs more than it is worth.
const BEFORE: usize = 48_000;
/// Longest wait for the end of an answer that was cancelled.
const CANCELLED: Duration = Duration::from_secs(3);

/// The session of one seat, if there is one.
pub struct Line {
    service: Arc<dyn SpeechToSpeech>,
    npc: Arc<Npc>,
    max_age: Duration,
    open: Option<Open>,
    /// The tools that were declared last.
    tools: Arc<[ToolSpec]>,
    /// Turns so far.
    turns: u64,
}

/// An open session.
pub struct Open {
    control: SpeechControl,
    /// What the service says.
    pub events: SpeechEvents,
    opened_at: Instant,
    instructions: String,
    /// How often something had been taken back of the conversation.
    retracted: u64,
    tools: Arc<[ToolSpec]>,
    /// The part of our conversation that it was told, or has heard.
    knows: Vec<Message>,
    /// It knows what our conversation does not.
    pub is_off: bool,
    /// What it holds.
    pub held: Contents,
    /// The turn that was begun last, until it is known what was heard of it.
    pub pending: Option<Pending>,
}

/// A turn of which it is not known yet what was heard.
#[derive(Default)]
pub struct Pending {
    /// Pays for the answer that is being made.
    pub reserved: Option<Reservation>,
    /// The service is answering.
    pub is_answering: bool,
    /// The service awaits results of calls.
    pub owes: bool,
    /// What the answer that is being made has so far.
    pub answered: Answered,
    /// The answers, in order.
    pub spoken: Vec<Spoken>,
    /// What it adds to the conversation; `None`: it broke off.
    pub adds: Option<Adds>,
}

/// What a turn adds to the conversation beside what was heard of it.
pub struct Adds {
    /// What was said to the NPC.
    pub said: Said,
    /// Calls and results.
    pub exchange: Vec<Message>,
    /// Its own message had secrets.
    pub told_secrets: bool,
}

impl Line {
    /// No session yet with `service`, for `npc`.
    pub fn new(service: Arc<dyn SpeechToSpeech>, npc: &Arc<Npc>, max_age: Duration) -> Self {
        let (npc, tools) = (Arc::clone(npc), Arc::from([]));
        Self { service, npc, max_age, open: None, tools, turns: 0 }
    }

    /// The service.
    pub fn service(&self) -> &Arc<dyn SpeechToSpeech> {
        &self.service
    }

    /// The open session.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&mut self) -> Result<&mut Open, Error> {
        let gone = || Error::new(Kind::Interrupted, "the session of the voice model is over");
        self.open.as_mut().ok_or_else(gone)
    }

    /// Whether a turn of it is still being played.
    pub fn is_heard(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.pending.is_some())
    }

    /// How many turns it had.
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// One more turn begins.
    pub const fn begins(&mut self) {
        self.turns += 1;
    }

    /// The session cannot be used any more.
    pub fn lose(&mut self) {
        self.open = None;
    }

    /// Closes the session unless a turn has begun since there were so many.
    pub fn close_unless_used_since(&mut self, turns: u64) {
        if self.turns == turns {
            self.open = None;
        }
    }

    /// A session that knows `conversation`; one that is open is told what is new. Cancel safe.
    ///
    /// # Errors
    /// None can be opened in time.
    pub async fn open(&mut self, conversation: &Excerpt) -> Result<(), Error> {
        if let Some(open) = &mut self.open {
            if !open.is_off {
                open.look();
            }
            let is_good = !open.is_off && open.opened_at.elapsed() < self.max_age;
            if is_good && open.is_told(conversation) {
                return open.tell(&conversation.talk);
            }
            self.open = None;
        }
        let mut setup = setup(&self.npc, &conversation.system);
        setup.tools = Arc::clone(&self.tools);
        setup.before = newest(&conversation.talk);
        let mut held = Contents::default();
        held.add_text(setup.instructions.len());
        setup.before.iter().for_each(|it| held.add_text(length(it)));
        let SpeechSession { control, events } = self.service.connect(setup).await?;
        self.open = Some(Open {
            control,
            // It may be looked at again after its end.
            events: events.fuse().boxed(),
            opened_at: Instant::now(),
            instructions: conversation.system.clone(),
            retracted: conversation.retracted,
            tools: Arc::clone(&self.tools),
            knows: conversation.talk.to_vec(),
            is_off: false,
            held,
            pending: None,
        });
        Ok(())
    }

    /// Declares `tools`, unless they are the ones that are.
    ///
    /// # Errors
    /// The session is over.
    pub fn declare(&mut self, tools: &Arc<[ToolSpec]>) -> Result<(), Error> {
        let open = self.get()?;
        if open.tools != *tools {
            open.send(SpeechOrder::Tools(Arc::clone(tools)))?;
            open.tools = Arc::clone(tools);
        }
        self.tools = Arc::clone(tools);
        Ok(())
    }

    /// Tells the session what was `heard` of the turn before.
    pub async fn settle(&mut self, heard: Option<HeardAloud>) {
        let truncates = self.service.abilities().truncates;
        let speed = f64::from(self.npc.voice.speed_factor);
        let Some(open) = &mut self.open else { return };
        // If this is dropped on its way, what is left says that the turn broke off.
        let Some(left) = &mut open.pending else { return };
        let mut pending = std::mem::take(left);
        let heard = heard.unwrap_or_default();
        for (item, played) in unheard(&pending, &heard, speed) {
            open.is_off |= !truncates;
            if truncates && open.send(SpeechOrder::Truncate { item, heard: played }).is_err() {
                open.is_off = true;
            }
        }
        open.end(&mut pending).await;
        open.pending = None;
        // What only the turn's own message told is not kept, and calls are not left open.
        open.is_off |= pending.owes || pending.adds.as_ref().is_some_and(|it| it.told_secrets);
        let adds =
            pending.adds.map(|it| kept(&it.said, &it.exchange, it.told_secrets, &heard.text));
        match adds.filter(|adds| !adds.is_empty()) {
            Some(adds) => open.knows.extend(adds),
            None => open.is_off = true,
        }
    }
}

impl Open {
    /// Sends an order.
    ///
    /// # Errors
    /// The session is over.
    pub fn send(&mut self, order: SpeechOrder) -> Result<(), Error> {
        match &order {
            SpeechOrder::Text(item) => self.held.add_text(length(item)),
            SpeechOrder::Result { output, .. } => self.held.add_text(output.len()),
            SpeechOrder::Sound(sound) => {
                self.held.add_heard(sound.rate.duration_of(sound.samples.len()));
            }
            _ => {}
        }
        self.control.send(order)
    }

    /// What it holds together with the tools that are declared.
    pub fn asked(&self) -> Contents {
        let mut held = self.held;
        for tool in self.tools.iter() {
            held.add_text(usize::try_from(tool_bytes(tool)).unwrap_or(usize::MAX));
        }
        held
    }

    /// Pays for the answer that has ended.
    pub fn pay(&mut self, pending: &mut Pending, usage: Option<crate::provider::SpeechUsage>) {
        let asked = self.asked();
        pending.is_answering = false;
        let answered = std::mem::take(&mut pending.answered);
        // What the service counts of sound is what it reads again.
        let counted = usage.map(|it| it.audio_in.saturating_add(it.audio_out));
        self.held.add_answer(answered, counted);
        if let Some(usage) = usage
            && let Some(reserved) = pending.reserved.take()
        {
            reserved.settle(asked.used(usage, answered));
        }
        // Unsettled, it is booked in full.
        pending.reserved = None;
    }

    /// Waits for the end of an answer that was cancelled, if there is one.
    pub async fn end(&mut self, pending: &mut Pending) {
        if pending.is_answering && timeout(CANCELLED, self.ended(pending)).await.is_err() {
            self.is_off = true;
        }
    }

    async fn ended(&mut self, pending: &mut Pending) {
        while let Some(event) = self.events.next().await {
            match event {
                Ok(SpeechSessionEvent::Done(done)) => return self.pay(pending, done.usage),
                Ok(SpeechSessionEvent::GoingAway | SpeechSessionEvent::Refused(_)) | Err(_) => {
                    self.is_off = true;
                }
                Ok(_) => {}
            }
        }
        self.is_off = true;
    }

    /// Takes notice of what the service has said meanwhile.
    fn look(&mut self) {
        while let Some(event) = self.events.next().now_or_never() {
            match event {
                Some(
                    Ok(SpeechSessionEvent::GoingAway | SpeechSessionEvent::Refused(_)) | Err(_),
                ) => {
                    self.is_off = true;
                }
                Some(Ok(_)) => {}
                None => {
                    self.is_off = true;
                    return;
                }
            }
        }
    }

    /// Whether what it knows is the beginning of `conversation`.
    fn is_told(&self, conversation: &Excerpt) -> bool {
        self.instructions == conversation.system
            && self.retracted == conversation.retracted
            && conversation.talk.starts_with(&self.knows)
    }

    /// Tells what of `talk` it does not know yet.
    fn tell(&mut self, talk: &[Message]) -> Result<(), Error> {
        for message in talk.get(self.knows.len()..).unwrap_or_default() {
            if let Some(item) = item(message) {
                self.send(SpeechOrder::Text(item))?;
            }
            self.knows.push(message.clone());
        }
        Ok(())
    }
}

/// What a session begins with beside what was said.
fn setup(npc: &Npc, instructions: &str) -> SpeechSetup {
    SpeechSetup {
        instructions: instructions.to_owned(),
        voice: npc.s2s.voice.clone(),
        tools: Arc::from([]),
        max_tokens: LONGEST,
        before: Vec::new(),
    }
}

/// As much of the end of a conversation as a new session is told, oldest first.
fn newest(talk: &[Message]) -> Vec<SpeechItem> {
    let mut left = BEFORE;
    let newest = talk.iter().rev().filter_map(item).map_while(|it| {
        left = left.checked_sub(length(&it))?;
        Some(it)
    });
    let mut newest: Vec<SpeechItem> = newest.collect();
    newest.reverse();
    newest
}

/// What was not heard to its end, and how much of it was, in its own time.
fn unheard(pending: &Pending, heard: &HeardAloud, speed: f64) -> Vec<(SpeechItemId, Duration)> {
    let mut cuts = Vec::new();
    for it in &pending.spoken {
        let played = match heard.position {
            Some(at) if it.sentence < at.sentence => continue,
            Some(at) if it.sentence == at.sentence => at.into.mul_f64(speed).min(it.sound),
            _ => Duration::ZERO,
        };
        let goes_on = pending.is_answering && pending.spoken.last() == Some(it);
        // The last frame is filled up with silence, and shaping rounds.
        if goes_on || played + 2 * FRAME < it.sound {
            cuts.push((it.item.clone(), played));
        }
    }
    cuts
}

/// What the service reads of a message.
fn item(message: &Message) -> Option<SpeechItem> {
    match message {
        Message::User(Said { text, .. }) | Message::Summary { text, .. } => {
            Some(SpeechItem::Said(text.clone()))
        }
        Message::Assistant { text, .. } if text.is_empty() => None,
        Message::Assistant { text, .. } => Some(SpeechItem::Answered(text.clone())),
        // Calls of another session mean nothing in this one; what came of them does.
        Message::Tool { content, .. } => Some(SpeechItem::Said(content.clone())),
        Message::System(_) => None,
    }
}

const fn length(item: &SpeechItem) -> usize {
    match item {
        SpeechItem::Said(text) | SpeechItem::Answered(text) => text.len(),
    }
}
