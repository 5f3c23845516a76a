//! The session of one seat with a voice model, and its copy of the conversation.
//!
//! Entry type: [`S2sLine`]. The line opens a session from our conversation, never from the
//! service's memory. Before each turn it compares its copy with the conversation: new messages are
//! sent as text, and a session that knows anything else (retracted or unplayed text, secrets, calls
//! without results) is replaced. Players' sound is sent ahead of the end of their utterance, up to
//! 30 s. After playback [`S2sLine::settle`] truncates the last answer at the played part, waits up
//! to 3 s for a cancelled answer to end, and books its price; a session that does not end it is
//! closed. Sessions near the end announced by the service, too old ones and those with wrong tools
//! are replaced; idle ones are closed.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt};
use tokio::time::{Instant, timeout};

use super::{
    money::{Answered, Contents, longest},
    outgoing::Spoken,
};
use crate::{
    audio::{FRAME, Frame},
    domain::{Message, Npc, Said, ToolSpec},
    engine::{
        PlayedPart, Reservation, Turn,
        conversation::{Excerpt, kept, said},
        npc_model::tool_bytes,
    },
    provider::{
        Error, Kind, Pcm, SpeechControl, SpeechEvents, SpeechItem, SpeechItemId, SpeechOrder,
        SpeechSession, SpeechSessionEvent, SpeechSetup, SpeechToSpeech, SpeechUsage,
    },
};

/// Most of a conversation that a new session receives, in bytes: older messages cost more than they
/// help.
const BEFORE: usize = 48_000;
const CANCELLED: Duration = Duration::from_secs(3);
/// Most events after a cancelled answer, or between two turns.
const EVENTS: usize = 4_096;
/// Most sound sent before its utterance ends: 30 s. Of longer ones only the newest is kept, so
/// their beginning changes with each frame.
const AHEAD: usize = 1_500;

pub struct S2sLine {
    service: Arc<dyn SpeechToSpeech>,
    npc: Arc<Npc>,
    max_age: Duration,
    open: Option<Open>,
    /// Tools declared, or wanted in the next session.
    tools: Arc<[ToolSpec]>,
    turns: u64,
    /// Time and error of the last failed opening.
    failed: Option<(Instant, Error)>,
}

pub struct Open {
    control: SpeechControl,
    pub events: SpeechEvents,
    opened_at: Instant,
    /// End announced by the service.
    leaves_at: Option<Instant>,
    instructions: String,
    /// Retractions in the conversation when it was opened.
    retracted: u64,
    tools: Arc<[ToolSpec]>,
    /// The part of our conversation that it has received.
    knows: Vec<Message>,
    /// It knows something that our conversation does not.
    pub is_off: bool,
    /// Sound sent of an unfinished utterance.
    ahead: Vec<Frame>,
    /// Its size, for the price of the next answer.
    pub held: Contents,
    /// The last turn, until its played part is known.
    pub pending: Option<Pending>,
}

#[derive(Default)]
pub struct Pending {
    pub reserved: Option<Reservation>,
    pub is_answering: bool,
    /// The service awaits results of calls.
    pub owes: bool,
    pub answered: Answered,
    pub spoken: Vec<Spoken>,
    /// Its part of the conversation; `None`: it broke off.
    pub adds: Option<Adds>,
}

/// A turn's part of the conversation, without the played answer.
pub struct Adds {
    /// The turn, whose words may change until it is confirmed.
    pub turn: Arc<Turn>,
    pub exchange: Vec<Message>,
    /// Its own message contained secrets.
    pub told_secrets: bool,
}

impl S2sLine {
    pub fn new(service: Arc<dyn SpeechToSpeech>, npc: &Arc<Npc>, max_age: Duration) -> Self {
        let (npc, tools) = (Arc::clone(npc), Arc::from([]));
        Self { service, npc, max_age, open: None, tools, turns: 0, failed: None }
    }

    pub fn service(&self) -> &Arc<dyn SpeechToSpeech> {
        &self.service
    }

