//! Stand-ins for models, voices and tools, driven by scripts.

use std::{
    collections::VecDeque,
    env,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream, stream::BoxStream};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};
use tokio::{runtime::Builder, time::sleep};

use crate::{
    audio::{Frame, SampleRate},
    domain::{CallId, Npc, Tier, ToolCall, Voice as VoiceOf},
    engine::{PlayedPart, ReplyPort, Turn, TurnReport, VoiceEngine, conversation::Excerpt},
    extent,
    provider::{
        ChatEvent, ChatModel, ChatRequest, Error, Kind, OneByOne, OneShot, Pcm, SpeakRequest,
        TextToSpeech, Usage,
    },
    tools::{
        Attachment, CallContext, CallError, CallErrorKind, CallOutput, Declared, Definition,
        Effects, Handler, SelectionOptions, SideEffects, SourceKind, ToolHost,
        builtin::{Materials, offer as offer_built_ins},
    },
};

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Plays seeds in paused time: `gate` of them, `proof` in a whole run, or that of
/// `GLYPHOXA_TEST_SEED` alone.
pub fn seeds<T, F: Future<Output = T>>(gate: u64, proof: u64, play: impl Fn(u64) -> F) -> Vec<T> {
    let one = env::var_os("GLYPHOXA_TEST_SEED");
    let one = one.map(|it| it.to_string_lossy().parse::<u64>().expect("a seed is a number"));
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..if extent::whole() { proof } else { gate },
    };
    let run = |seed| {
        println!("seed {seed}");
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(play(seed))
    };
    seeds.map(run).collect()
}

/// One step of a scripted reply.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Wait(u64),
    Text(&'static str),
    Call(&'static str, &'static str),
    Usage(u64, u64),
    Fail(Kind),
    Stall,
    Panic,
}

/// Counts work in progress.
#[derive(Clone, Default)]
pub struct Live(Arc<AtomicUsize>);

pub struct Alive(Live);

