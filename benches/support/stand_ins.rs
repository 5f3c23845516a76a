//! Services that answer at once.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use glyphoxa::measure::{
    Attachment, Attempts, CallContext, CallError, CallId, CallOutput, ChatEvent, ChatModel,
    ChatRequest, Effects, Error, Frame, Handler, Message, OneByOne, OneShot, Pcm, SampleRate,
    SpeakRequest, SpeechEvent, SpeechToText, SttAbilities, Synthesis, SynthesisSetup, TextToSpeech,
    ToolCall, VoiceOut,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::sound::{LAST, WORD, tone};

/// Text that the recogniser understands.
pub const UTTERANCE: &str = "well what is new in town";
/// Three sentences; the first ends with the sixth token.
const TOKENS: [&str; 18] = [
    "Nothing", " much", " happens", " here", " lately", ".", " The", " stew", " is", " hot",
    " today", ".", " Sit", " down", " by", " the", " fire", ".",
];
/// The tool's name.
const TOOL: &str = "nothing";

/// Hears with marks in the sound.
pub struct Recogniser {
    /// It ends utterances itself: its final comes with the frame marked [`LAST`]. Otherwise the
    /// table ends them, and the final comes when the sound does.
    pub ends_utterances: bool,
    /// Text it reads at a frame marked [`WORD`]; `None`: it gives no partials.
    pub partial: Option<&'static str>,
}

impl SpeechToText for Recogniser {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities { partials: self.partial.is_some(), endpointing: self.ends_utterances }
    }

    fn expect(&self, _: &dyn Fn() -> Vec<String>) {}

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        _: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let ends_utterances = self.ends_utterances;
        let partial = self.partial;
        let whole = || Ok(SpeechEvent::Final { text: UTTERANCE.to_owned() });
        let events = stream::unfold(Some(audio), move |audio| async move {
            let mut audio = audio?;
            while let Some(frame) = audio.recv().await {
                match (frame.samples().first(), partial) {
                    (Some(&WORD), Some(text)) => {
                        let read = SpeechEvent::Partial { text: text.to_owned() };
                        return Some((Ok(read), Some(audio)));
                    }
                    (Some(&LAST), _) if ends_utterances => return Some((whole(), Some(audio))),
                    _ => {}
                }
            }
            (!ends_utterances).then(|| (whole(), None))
        });
        events.boxed()
    }
}

/// Says its three sentences token by token.
pub struct Model {
    /// Time between two tokens, none for all at once; the first comes at once.
    pub token: Duration,
    /// Rounds of calls before it speaks.
    pub calls: usize,
}

impl ChatModel for Model {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let results = request.messages.iter().rev();
        let results = results.take_while(|message| !matches!(message, Message::User(_)));
        let made = results.filter(|message| matches!(message, Message::Tool { .. })).count();
        let can_call = request.tools.iter().any(|spec| *spec.name == *TOOL);
        if made < self.calls && can_call {
            let call = ToolCall {
                id: CallId("call".to_owned()),
                name: TOOL.to_owned(),
                arguments: "{}".to_owned(),
                extra: Map::new(),
            };
            return stream::iter([Ok(ChatEvent::ToolCall(call)), Ok(ChatEvent::Done)]).boxed();
        }
        sentences(Duration::ZERO, self.token)
    }
}

/// The three sentences: the first token after `first`, the others every `token`; if that is zero,
/// all at once.
pub fn sentences(first: Duration, token: Duration) -> BoxStream<'static, Result<ChatEvent, Error>> {
    let start = Instant::now() + first;
    let tokens = (0_u32..).zip(TOKENS).map(move |(nth, text)| (start + token * nth, text));
    stream::iter(tokens)
        .then(move |(due, text)| async move {
            if !token.is_zero() {
                tokio::time::sleep_until(due.into()).await;
            }
            Ok(ChatEvent::Text(text.to_owned()))
        })
        .chain(stream::iter([Ok(ChatEvent::Done)]))
        .boxed()
}

/// Speaks any sentence as the same tone.
pub struct Synthesiser(Arc<Tone>);

/// Chunks of 20 ms at 24 kHz.
struct Tone(Vec<Vec<i16>>);

impl Synthesiser {
    /// `length` of tone for each sentence.
    pub fn new(length: Duration) -> Self {
        let samples = tone(SampleRate::HZ_24000.samples_in(length), 24_000.0);
        Self(Arc::new(Tone(samples.chunks(480).map(<[i16]>::to_vec).collect())))
    }
}

impl TextToSpeech for Synthesiser {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis> {
        OneByOne::new(Arc::clone(&self.0) as Arc<dyn OneShot>).open(setup)
    }
}

impl OneShot for Tone {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, _request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let chunk = |samples| Ok(Pcm { samples, rate: SampleRate::HZ_24000 });
        stream::iter(self.0.clone().into_iter().map(chunk)).boxed()
    }
}

/// A tool that does nothing.
pub struct Nothing;

impl Handler for Nothing {
    fn call<'a>(
        &'a self,
        _context: &'a CallContext,
        _arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready(Ok(CallOutput::json(json!({})))).boxed()
    }
}

impl Effects for Nothing {
    fn show(&self, _text: &str) {}
    fn attach(&self, _tool: &str, _attachment: &Attachment) -> bool {
        true
    }
}

/// Notes when the last speech frame was handed in and when the first frame came out.
#[derive(Clone, Default)]
pub struct Stopwatch(Arc<Mutex<(Option<Instant>, Option<Instant>)>>);

impl Stopwatch {
    /// The last speech frame is being handed in.
    pub fn start(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (Some(Instant::now()), None);
    }

    /// From then to the first frame that came out.
    pub fn total(&self) -> Option<Duration> {
        let (handed_in, came_out) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(came_out?.duration_since(handed_in?))
    }
}

impl VoiceOut for Stopwatch {
    fn play(&mut self, _npc: &str, _frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.get_or_insert_with(Instant::now);
    }

    fn ramp(&mut self, _db: f32, _over: Duration) {}

    fn stop(&mut self) -> usize {
        0
    }
}