    pub fn get(&mut self) -> Result<&mut Open, Error> {
        let gone = || Error::new(Kind::Interrupted, "the session of the voice model is over");
        self.open.as_mut().ok_or_else(gone)
    }

    pub fn empty(&self) -> Contents {
        let a_second = self.service.abilities().sound;
        Contents::new(a_second, longest(a_second, self.npc.s2s.max_answer))
    }

    pub fn is_playing(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.pending.is_some())
    }

    pub const fn turns(&self) -> u64 {
        self.turns
    }

    pub const fn begins(&mut self) {
        self.turns += 1;
    }

    pub fn lose(&mut self) {
        self.open = None;
    }

    /// Closes the session unless a turn has begun since `turns`, or a player is speaking to it.
    pub fn close_unless_used_since(&mut self, turns: u64) {
        if self.turns == turns {
            self.open = self.open.take().filter(|open| !open.ahead.is_empty());
        }
    }

    /// Opens a session that knows `conversation`, or sends new messages to the open one if that
    /// lasts for `lasting`. A failure since `begun` is not retried, because the caller has waited
    /// for it. Cancel safe.
    pub async fn open(
        &mut self,
        conversation: &Excerpt,
        begun: Instant,
        lasting: Duration,
    ) -> Result<(), Error> {
        if let Some(open) = &mut self.open {
            if !open.is_off {
                open.look();
            }
            let is_fresh = open.opened_at.elapsed() < self.max_age && open.lasts(lasting);
            let is_good = !open.is_off && is_fresh && open.tools == self.tools;
            if is_good && open.is_told(conversation) {
                return open.tell(&conversation.talk);
            }
            self.open = None;
        }
        if let Some((at, error)) = &self.failed
            && *at > begun
        {
            return Err(error.clone());
        }
        let mut held = self.empty();
        let setup = SpeechSetup {
            instructions: conversation.system.clone(),
            voice: self.npc.s2s.voice.clone(),
            tools: Arc::clone(&self.tools),
            max_tokens: held.longest,
            before: newest(&conversation.talk),
        };
        held.add_text(setup.instructions.len());
        setup.before.iter().for_each(|it| held.add_text(length(it)));
        let opened = self.service.connect(setup).await;
        self.failed = opened.as_ref().err().map(|error| (Instant::now(), error.clone()));
        let SpeechSession { control, events } = opened?;
        self.open = Some(Open {
            control,
            // It may be polled after its end.
            events: events.fuse().boxed(),
            opened_at: Instant::now(),
            leaves_at: None,
            instructions: conversation.system.clone(),
            retracted: conversation.retracted,
            tools: Arc::clone(&self.tools),
            knows: conversation.talk.to_vec(),
            is_off: false,
            ahead: Vec::new(),
            held,
            pending: None,
        });
        Ok(())
    }

    /// Sends new sound of a player who probably talks to the NPC; empty: withdraws it.
    pub fn receive(&mut self, sound: &VecDeque<Frame>) {
        let open = self.open.as_mut().filter(|it| it.pending.is_none() && !it.is_off);
        if let Some(open) = open
            && sound.len() <= AHEAD
        {
            open.is_off |= open.append(sound.iter()).is_err();
        }
    }

    /// Sets the tools of the next turn; a session that cannot change its tools is replaced.
    pub fn wants(&mut self, tools: &Arc<[ToolSpec]>) {
        if !self.service.abilities().changes_tools {
            self.tools = Arc::clone(tools);
        }
    }

    /// Declares `tools`. False: the session needs others and cannot change them. Surplus tools are
    /// harmless, because their calls are refused. Fails if the session is over.
    pub fn declare(&mut self, tools: &Arc<[ToolSpec]>) -> Result<bool, Error> {
        let changes_tools = self.service.abilities().changes_tools;
        let open = self.get()?;
        if !changes_tools {
            return Ok(tools.iter().all(|tool| open.tools.contains(tool)));
        }
        if open.tools != *tools {
            open.send(SpeechOrder::Tools(Arc::clone(tools)))?;
            open.tools = Arc::clone(tools);
        }
        self.tools = Arc::clone(tools);
        Ok(true)
    }

    /// Waits until the service has cancelled the current calls.
    pub async fn calls_cancelled(&mut self) {
        let Some(open) = &mut self.open else { return std::future::pending().await };
        while let Some(event) = open.events.next().await {
            match event {
                Ok(SpeechSessionEvent::CallsCancelled(_)) => return,
                event => open.note(&event),
            }
        }
        // Sending the results will show that it is over.
        std::future::pending().await
    }

    /// Truncates the last answer at the played `part`, and books its price.
    pub async fn settle(&mut self, part: Option<PlayedPart>) {
        let truncates = self.service.abilities().truncates;
        let speed = f64::from(self.npc.voice.speed_factor);
        let Some(open) = &mut self.open else { return };
        // If this future is dropped, the empty rest counts as a turn that broke off.
        let Some(left) = &mut open.pending else { return };
        let mut pending = std::mem::take(left);
        let part = part.unwrap_or_default();
        for (item, played) in unplayed(&pending, &part, speed) {
            open.is_off |= !truncates;
            if truncates && open.send(SpeechOrder::Truncate { item, played }).is_err() {
                open.is_off = true;
            }
        }
        if !open.end(&mut pending).await {
            // Left open, it would go on costing money.
            self.open = None;
            return;
        }
        open.pending = None;
        // Secrets of the turn's message must not stay, nor calls without results.
        open.is_off |= pending.owes || pending.adds.as_ref().is_some_and(|it| it.told_secrets);
        let adds =
            pending.adds.map(|it| kept(&said(&it.turn), &it.exchange, it.told_secrets, &part.text));
        match adds.filter(|adds| !adds.is_empty()) {
            Some(adds) => open.knows.extend(adds),
            None => open.is_off = true,
        }
    }
}

