//! Random talk with services that count their bills: the total stays within the cap, except for one
//! request.
//!
//! Each seed is a table of three NPCs with one budget: a cascade of two services, a sentence
//! cascade, and a voice model with a cascade behind it. Their voices bill characters or minutes.
//! Their turns run side by side. Guesses are dropped, answers are cut or dropped, and services
//! fail. Their token counts are wrong: zero or too small before or after the true one, missing, or
//! higher than possible. `GLYPHOXA_TEST_SEED=7` repeats one seed.

use std::{
    collections::{BTreeMap, VecDeque},
    marker::PhantomData,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{
    StreamExt,
    future::{join_all, pending},
    stream::{self, BoxStream},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Asked, Bench, Cascaded, Gate, NpcCalls, NpcModel, Opener, PlayedPart, ReplyPort, SessionLimits,
    SpeechToSpeech, Synthesizer, Turn, VoiceEngine,
    props::{ms, seeds},
    talker::{Does, Talker},
    voice_models::frames,
};
use crate::{
    audio::SampleRate,
    domain::TurnId,
    engine::{Budget, npc_model::bytes},
    logic::budget::{BudgetOptions, Ledger, Price},
    provider::{
        Candidate, Chain, ChatEvent, ChatModel, ChatRequest, Error, Kind, OneByOne, OneShot,
        OpenVoice, Pcm, Reader, SpeakRequest, anthropic, openai,
    },
    tools::SessionCalls,
};

/// Price of a token read, of one written, of a character, of a second and of a token of speech, in
/// millionths.
const INPUT: u64 = 10;
const OUTPUT: u64 = 40;
const CHARACTER: u64 = 100;
const SECOND: u64 = 2_000;
const SPOKEN: u64 = 100;
/// Longest answer of the voice model; its tokens of speech are billed.
const LONGEST: Duration = Duration::from_secs(6);
/// Most tokens that are reserved for it.
const LONGEST_TOKENS: u64 = 220;

/// Bills of the services, in millionths. Clones share it.
#[derive(Clone, Default)]
struct Bill(Arc<Mutex<Billed>>);

#[derive(Clone, Copy, Debug, Default)]
struct Billed {
    total: u64,
    /// The most expensive request.
    dearest: u64,
    requests: u64,
    /// Requests with a count above their reservation.
    beyond: u64,
    /// Tables that have spent half of their cap.
    full: u64,
}

impl Bill {
    /// Starts a request without a bill.
    fn request(&self) -> OfRequest {
        self.0.lock().unwrap().requests += 1;
        OfRequest { bill: self.clone(), cost: 0 }
    }
}

/// Bill of one request; it only grows.
struct OfRequest {
    bill: Bill,
    cost: u64,
}

impl OfRequest {
    /// Raises its cost to `cost`, if it is lower.
    fn costs(&mut self, cost: u64) {
        let mut all = self.bill.0.lock().unwrap();
        all.total += cost.saturating_sub(self.cost);
        self.cost = self.cost.max(cost);
        all.dearest = all.dearest.max(self.cost);
    }
}

/// One step of an answer.
enum Act {
    Wait(Duration),
    /// A document, and the cost of the request so far.
    Says(Value, u64),
    Fails(Kind, u64),
}

/// Writes the documents of a service.
trait Wire: Reader + 'static {
    fn begins() -> Vec<Value>;
    fn says(text: &str) -> Value;
    fn counts(input: u64, output: u64) -> Value;
    fn ends() -> Vec<Value>;
}

impl Wire for openai::Reading {
    fn begins() -> Vec<Value> {
        Vec::new()
    }

    fn says(text: &str) -> Value {
        json!({"choices": [{"index": 0, "delta": {"content": text}}]})
    }

    fn counts(input: u64, output: u64) -> Value {
        json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}})
    }

    fn ends() -> Vec<Value> {
        vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})]
    }
}

impl Wire for anthropic::Reading {
    fn begins() -> Vec<Value> {
        let block = json!({"type": "text", "text": ""});
        vec![json!({"type": "content_block_start", "index": 0, "content_block": block})]
    }

    fn says(text: &str) -> Value {
        let delta = json!({"type": "text_delta", "text": text});
        json!({"type": "content_block_delta", "index": 0, "delta": delta})
    }

    fn counts(input: u64, output: u64) -> Value {
        let usage = json!({"input_tokens": input, "output_tokens": output});
        json!({"type": "message_delta", "delta": {}, "usage": usage})
    }

    fn ends() -> Vec<Value> {
        let delta = json!({"stop_reason": "end_turn"});
        vec![
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": delta}),
        ]
    }
}

/// Tokens read and written, and what they cost.
type Count = (u64, u64, u64);

