//! Loopback services for tests whose models hear and speak: OpenAI Realtime and Gemini Live.
//!
//! Entry types: [`VoiceServer`], [`Service`], [`Answer`], [`Fault`], [`Seen`]. Answers are scripted
//! (`answer.rs`) and paid for (`bill.rs`), and everything that comes is recorded, in the same words for
//! both services. It runs on a thread of its own, so paused time in a test does not touch it.

pub mod answer;
pub mod bill;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::Value;
use tokio::net::TcpListener;

use super::{gemini, own_thread::OwnThread, realtime};
pub use answer::{Answer, Late};
pub use bill::{Prices, Usage};

/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(120);

/// A service by its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// OpenAI Realtime.
    OpenAi,
    /// Gemini Live.
    Gemini,
}

impl Service {
    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-realtime",
            Self::Gemini => "gemini-live",
        }
    }

    /// A model that it has.
    pub const fn model(self) -> &'static str {
        match self {
            Self::OpenAi => "gpt-realtime-2.1",
            Self::Gemini => "gemini-3.8-live",
        }
    }

    /// A voice that it has.
    pub const fn voice(self) -> &'static str {
        match self {
            Self::OpenAi => "cedar",
            Self::Gemini => "Kore",
        }
    }

    /// The address to configure for a counterpart at `address`.
    pub fn base_url(self, address: impl std::fmt::Display) -> String {
        match self {
            Self::OpenAi => format!("http://{address}/v1"),
            Self::Gemini => format!("http://{address}"),
        }
    }

    /// Samples a second of what it hears.
    const fn rate(self) -> u32 {
        match self {
            Self::OpenAi => 24_000,
            Self::Gemini => 16_000,
        }
    }
}

/// A running service; it ends when dropped.
pub struct VoiceServer {
    service: Service,
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Model that was asked for.
    pub model: String,
    /// Samples a second of [`Self::sound`].
    pub rate: u32,
    /// Reason for refusing the handshake.
    pub refused: Option<String>,
    /// Messages of the client, in order; sound is left out of them.
    pub orders: Vec<Value>,
    /// Requests that the service refused or could not have understood, as code and message.
    pub mistakes: Vec<String>,
    /// Instructions, each time they were set.
    pub instructions: Vec<String>,
    /// Names of the tools, each time they were declared.
    pub declared: Vec<Vec<String>>,
    /// Voice that was asked for last.
    pub voice: Option<String>,
    /// Messages in writing, as role and text.
    pub items: Vec<(String, String)>,
    /// All sound that was sent, mono.
    pub sound: Vec<i16>,
    /// Seconds of each utterance that was sent whole.
    pub committed: Vec<f64>,
    /// Seconds from the first sound of each of them to its end.
    pub took: Vec<f64>,
    /// Clears of the buffer.
    pub cleared: usize,
    /// Results of calls, as call id and output.
    pub results: Vec<(String, String)>,
    /// Cuts of answers, as item and milliseconds.
    pub truncations: Vec<(String, u64)>,
    /// Results of calls that the service had taken back, as call id; it does nothing with them.
    pub late: Vec<String>,
    /// Calling modes of the tools that were declared last, as name and mode.
    pub modes: Vec<(String, String)>,
    /// Scheduling of results, as call id and value.
    pub scheduled: Vec<(String, String)>,
    /// Number of results that waited for the end of an answer.
    pub idled: usize,
    /// The handle by which an earlier session was taken up.
    pub resumed: Option<String>,
    /// Cancelled answers.
    pub cancels: usize,
    /// Answers that were begun.
    pub answers: usize,
    /// Reason of the end, once the connection has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// Seconds of sound that were appended.
    pub fn seconds(&self) -> f64 {
        self.sound.len() as f64 / f64::from(self.rate)
    }

    /// Loudness of all that was appended, 0 to 1.
    pub fn level(&self) -> f64 {
        let squares: f64 = self.sound.iter().map(|s| (f64::from(*s) / 32_768.0).powi(2)).sum();
        (squares / self.sound.len().max(1) as f64).sqrt()
    }

    /// True if a message of `role` contains `text`.
    pub fn has_item(&self, role: &str, text: &str) -> bool {
        self.items.iter().any(|(by, said)| by == role && said.contains(text))
    }

    /// Messages of this type, by their `type` or their only key.
    pub fn ordered(&self, kind: &str) -> usize {
        let is_one = |order: &&Value| order["type"] == kind || order.get(kind).is_some();
        self.orders.iter().filter(is_one).count()
    }
}

/// A fault of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Works well.
    None,
    /// The handshake is refused with this status.
    Refuse(u16),
    /// The handshake succeeds; nothing is ever said.
    Mute,
    /// The first setup is refused.
    RefuseSetup,
    /// The session is as old as it may be after its first whole answer, and is closed with a reason.
    Expires,
    /// Like [`Self::Expires`], without a reason.
    Closes,
    /// At the end of its first whole answer it says that so much time is left, and is closed then (Gemini).
    GoesAway(Duration),
    /// OpenAI's answer to who asks for its beta form: an error, then a close with 4000.
    Retired,
}