impl Open {
    pub fn send(&mut self, order: SpeechOrder) -> Result<(), Error> {
        match &order {
            SpeechOrder::Text(item) => self.held.add_text(length(item)),
            SpeechOrder::Result { output, .. } => self.held.add_text(output.len()),
            _ => {}
        }
        self.control.send(order)
    }

    /// Sends the utterance except for what was sent already; returns the number of new frames.
    pub fn append<'f>(
        &mut self,
        sound: impl Iterator<Item = &'f Frame> + Clone,
    ) -> Result<u32, Error> {
        let is_begun = self.ahead.iter().eq(sound.clone().take(self.ahead.len()));
        if !is_begun {
            self.ahead.clear();
            self.send(SpeechOrder::Clear)?;
        }
        let mut new = 0;
        for frame in sound.skip(self.ahead.len()) {
            self.ahead.push(frame.clone());
            let (samples, rate) = (frame.samples().to_vec(), frame.rate());
            self.send(SpeechOrder::Sound(Pcm { samples, rate }))?;
            new += 1;
        }
        Ok(new)
    }

    pub fn commit(&mut self) -> Result<(), Error> {
        let frames = u32::try_from(std::mem::take(&mut self.ahead).len()).unwrap_or(u32::MAX);
        self.held.add_received(FRAME.saturating_mul(frames));
        self.send(SpeechOrder::Commit)
    }

    pub fn asked(&self) -> Contents {
        let mut held = self.held;
        for tool in self.tools.iter() {
            held.add_text(usize::try_from(tool_bytes(tool)).unwrap_or(usize::MAX));
        }
        held
    }

    pub fn pay(&mut self, pending: &mut Pending, usage: Option<SpeechUsage>) {
        let asked = self.asked();
        pending.is_answering = false;
        let answered = std::mem::take(&mut pending.answered);
        // The service reads all sound that it has counted again.
        let counted = usage.map(|it| it.audio_in.saturating_add(it.audio_out));
        self.held.add_answer(answered, counted);
        // Without a count (it may come after playback), the usual one is booked.
        if let Some(reserved) = pending.reserved.take() {
            reserved.settle(asked.used(usage.unwrap_or_default(), answered));
        }
    }

    /// Waits for a cancelled answer to end; false if it does not.
    pub async fn end(&mut self, pending: &mut Pending) -> bool {
        if pending.is_answering && timeout(CANCELLED, self.ended(pending)).await.is_err() {
            self.is_off = true;
        }
        !pending.is_answering
    }

    async fn ended(&mut self, pending: &mut Pending) {
        for _ in 0..EVENTS {
            match self.events.next().await {
                Some(Ok(SpeechSessionEvent::Done(done))) => return self.pay(pending, done.usage),
                Some(Ok(SpeechSessionEvent::Audio { sound, .. })) => {
                    // Billed, though not played.
                    pending.answered.sound += sound.rate.duration_of(sound.samples.len());
                }
                Some(event) => self.note(&event),
                None => break,
            }
        }
        self.is_off = true;
    }

    fn look(&mut self) {
        for _ in 0..EVENTS {
            match self.events.next().now_or_never() {
                Some(Some(event)) => self.note(&event),
                None => return,
                Some(None) => break,
            }
        }
        self.is_off = true;
    }

    pub fn note(&mut self, event: &Result<SpeechSessionEvent, Error>) {
        match event {
            Ok(SpeechSessionEvent::GoingAway(at)) => self.leaves_at = Some(*at),
            Ok(SpeechSessionEvent::Refused(_)) | Err(_) => self.is_off = true,
            Ok(_) => {}
        }
    }

    /// True if the session lasts for `time` more, by the service's announcement.
    fn lasts(&self, time: Duration) -> bool {
        self.leaves_at.is_none_or(|at| at.saturating_duration_since(Instant::now()) >= time)
    }

    /// True if it knows a beginning of `conversation`, and nothing else.
    fn is_told(&self, conversation: &Excerpt) -> bool {
        self.instructions == conversation.system
            && self.retracted == conversation.retracted
            && conversation.talk.starts_with(&self.knows)
    }

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

