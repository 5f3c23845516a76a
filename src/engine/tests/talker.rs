//! A stand-in for voice models; scripts say what each answer does. It takes orders as a service would,
//! and keeps them.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
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
    /// Says these words in so many ms of sound, all at once.
    Say(&'static str, u64),
    /// Calls a tool.
    Call(&'static str, &'static str),
    /// The calls of the answer are cancelled as soon as it is over.
    CancelCalls,
    /// The answer ends without its count of tokens.
    NoCount,
    /// Nothing comes for so many ms.
    Wait(u64),
    /// Says so many ms later that the session ends in so many ms.
    GoAway(u64, u64),
    /// The service closes the connection so many ms later, without a warning.
    Close(u64),
    /// The connection is gone.
    Cut,
    /// Nothing more comes until it is cancelled.
    Stall,
    /// Like [`Self::Stall`], and then the connection ends without a word.
    Vanish,
}

/// Setups and orders that sessions have received.
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
    /// It can neither change its tools nor take anything back, and goes on beside calls.
    is_fixed: bool,
    /// Connections are refused, after this time.
    refuses_after: Option<Duration>,
}

type Events = UnboundedSender<Result<SpeechSessionEvent, Error>>;

impl Talker {
    /// One that nobody can connect to, and that says so after this time.
    pub fn refusing(after: Duration) -> Self {
        Self { refuses_after: Some(after), ..Self::default() }
    }

    /// One that can neither change its tools nor take anything back.
    pub fn fixed() -> Self {
        Self { is_fixed: true, ..Self::default() }
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

    /// Written items at the beginning of session `index`.
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
        SpeechOrder::Truncate { item, heard } => {
            format!("truncate {} {}", item.0, heard.as_millis())
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
            sound: SoundTokens { heard: 10, spoken: 20, with_words: true },
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
        };
        tokio::spawn(session.serve(orders));
        // As that of a client, it is not to be polled after its end.
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

    /// Plays the next script; false: the connection is gone.
    async fn answer(&mut self, orders: &mut UnboundedReceiver<SpeechOrder>) -> bool {
        let script = self.scripts.lock().unwrap().pop_front();
        let (mut cancels, mut counts) = (false, true);
        for step in script.unwrap_or_else(|| vec![Does::Say("Well met.", 1_000)]) {
            match step {
                Does::Say(words, length) => self.say(words, length),
                Does::Call(name, arguments) => {
                    self.items += 1;
                    let id = CallId(format!("call-{}", self.items));
                    let (name, arguments) = (name.to_owned(), arguments.to_owned());
                    let call = ToolCall { id, name, arguments, extra: Map::new() };
                    self.tell(SpeechSessionEvent::Call(call));
                }
                Does::CancelCalls => cancels = true,
                Does::NoCount => counts = false,
                Does::Wait(length) => tokio::time::sleep(Duration::from_millis(length)).await,
                Does::GoAway(later, left) => self.go_away(later, left),
                Does::Close(later) => self.close(later),
                Does::Cut => {
                    let _ = self.to.send(Err(Error::new(Kind::Interrupted, "cut")));
                    return false;
                }
                Does::Stall | Does::Vanish => loop {
                    let Some(order) = orders.recv().await else { return false };
                    let is_over = matches!(order, SpeechOrder::Cancel);
                    self.told.lock().unwrap().orders.push(order);
                    if is_over && matches!(step, Does::Vanish) {
                        return false;
                    }
                    if is_over {
                        self.done(SpeechEnding::Cancelled, true);
                        return true;
                    }
                },
            }
        }
        self.done(SpeechEnding::Completed, counts);
        if cancels {
            self.tell(SpeechSessionEvent::CallsCancelled(Vec::new()));
        }
        true
    }

    fn say(&mut self, words: &str, length: u64) {
        self.items += 1;
        let item = SpeechItemId(format!("item-{}", self.items));
        let (first, rest) = words.split_at(words.len() / 2);
        self.tell(SpeechSessionEvent::Words { item: item.clone(), delta: first.to_owned() });
        for _ in 0..length / 100 {
            let sound = Pcm { samples: vec![8_000; 2_400], rate: SampleRate::new(24_000).unwrap() };
            self.tell(SpeechSessionEvent::Audio { item: item.clone(), sound });
        }
        self.tell(SpeechSessionEvent::Words { item, delta: rest.to_owned() });
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

    fn done(&self, ending: SpeechEnding, counts: bool) {
        let usage = SpeechUsage { text_in: 2_000, audio_out: 50, ..SpeechUsage::default() };
        let usage = counts.then_some(usage);
        self.tell(SpeechSessionEvent::Done(SpeechDone { ending, usage }));
    }

    fn tell(&self, event: SpeechSessionEvent) {
        // Nobody may listen any more.
        let _ = self.to.send(Ok(event));
    }
}