impl Live {
    pub fn begin(&self) -> Alive {
        self.0.fetch_add(1, Ordering::SeqCst);
        Alive(self.clone())
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A chat model that plays its scripts in order, then answers "Well met.".
#[derive(Default)]
pub struct Model {
    pub scripts: Mutex<VecDeque<Vec<Step>>>,
    pub requests: Mutex<Vec<ChatRequest>>,
    pub live: Live,
    pub price: Option<&'static str>,
    pub window: Option<u32>,
    pub continues: bool,
}

impl Model {
    pub fn then(&self, script: &[Step]) -> &Self {
        self.scripts.lock().unwrap().push_back(script.to_vec());
        self
    }

    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// All text of request `index`.
    pub fn read(&self, index: usize) -> String {
        format!("{:?}", self.requests.lock().unwrap()[index].messages)
    }
}

impl ChatModel for Model {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        self.price
    }

    fn window(&self) -> Option<u32> {
        self.window
    }

    fn continues(&self) -> bool {
        self.continues
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let index = self.asked();
        self.requests.lock().unwrap().push(request);
        let script = self.scripts.lock().unwrap().pop_front();
        let steps = script.unwrap_or_else(|| vec![Step::Text("Well met.")]).into_iter();
        let alive = self.live.begin();
        stream::unfold((steps, alive, index * 100), |(mut steps, alive, n)| async move {
            let id = CallId(format!("call-{n}"));
            let event = loop {
                match steps.next()? {
                    Step::Wait(wait) => sleep(ms(wait)).await,
                    Step::Text(text) => break Ok(ChatEvent::Text(text.to_owned())),
                    Step::Call(name, arguments) => {
                        let (name, arguments) = (name.to_owned(), arguments.to_owned());
                        let call = ToolCall { id, name, arguments, extra: Map::new() };
                        break Ok(ChatEvent::ToolCall(call));
                    }
                    Step::Usage(input_tokens, output_tokens) => {
                        let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
                        break Ok(ChatEvent::Usage(usage));
                    }
                    Step::Fail(kind) => break Err(Error::new(kind, "secret error text")),
                    Step::Panic => panic!("the stand-in breaks"),
                    Step::Stall => std::future::pending().await,
                }
            };
            Some((event, (steps, alive, n + 1)))
        })
        .boxed()
    }
}

/// A voice that hums: `length` for each sentence, in chunks of 100 ms.
pub struct Hum {
    pub length: Duration,
    /// Value of its samples.
    pub level: i16,
    pub first_byte: Duration,
    pub each_chunk: Duration,
    /// Fails at this sentence, counted from 0.
    pub fails_at: Option<usize>,
    pub said: Mutex<Vec<String>>,
    /// Of each sentence.
    pub styles: Mutex<Vec<Option<Arc<str>>>>,
    pub live: Live,
}

impl Default for Hum {
    fn default() -> Self {
        Self {
            length: ms(1_000),
            level: 8_000,
            first_byte: ms(0),
            each_chunk: ms(0),
            fails_at: None,
            said: Mutex::default(),
            styles: Mutex::default(),
            live: Live::default(),
        }
    }
}

impl Hum {
    pub fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

/// A voice that hums.
pub fn hum() -> Arc<dyn TextToSpeech> {
    voice(Arc::<Hum>::default())
}

pub fn voice(service: Arc<dyn OneShot>) -> Arc<dyn TextToSpeech> {
    Arc::new(OneByOne::new(service))
}

impl OneShot for Hum {
    fn name(&self) -> &str {
        "hum"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let mut said = self.said.lock().unwrap();
        let fails = self.fails_at == Some(said.len());
        said.push(request.text);
        self.styles.lock().unwrap().push(request.style);
        let chunks = self.length.as_millis() / 100;
        let (first, each, alive) = (self.first_byte, self.each_chunk, self.live.begin());
        let level = self.level;
        stream::unfold((0, alive), move |(n, alive)| async move {
            if n == chunks {
                return None;
            }
            sleep(if n == 0 { first } else { each }).await;
            let chunk = match fails {
                true => Err(Error::new(Kind::Unavailable, "secret voice error")),
                false => Ok(Pcm { samples: vec![level; 4_800], rate: SampleRate::HZ_48000 }),
            };
            Some((chunk, (if fails { chunks } else { n + 1 }, alive)))
        })
        .boxed()
    }
}

/// A tool that takes time and counts its runs.
pub struct Stub {
    pub takes: Duration,
    pub calls: Arc<AtomicUsize>,
    pub prepared: Arc<AtomicUsize>,
}

impl Handler for Stub {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            if !arguments.contains_key("expression") {
                let why = "'expression' is missing (give a dice expression)";
                return Err(CallError::new(CallErrorKind::InvalidArguments, why));
            }
            sleep(self.takes).await;
            let count = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
            Ok(CallOutput::json(json!({ "total": 10 + count })))
        }
        .boxed()
    }

    fn prepare(&self) -> BoxFuture<'static, ()> {
        self.prepared.fetch_add(1, Ordering::SeqCst);
        std::future::ready(()).boxed()
    }
}

/// Number of completed runs of each tool.
#[derive(Clone, Default)]
pub struct Tools {
    pub roll: Arc<AtomicUsize>,
    pub look: Arc<AtomicUsize>,
    pub slow: Arc<AtomicUsize>,
    pub long: Arc<AtomicUsize>,
    /// Number of times that one of them was prepared.
    pub prepared: Arc<AtomicUsize>,
    /// Spoken while `long` runs.
    pub filler: Option<&'static str>,
}

impl Tools {
    /// A tool whose runs `calls` counts.
    pub fn stub(&self, takes: u64, calls: &Arc<AtomicUsize>) -> Arc<Stub> {
        let (calls, prepared) = (Arc::clone(calls), Arc::clone(&self.prepared));
        Arc::new(Stub { takes: ms(takes), calls, prepared })
    }