/// The newest messages within [`BEFORE`], oldest first.
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

/// Answers not played to their end, with the played part of each in the service's own time.
fn unplayed(pending: &Pending, part: &PlayedPart, speed: f64) -> Vec<(SpeechItemId, Duration)> {
    let mut items: Vec<(SpeechItemId, Duration, Duration)> = Vec::new();
    for it in &pending.spoken {
        let played = match part.position {
            Some(at) if it.sentence < at.sentence => it.sound,
            Some(at) if it.sentence == at.sentence => at.into.mul_f64(speed).min(it.sound),
            _ => Duration::ZERO,
        };
        // Sound of two items may alternate: then each has several sentences.
        match items.iter_mut().find(|(item, ..)| *item == it.item) {
            Some((_, all_played, sound)) => {
                *all_played += played;
                *sound += it.sound;
            }
            None => items.push((it.item.clone(), played, it.sound)),
        }
    }
    let last = pending.spoken.last().filter(|_| pending.is_answering).map(|it| &it.item);
    // The last frame is padded with silence, and shaping rounds.
    let is_cut = |(item, played, sound): &(SpeechItemId, Duration, Duration)| {
        last == Some(item) || *played + 2 * FRAME < *sound
    };
    let cuts = items.into_iter().filter(is_cut);
    cuts.map(|(item, played, _)| (item, played)).collect()
}

/// A message as the service reads it.
fn item(message: &Message) -> Option<SpeechItem> {
    match message {
        Message::User(Said { text, .. }) | Message::Summary { text, .. } => {
            Some(SpeechItem::Said(text.clone()))
        }
        Message::Assistant { text, .. } if text.is_empty() => None,
        Message::Assistant { text, .. } => Some(SpeechItem::Answered(text.clone())),
        // Calls of another session mean nothing here; their results do.
        Message::Tool { content, .. } => {
            Some(SpeechItem::Said(format!("[What you called earlier has given: {content}]")))
        }
        Message::System(_) => None,
    }
}

const fn length(item: &SpeechItem) -> usize {
    match item {
        SpeechItem::Said(text) | SpeechItem::Answered(text) => text.len(),
    }
}
