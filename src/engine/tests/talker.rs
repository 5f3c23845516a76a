//! A scripted stand-in for voice models. It follows orders like a service, and records them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture};
use serde_json::Map;
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::Instant,
};

use crate::{
    audio::SampleRate,
    domain::{CallId, ToolCall},
    logic::budget::SoundTokens,
    provider::{
        Error, Kind, Pcm, SpeechAbilities, SpeechControl, SpeechDone, SpeechEnding, SpeechItem,
        SpeechItemId, SpeechOrder, SpeechSession, SpeechSessionEvent, SpeechSetup, SpeechToSpeech,
        SpeechUsage,
    },
};

/// One step of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Speaks these words in sound of this many ms, all at once.
    Say(&'static str, u64),
    /// Speaks in real time for the first number of ms, unless cancelled; the last 400 ms of each
    /// period (second number, in ms) are silent.
    Talk(u64, u64),
    /// Speaks in real time until the session ends, even if cancelled.
    TalkOn,
    /// 100 ms of speech every 400 ms until the session ends.
    Drip,
    /// Words with this many ms of silence, all at once.
    Blank(u64),
    /// More words for the last sentence.
    Chatter(usize),
    /// Begins a call each second until the session ends.
    Dawdle,
    /// Begins this number of calls at once.
    Flood(usize),
    /// Calls a tool.
    Call(&'static str, &'static str),
    /// Cancels the calls of the answer as soon as it is over.
    CancelCalls,
    /// Ends the answer without a token count.
    NoCount,
    /// Pauses for this many ms.
    Wait(u64),
    /// After the first number of ms, announces that the session ends after the second.
    GoAway(u64, u64),
    /// Closes the connection after this many ms, without a warning.
    Close(u64),
    /// The connection is lost.
    Cut,
    /// Sends nothing until it is cancelled.
    Stall,
    /// Like [`Self::Stall`], then the connection ends silently.
    Vanish,
}

/// Setups and orders of all sessions.
#[derive(Default)]
pub struct Told {
    pub setups: Vec<SpeechSetup>,
    pub orders: Vec<SpeechOrder>,
}

/// A voice model.
#[derive(Default)]
pub struct Talker {
    scripts: Arc<Mutex<VecDeque<Vec<Does>>>>,
    pub told: Arc<Mutex<Told>>,
    pub price: Option<&'static str>,
    /// Tokens of speech so far, 20 per second.
    pub billed: Arc<AtomicU64>,
    /// Cannot change its tools or truncate, and continues beside calls.
    is_fixed: bool,
    /// Connections are refused, after this time.
    refuses_after: Option<Duration>,
}

type Events = UnboundedSender<Result<SpeechSessionEvent, Error>>;

impl Talker {
    /// Fails to connect, after this time.
    pub fn refusing(after: Duration) -> Self {
        Self { refuses_after: Some(after), ..Self::default() }
    }

    /// Cannot change its tools or truncate.
    pub fn fixed() -> Self {
        Self { is_fixed: true, ..Self::default() }
    }

    /// Costs money.
    pub fn priced(price: &'static str) -> Self {
        Self { price: Some(price), ..Self::default() }
    }

    pub fn then(&self, script: &[Does]) -> &Self {
        self.scripts.lock().unwrap().push_back(script.to_vec());
        self
    }

    /// Short form of each order.
    pub fn ordered(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        told.orders.iter().map(briefly).collect()
    }

    /// Messages that session `index` was opened with.
    pub fn before(&self, index: usize) -> Vec<SpeechItem> {
        self.told.lock().unwrap().setups[index].before.clone()
    }

    pub fn sessions(&self) -> usize {
        self.told.lock().unwrap().setups.len()
    }
}

fn briefly(order: &SpeechOrder) -> String {
    match order {
        SpeechOrder::Tools(tools) => {
            let names: Vec<&str> = tools.iter().map(|it| &*it.name).collect();
            format!("tools {}", names.join(" "))
        }
        SpeechOrder::Sound(_) => "sound".to_owned(),
        SpeechOrder::Commit => "commit".to_owned(),
        SpeechOrder::Clear => "clear".to_owned(),
        SpeechOrder::Text(SpeechItem::Said(text)) => format!("said {text}"),
        SpeechOrder::Text(SpeechItem::Answered(text)) => format!("answered {text}"),
        SpeechOrder::Answer(_) => "answer".to_owned(),
        SpeechOrder::Result { call, .. } => format!("result {}", call.0),
        SpeechOrder::Cancel => "cancel".to_owned(),
        SpeechOrder::Truncate { item, played } => {
            format!("truncate {} {}", item.0, played.as_millis())
        }
    }
}

impl SpeechToSpeech for Talker {
    fn name(&self) -> &str {
        "talker"
    }

    fn model(&self) -> &str {
        "talker-1"
    }