    /// `roll` has effects, `look` reads, `slow` never keeps its limit of 400 ms, `long` takes its
    /// announced 900 ms.
    pub fn host(&self, npcs: &[Arc<Npc>]) -> ToolHost {
        let tool = |name: &str, (says, takes, most): (u64, u64, u64), calls: &Arc<AtomicUsize>| {
            Definition {
                name: name.to_owned(),
                description: String::new(),
                input: json!({ "type": "object" }),
                output: None,
                declared: Declared {
                    estimated: Some(ms(says)),
                    max: Some(ms(most)),
                    read_only: Some(name == "look"),
                    fillers: self.filler.filter(|_| name == "long").map(|it| vec![it.to_owned()]),
                    ..Declared::default()
                },
                handler: self.stub(takes, calls),
            }
        };
        let tools = vec![
            tool("roll", (5, 0, 20), &self.roll),
            tool("look", (20, 20, 100), &self.look),
            tool("slow", (100, 5_000, 400), &self.slow),
            tool("long", (900, 900, 1_200), &self.long),
        ];
        let host = ToolHost::new(StdRng::seed_from_u64(1));
        host.catalog().set_cast(npcs);
        assert_eq!(host.offer("stub", SourceKind::BuiltIn, tools), []);
        host
    }

    /// Like [`Self::host`], with a tool `find` whose name is uninformative, a finder, and lists of
    /// two.
    pub fn narrow_host(&self, npcs: &[Arc<Npc>]) -> ToolHost {
        let host = self.host(npcs);
        let described = Definition {
            name: "find".to_owned(),
            description: "Tells where the moon stands.".to_owned(),
            input: json!({ "type": "object" }),
            output: None,
            declared: Declared {
                categories: vec!["sky".to_owned()],
                effects: Some(SideEffects::None),
                ..Declared::default()
            },
            handler: self.stub(10, &self.look),
        };
        assert_eq!(host.offer("stub2", SourceKind::Server, vec![described]), []);
        let dice = StdRng::seed_from_u64(1);
        offer_built_ins(&host, Materials::dice(dice));
        host.select_by(SelectionOptions { top_k: Some(2), ..SelectionOptions::default() }, None);
        host
    }
}

pub fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

pub struct NoEffects;

impl Effects for NoEffects {
    fn show(&self, _: &str) {}
    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }
}

/// An NPC that may use every tool of [`Tools`].
pub fn npc(name: &str) -> Npc {
    Npc {
        voice: VoiceOf { provider: "hum".to_owned(), ..Npc::plain(name).voice },
        budget_tier: Tier::Deep,
        tools: vec!["stub.*".to_owned(), "stub2.*".to_owned()],
        fillers: vec!["Let me think.".to_owned()],
        ..Npc::plain(name)
    }
}

/// An engine like a voice model: it takes sound ahead of a turn, and keeps its answer if only the
/// words change.
pub struct Hearing {
    pub engine: Box<dyn VoiceEngine>,
    /// Numbers of frames received; 0: sound was withdrawn.
    pub passed: Arc<Mutex<Vec<usize>>>,
}

impl VoiceEngine for Hearing {
    fn start(&mut self, turn: Arc<Turn>, replies: ReplyPort) -> BoxFuture<'static, TurnReport> {
        self.engine.start(turn, replies)
    }

    fn receive(&mut self, sound: &VecDeque<Frame>) {
        self.passed.lock().unwrap().push(sound.len());
    }

    fn receives_ahead(&self) -> bool {
        true
    }

    fn answers_sound(&self) -> bool {
        true
    }

    fn played(&mut self, played: &PlayedPart) {
        self.engine.played(played);
    }

    fn costs(&self) -> bool {
        self.engine.costs()
    }

    fn warm(&self, conversation: Excerpt) -> BoxFuture<'static, ()> {
        self.engine.warm(conversation)
    }
}