/// A chat service whose documents go through the real parser.
struct Counting<W> {
    bill: Bill,
    rng: Mutex<StdRng>,
    /// One request may exceed its reservation.
    is_beyond: Arc<AtomicBool>,
    wire: PhantomData<fn() -> W>,
}

impl<W: Wire> Counting<W> {
    /// An answer to a request of `input` tokens; `most`: its longest, in tokens.
    fn acts(&self, input: u64, most: u32) -> VecDeque<Act> {
        const TEXTS: [&str; 4] =
            ["Aye. ", "The mill stands by the river. ", "So they say, ", "Ha! "];
        let mut rng = self.rng.lock().unwrap();
        let mut acts = VecDeque::from([Act::Wait(ms(rng.random_range(0..900)))]);
        if rng.random_bool(0.15) {
            let kinds = [Kind::RateLimited { retry_after: None }, Kind::Unavailable, Kind::Timeout];
            let kind = kinds[rng.random_range(0..kinds.len())];
            acts.push_back(Act::Fails(kind, if kind.may_be_billed() { input * INPUT } else { 0 }));
            return acts;
        }
        acts.extend(W::begins().into_iter().map(|it| Act::Says(it, input * INPUT)));
        let mut said = 0;
        for _ in 0..rng.random_range(1..4) {
            let text = TEXTS[rng.random_range(0..TEXTS.len())];
            said += text.len() as u64;
            let output = said.div_ceil(4).min(u64::from(most));
            acts.push_back(Act::Says(W::says(text), input * INPUT + output * OUTPUT));
            if rng.random_bool(0.3) {
                acts.push_back(Act::Wait(ms(rng.random_range(0..2_000))));
            }
        }
        let output = said.div_ceil(4).min(u64::from(most));
        let cost = input * INPUT + output * OUTPUT;
        for (input, output, cost) in self.told((input, output, cost), most, &mut rng) {
            let at = rng.random_range(1..=acts.len());
            acts.insert(at, Act::Says(W::counts(input, output), cost));
        }
        match rng.random_bool(0.15) {
            true => acts.push_back(Act::Fails(Kind::Interrupted, 0)),
            false => acts.extend(W::ends().into_iter().map(|it| Act::Says(it, cost))),
        }
        acts
    }

    /// Reported token counts, with their costs; `truth` may be one of them.
    fn told(&self, truth: Count, most: u32, rng: &mut StdRng) -> Vec<Count> {
        let (input, output, _) = truth;
        let is_told = rng.random_bool(0.7);
        // Without the true count, a smaller one cannot be recognised.
        let lie =
            |most: u64, rng: &mut StdRng| if is_told { rng.random_range(0..=most) } else { 0 };
        let lies = rng.random_range(0..3);
        let mut told: Vec<Count> =
            (0..lies).map(|_| (lie(input, rng), lie(output, rng), 0)).collect();
        if is_told {
            told.insert(rng.random_range(0..=told.len()), truth);
        }
        if rng.random_bool(0.1) && !self.is_beyond.swap(true, Ordering::SeqCst) {
            self.bill.0.lock().unwrap().beyond += 1;
            let (input, output) = (input * 20, u64::from(most) * 3);
            let beyond = (input, output, input * INPUT + output * OUTPUT);
            told.insert(rng.random_range(0..=told.len()), beyond);
        }
        told
    }
}

impl<W: Wire> ChatModel for Counting<W> {
    fn name(&self) -> &str {
        "counting"
    }

    fn priced_as(&self) -> Option<&str> {
        Some("chat")
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let of = self.bill.request();
        let input = bytes(&request.messages) / 4;
        let acts = self.acts(input, request.max_tokens);
        let answer =
            Answer { acts, of, reading: W::default(), out: VecDeque::new(), is_over: false };
        stream::unfold(answer, Answer::next).boxed()
    }
}

struct Answer<W> {
    acts: VecDeque<Act>,
    of: OfRequest,
    reading: W,
    out: VecDeque<ChatEvent>,
    is_over: bool,
}

impl<W: Wire> Answer<W> {
    async fn next(mut self) -> Option<(Result<ChatEvent, Error>, Self)> {
        loop {
            if let Some(event) = self.out.pop_front() {
                return Some((Ok(event), self));
            }
            if self.is_over {
                return None;
            }
            match self.acts.pop_front() {
                Some(Act::Wait(time)) => sleep(time).await,
                Some(Act::Says(document, cost)) => {
                    self.of.costs(cost);
                    assert!(self.reading.take(&document, &mut self.out).is_ok(), "{document}");
                }
                Some(Act::Fails(kind, cost)) => {
                    self.of.costs(cost);
                    self.is_over = true;
                    return Some((Err(Error::new(kind, "a failure of tests")), self));
                }
                None => {
                    self.is_over = true;
                    self.reading.complete(&mut self.out);
                    self.out.push_back(ChatEvent::Done);
                }
            }
        }
    }
}