/// Shared by all connections of a service.
pub struct Shared {
    service: Service,
    /// The key that is wanted.
    pub key: String,
    state: Mutex<State>,
    changed: Condvar,
}

/// The script, and what has come.
#[derive(Default)]
pub struct State {
    answers: VecDeque<Answer>,
    otherwise: Option<Answer>,
    faults: VecDeque<Fault>,
    /// The fault of connections without one of their own.
    always: Option<Fault>,
    /// Everything that came, by connections.
    pub seen: Vec<Seen>,
    /// Answers of all connections.
    pub answered: usize,
    /// Tokens of each answer.
    pub billed: Vec<Usage>,
    /// Sessions of Gemini by the handles that it gave out.
    pub resumable: HashMap<String, gemini::Conversation>,
}

impl VoiceServer {
    /// A service on a free port that wants `key`.
    pub fn start(service: Service, key: &str) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { service, key: key.to_owned(), state, changed });
        let serving = Arc::clone(&shared);
        let thread = OwnThread::serving(move |listener| serve(listener, serving));
        Self { service, thread, shared }
    }

    /// The service by whose protocol it speaks.
    pub const fn service(&self) -> Service {
        self.service
    }

    /// The address to configure.
    pub fn base_url(&self) -> String {
        self.service.base_url(self.thread.address)
    }

    /// Scripts the next answer that has no script yet; answers without one say "Aye, friend.".
    pub fn push(&self, answer: Answer) {
        self.shared.state().answers.push_back(answer);
    }

    /// Scripts all answers beyond those of [`Self::push`].
    pub fn otherwise(&self, answer: Answer) {
        self.shared.state().otherwise = Some(answer);
    }

    /// Scripts a fault of the next connection that has none yet.
    pub fn fault(&self, fault: Fault) {
        self.shared.state().faults.push_back(fault);
    }

    /// Scripts a fault of all connections that have none of their own.
    pub fn always(&self, fault: Fault) {
        self.shared.state().always = Some(fault);
    }

    /// Everything that came, by connections.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// The connections that were not refused.
    pub fn sessions(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.refused.is_none()).collect()
    }

    /// Everything that came, as soon as `is_met`; fails after [`BOUND`].
    #[track_caller]
    pub fn until(&self, is_met: impl Fn(&[Seen]) -> bool) -> Vec<Seen> {
        let state = self.shared.state();
        let waiting =
            self.shared.changed.wait_timeout_while(state, BOUND, |state| !is_met(&state.seen));
        let (state, waited) = waiting.expect("no panic while locked");
        assert!(!waited.timed_out(), "never happened: {:#?}", brief(&state.seen));
        state.seen.clone()
    }

    /// Everything that came, once all connections have ended.
    #[track_caller]
    pub fn ended(&self) -> Vec<Seen> {
        self.until(|seen| seen.iter().all(|it| it.refused.is_some() || it.ended.is_some()))
    }

    /// Tokens billed so far, an entry for each answer; call it when all connections have ended.
    pub fn billed(&self) -> Vec<Usage> {
        self.shared.state().billed.clone()
    }

    /// Cost of the tokens so far.
    pub fn bill(&self, prices: &Prices) -> f64 {
        self.billed().iter().map(|usage| usage.cost(prices)).sum()
    }
}

impl Shared {
    /// The script and the record, locked.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while locked")
    }

    /// Changes it, and wakes all waiting tasks.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.notify_all();
        changed
    }

    /// Writes down a handshake; its number and its fault.
    pub fn begun(&self, model: String) -> (usize, Fault) {
        let rate = self.service.rate();
        self.change(|state| {
            state.seen.push(Seen { model, rate, ..Seen::default() });
            (state.seen.len() - 1, state.faults.pop_front().or(state.always).unwrap_or(Fault::None))
        })
    }

    /// The next answer, and its number.
    pub fn next_answer(&self) -> (usize, Answer) {
        self.change(|state| {
            let answer = state.answers.pop_front().or_else(|| state.otherwise.clone());
            state.answered += 1;
            let answer = answer.unwrap_or_else(|| Answer::say("Aye, friend.", 0.8));
            (state.answered - 1, answer)
        })
    }
}

/// Sessions without their sound, which is unreadable.
fn brief(seen: &[Seen]) -> Vec<Seen> {
    seen.iter().map(|it| Seen { sound: Vec::new(), ..it.clone() }).collect()
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        match shared.service {
            Service::OpenAi => tokio::spawn(realtime::connection(stream, shared)),
            Service::Gemini => tokio::spawn(gemini::connection(stream, shared)),
        };
    }
}