    fn priced_as(&self) -> Option<&str> {
        self.price
    }

    fn abilities(&self) -> SpeechAbilities {
        let is_free = !self.is_fixed;
        SpeechAbilities {
            clears: is_free,
            truncates: is_free,
            changes_tools: is_free,
            goes_on: self.is_fixed,
            takes_choice: is_free,
            sound: SoundTokens { received: 10, spoken: 20, with_words: true },
        }
    }

    fn connect(&self, setup: SpeechSetup) -> BoxFuture<'static, Result<SpeechSession, Error>> {
        self.told.lock().unwrap().setups.push(setup);
        if let Some(after) = self.refuses_after {
            let refused = Error::new(Kind::Unauthorized, "the key was refused (check api_key)");
            return async move {
                tokio::time::sleep(after).await;
                Err(refused)
            }
            .boxed();
        }
        let (control, orders) = SpeechControl::new();
        let (to, events) = mpsc::unbounded_channel();
        let session = Session {
            scripts: Arc::clone(&self.scripts),
            told: Arc::clone(&self.told),
            to,
            items: self.sessions() * 100,
            billed: Arc::clone(&self.billed),
            spoken: 0,
        };
        tokio::spawn(session.serve(orders));
        // Like that of a client: must not be polled after its end.
        let events = futures::stream::unfold(events, |mut events| async move {
            Some((events.recv().await?, events))
        })
        .boxed();
        async { Ok(SpeechSession { control, events }) }.boxed()
    }
}

struct Session {
    scripts: Arc<Mutex<VecDeque<Vec<Does>>>>,
    told: Arc<Mutex<Told>>,
    to: Events,
    items: usize,
    billed: Arc<AtomicU64>,
    /// Billed tokens of the answer.
    spoken: u64,
}

impl Session {
    async fn serve(mut self, mut orders: UnboundedReceiver<SpeechOrder>) {
        while let Some(order) = orders.recv().await {
            let is_answer = matches!(order, SpeechOrder::Answer(_));
            self.told.lock().unwrap().orders.push(order);
            if is_answer && !self.answer(&mut orders).await {
                return;
            }
        }
    }

    /// Plays the next script; false if the connection is lost.
    async fn answer(&mut self, orders: &mut UnboundedReceiver<SpeechOrder>) -> bool {
        let script = self.scripts.lock().unwrap().pop_front();
        let (mut cancels, mut counts) = (false, true);
        for step in script.unwrap_or_else(|| vec![Does::Say("Well met.", 1_000)]) {
            match step {
                Does::Talk(length, pause) => match self.talk(orders, length, pause).await {
                    Some(SpeechEnding::Completed) => {}
                    Some(ending) => {
                        self.done(ending, counts);
                        return true;
                    }
                    None => return false,
                },
                Does::TalkOn => {
                    while self.talk(orders, u64::MAX, u64::MAX).await.is_some() {}
                    return false;
                }
                Does::Drip => {
                    self.drip(orders).await;
                    return false;
                }
                Does::Dawdle => {
                    self.dawdle(orders).await;
                    return false;
                }
                Does::CancelCalls => cancels = true,
                Does::NoCount => counts = false,
                Does::Wait(length) => tokio::time::sleep(Duration::from_millis(length)).await,
                Does::Cut => {
                    let _ = self.to.send(Err(Error::new(Kind::Interrupted, "cut")));
                    return false;
                }
                Does::Vanish => {
                    self.stall(orders).await;
                    return false;
                }
                Does::Stall => {
                    let is_cancelled = self.stall(orders).await;
                    if is_cancelled {
                        self.done(SpeechEnding::Cancelled, true);
                    }
                    return is_cancelled;
                }
                step => self.at_once(step),
            }
        }
        self.done(SpeechEnding::Completed, counts);
        if cancels {
            self.tell(SpeechSessionEvent::CallsCancelled(Vec::new()));
        }
        true
    }

    fn at_once(&mut self, step: Does) {
        match step {
            Does::Say(words, length) => self.say(words, length),
            Does::Blank(length) => {
                self.items += 1;
                self.write("The caravan never came in.");
                (0..length / 100).for_each(|_| self.sound(0));
            }
            Does::Chatter(words) => self.write(&"word ".repeat(words)),
            Does::Flood(calls) => {
                (0..calls).for_each(|_| self.tell(SpeechSessionEvent::Calling));
            }
            Does::Call(name, arguments) => {
                self.items += 1;
                let id = CallId(format!("call-{}", self.items));
                let (name, arguments) = (name.to_owned(), arguments.to_owned());
                let call = ToolCall { id, name, arguments, extra: Map::new() };
                self.tell(SpeechSessionEvent::Call(call));
            }
            Does::GoAway(later, left) => self.go_away(later, left),
            Does::Close(later) => self.close(later),
            step => unreachable!("{step:?} takes time"),
        }
    }