/// A voice that bills each requested character, or each second of sound that it sends.
struct PaidVoice {
    bill: Bill,
    rng: Mutex<StdRng>,
    is_by_minute: bool,
}

impl OneShot for PaidVoice {
    fn name(&self) -> &str {
        "paid voice"
    }

    fn priced_as(&self) -> Option<&str> {
        Some(if self.is_by_minute { "minutes" } else { "voice" })
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let characters = request.text.chars().count() as u64;
        let mut of = self.bill.request();
        let quarter = if self.is_by_minute { SECOND / 4 } else { 0 };
        let asked = if self.is_by_minute { 0 } else { characters * CHARACTER };
        of.costs(asked);
        let mut rng = self.rng.lock().unwrap();
        let (chunks, fails) = (rng.random_range(1..4_u64), rng.random_bool(0.1));
        let wait = ms(rng.random_range(0..300));
        let says = move |(mut of, said): (OfRequest, u64)| async move {
            if said >= chunks {
                return None;
            }
            sleep(wait).await;
            if fails {
                let error = Error::new(Kind::Unavailable, "a failure of tests");
                return Some((Err(error), (of, chunks)));
            }
            of.costs(asked + (said + 1) * quarter);
            let pcm = Pcm { samples: vec![8_000; 4_000], rate: SampleRate::HZ_16000 };
            Some((Ok(pcm), (of, said + 1)))
        };
        stream::unfold((of, 0), says).boxed()
    }
}

/// An answer of the voice model.
fn script(rng: &mut StdRng) -> Vec<Does> {
    let mut script = vec![match rng.random_range(0..100) {
        0..50 => Does::Say("Well met, and on.", rng.random_range(2..40_u64) * 100),
        50..80 => Does::Talk(rng.random_range(1..90_u64) * 100, 4_000),
        80..88 => Does::TalkOn,
        88..94 => Does::Cut,
        _ => Does::Wait(5_000),
    }];
    if rng.random_bool(0.3) {
        script.push(Does::NoCount);
    }
    script
}

struct Table {
    bench: Bench,
    bill: Bill,
    budget: Budget,
    talker: Arc<Talker>,
    is_beyond: Arc<AtomicBool>,
}

impl Table {
    fn new(cap: f64) -> Self {
        let price = Price { input: INPUT as f64, output: OUTPUT as f64, ..Price::default() };
        let voice = Price { characters: CHARACTER as f64, ..Price::default() };
        let talk = Price { audio_output: SPOKEN as f64, ..Price::default() };
        let minutes = Price { minute: SECOND as f64 * 60.0 / 1e6, ..Price::default() };
        let prices = [("chat", price), ("voice", voice), ("minutes", minutes), ("talk", talk)];
        let prices: BTreeMap<_, _> =
            prices.into_iter().map(|(name, price)| (name.to_owned(), price)).collect();
        let options = BudgetOptions { session_max: Some(cap), month_max: None, prices };
        let mut bench = Bench::new();
        bench.npc.s2s.max_answer = LONGEST;
        bench.npc.fillers.clear();
        Self {
            bench,
            bill: Bill::default(),
            budget: Budget::new(Ledger::new(options, 0.0)),
            talker: Arc::new(Talker::priced("talk")),
            is_beyond: Arc::default(),
        }
    }

    fn service<W: Wire>(&self, name: &str, rng: &mut StdRng) -> Candidate<dyn ChatModel> {
        let service: Arc<dyn ChatModel> = Arc::new(Counting::<W> {
            bill: self.bill.clone(),
            rng: Mutex::new(fork(rng)),
            is_beyond: Arc::clone(&self.is_beyond),
            wire: PhantomData,
        });
        Candidate::new(name, service, Arc::default())
    }

    /// A cascade whose second services are fallbacks, the model's also a spare if the first is late.
    fn cascade(&self, rng: &mut StdRng) -> Cascaded {
        let first = self.service::<openai::Reading>("first", rng);
        let second = self.service::<anthropic::Reading>("second", rng);
        let models = Chain::new(first, vec![second], rng.random_bool(0.5));
        let model = NpcModel { models, budget: self.budget.clone(), ..self.bench.model() };
        let mut speaks = |name: &str| {
            let (bill, of_voice) = (self.bill.clone(), Mutex::new(fork(rng)));
            let is_by_minute = rng.random_bool(0.5);
            let service = Arc::new(PaidVoice { bill, rng: of_voice, is_by_minute });
            let service = Arc::new(OneByOne::new(service));
            let opened = Arc::new(OpenVoice::new(service, model.npc.voice.clone()));
            Candidate::new(name, opened, Arc::default())
        };
        let voices = Chain::new(speaks("first"), vec![speaks("second")], false);
        let npc = Arc::clone(&model.npc);
        let voice = Synthesizer::of(npc, voices, self.budget.clone(), &[]);
        let made = SessionCalls::default();
        let calls = NpcCalls { host: self.bench.host(), made, filler_after: ms(700) };
        Cascaded::new(model, calls, voice)
    }