    /// Waits until the answer is cancelled; false if the connection is lost.
    async fn stall(&self, orders: &mut UnboundedReceiver<SpeechOrder>) -> bool {
        while let Some(order) = orders.recv().await {
            let is_over = matches!(order, SpeechOrder::Cancel);
            self.told.lock().unwrap().orders.push(order);
            if is_over {
                return true;
            }
        }
        false
    }

    fn say(&mut self, words: &str, length: u64) {
        self.items += 1;
        let item = SpeechItemId(format!("item-{}", self.items));
        let (first, rest) = words.split_at(words.len() / 2);
        self.tell(SpeechSessionEvent::Words { item: item.clone(), delta: first.to_owned() });
        for _ in 0..length / 100 {
            let sound = Pcm { samples: vec![8_000; 2_400], rate: SampleRate::new(24_000).unwrap() };
            self.tell(SpeechSessionEvent::Audio { item: item.clone(), sound });
            self.bill();
        }
        self.tell(SpeechSessionEvent::Words { item, delta: rest.to_owned() });
    }

    /// Speaks in real time and counts it; `None` once the session is over.
    async fn talk(
        &mut self,
        orders: &mut UnboundedReceiver<SpeechOrder>,
        length: u64,
        pause: u64,
    ) -> Option<SpeechEnding> {
        self.items += 1;
        let item = SpeechItemId(format!("item-{}", self.items));
        let delta = "On and on.".to_owned();
        self.tell(SpeechSessionEvent::Words { item: item.clone(), delta });
        let mut at = 0;
        while at < length {
            tokio::select! {
                order = orders.recv() => {
                    let order = order?;
                    let is_over = matches!(order, SpeechOrder::Cancel);
                    self.told.lock().unwrap().orders.push(order);
                    if is_over {
                        return Some(SpeechEnding::Cancelled);
                    }
                }
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    let level = if at % pause >= pause - 400 { 0 } else { 8_000 };
                    let rate = SampleRate::new(24_000).unwrap();
                    let sound = Pcm { samples: vec![level; 2_400], rate };
                    self.tell(SpeechSessionEvent::Audio { item: item.clone(), sound });
                    self.bill();
                    at += 100;
                }
            }
        }
        Some(SpeechEnding::Completed)
    }

    /// Words of the newest item.
    fn write(&self, words: &str) {
        let item = SpeechItemId(format!("item-{}", self.items));
        self.tell(SpeechSessionEvent::Words { item, delta: words.to_owned() });
    }

    /// 100 ms of sound of the newest item.
    fn sound(&mut self, level: i16) {
        let item = SpeechItemId(format!("item-{}", self.items));
        let sound = Pcm { samples: vec![level; 2_400], rate: SampleRate::HZ_24000 };
        self.tell(SpeechSessionEvent::Audio { item, sound });
        self.bill();
    }

    async fn drip(&mut self, orders: &mut UnboundedReceiver<SpeechOrder>) {
        self.items += 1;
        self.write("Drip, drop.");
        loop {
            self.sound(8_000);
            tokio::select! {
                order = orders.recv() => {
                    let Some(order) = order else { return };
                    self.told.lock().unwrap().orders.push(order);
                }
                () = tokio::time::sleep(Duration::from_millis(400)) => {}
            }
        }
    }

    /// Bills 100 ms of speech.
    fn bill(&mut self) {
        self.billed.fetch_add(2, Ordering::Relaxed);
        self.spoken += 2;
    }

    async fn dawdle(&self, orders: &mut UnboundedReceiver<SpeechOrder>) {
        loop {
            tokio::select! {
                order = orders.recv() => {
                    let Some(order) = order else { return };
                    self.told.lock().unwrap().orders.push(order);
                }
                () = tokio::time::sleep(Duration::from_secs(1)) => {
                    self.tell(SpeechSessionEvent::Calling);
                }
            }
        }
    }

    fn go_away(&self, later: u64, left: u64) {
        let to = self.to.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(later)).await;
            let at = Instant::now() + Duration::from_millis(left);
            let _ = to.send(Ok(SpeechSessionEvent::GoingAway(at)));
        });
    }

    fn close(&self, later: u64) {
        let to = self.to.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(later)).await;
            let _ = to.send(Err(Error::new(Kind::Unavailable, "closed (1011)")));
        });
    }

    fn done(&mut self, ending: SpeechEnding, counts: bool) {
        let audio_out = std::mem::take(&mut self.spoken).max(50);
        let usage = SpeechUsage { text_in: 2_000, audio_out, ..SpeechUsage::default() };
        let usage = counts.then_some(usage);
        self.tell(SpeechSessionEvent::Done(SpeechDone { ending, usage }));
    }

    fn tell(&self, event: SpeechSessionEvent) {
        // The receiver may have been dropped.
        let _ = self.to.send(Ok(event));
    }
}