    fn engines(&self, rng: &mut StdRng) -> [Box<dyn VoiceEngine>; 3] {
        const LIMITS: SessionLimits =
            SessionLimits { max_age: Duration::from_secs(3_300), idle: Duration::from_secs(60) };
        let cascade = self.cascade(rng);
        let opener = self.service::<anthropic::Reading>("opener", rng);
        let models = Chain::new(opener, Vec::new(), false);
        let opener = Opener::new(NpcModel { models, ..cascade.model().clone() });
        let service = Arc::clone(&self.talker) as _;
        let talks = SpeechToSpeech::new(service, self.cascade(rng), LIMITS, false);
        [Box::new(self.cascade(rng)), Box::new(cascade.opened_by(opener)), Box::new(talks)]
    }

    /// Some turns of one NPC.
    async fn talk(&self, mut engine: Box<dyn VoiceEngine>, mut rng: StdRng) {
        for _ in 0..3 {
            self.talker.then(&script(&mut rng));
            sleep(ms(rng.random_range(0..3_000))).await;
            self.turn(&mut *engine, &mut rng).await;
        }
    }

    /// A turn that is completed, dropped before the final, cut, or dropped with its task.
    async fn turn(&self, engine: &mut dyn VoiceEngine, rng: &mut StdRng) {
        let is_guess = rng.random_bool(0.4);
        let (decide, gate) = watch::channel(Gate { confirmed: !is_guess, playing: usize::MAX });
        let cancel = CancellationToken::new();
        let Asked { conversation, turn } = self.bench.turn(gate, &cancel);
        let turn = Turn { audio: frames(0..50).into(), ..turn };
        let (to, mut replies) = mpsc::channel(512);
        let making = engine.start(Arc::new(turn), ReplyPort::new(TurnId(1), to));
        let reading = async { while replies.recv().await.is_some() {} };
        let (decided, cut) = (ms(rng.random_range(0..1_500)), ms(rng.random_range(0..9_000)));
        let (ends, is_dropped) = (rng.random_bool(0.4), rng.random_bool(0.4));
        let deciding = async {
            sleep(decided).await;
            if !ends {
                decide.send_modify(|gate| gate.confirmed = true);
                return pending().await;
            }
            if !is_guess {
                sleep(cut).await;
            }
            cancel.cancel();
            if !is_dropped {
                return pending().await;
            }
            // Longest wait of a table for a stopped turn.
            sleep(ms(100)).await;
        };
        let both = async { tokio::join!(making, reading) };
        let ended = async {
            tokio::select! {
                _ = both => {}
                () = deciding => {}
            }
        };
        timeout(ms(120_000), ended).await.expect("it ends");
        engine.played(&PlayedPart::default());
        let excerpt = conversation.excerpt(&self.bench.host());
        let _ = timeout(ms(5_000), engine.warm(excerpt)).await;
    }
}

/// Separate generator for one part.
fn fork(rng: &mut StdRng) -> StdRng {
    StdRng::seed_from_u64(rng.random())
}

/// Plays one seed; returns the total bill.
async fn table(seed: u64) -> Billed {
    let mut rng = StdRng::seed_from_u64(seed);
    let cap = rng.random_range(60_000..300_000_u64);
    let table = Table::new(cap as f64 / 1e6);
    let engines = table.engines(&mut rng);
    join_all(engines.map(|engine| table.talk(engine, fork(&mut rng)))).await;
    // All requests are over by then.
    sleep(Duration::from_secs(120)).await;
    let mut billed = *table.bill.0.lock().unwrap();
    let talked = table.talker.billed.load(Ordering::Relaxed) * SPOKEN;
    billed.total += talked;
    let spoken = if talked > 0 { LONGEST_TOKENS * SPOKEN } else { 0 };
    let dearest = spoken.max(billed.dearest);
    let Billed { total, requests, .. } = billed;
    assert!(total <= cap + dearest, "seed {seed}: {billed:?} under a cap of {cap}");
    // Sums are rounded.
    let booked = table.budget.spent() * 1e6 + requests as f64 + 1.0;
    assert!(total as f64 <= booked, "seed {seed}: {billed:?}, of which {booked} are booked");
    billed.full = u64::from(2 * total > cap);
    billed
}

#[test]
fn random_bills_stay_within_the_cap() {
    let all = seeds(20, 1_000, table);
    let sum = |of: fn(&Billed) -> u64| all.iter().map(of).sum::<u64>();
    let counts = [sum(|it| it.requests) / 50, sum(|it| it.beyond), sum(|it| it.full)];
    assert!(all.len() == 1 || counts.iter().all(|it| *it > 1), "too little happened: {counts:?}");
}
