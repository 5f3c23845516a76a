use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use tokio::time::advance;

use super::*;
use crate::{
    audio::SampleRate,
    domain::{Npc, Voice},
    engine::Budget,
    logic::budget::{BudgetOptions, Ledger, Price},
    provider::{Chain, OneByOne, OneShot, SpeakRequest, SynthesisSetup, TextToSpeech},
};

/// Sound in ms, and the failure behind it.
type Plan = (u64, Option<Kind>);

const WELL: Plan = (1_000, None);

/// Speaks its sentences as planned, and the others well.
#[derive(Default)]
struct Says {
    price: Option<&'static str>,
    plans: Mutex<VecDeque<Plan>>,
    said: Mutex<Vec<String>>,
    lacks: AtomicBool,
    /// Its sound is silence.
    is_quiet: bool,
}

impl Says {
    fn new(plans: &[Plan]) -> Arc<Self> {
        Arc::new(Self { plans: Mutex::new(plans.iter().copied().collect()), ..Self::default() })
    }

    fn paid(plans: &[Plan], price: &'static str) -> Arc<Self> {
        let plans = Mutex::new(plans.iter().copied().collect());
        Arc::new(Self { price: Some(price), plans, ..Self::default() })
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

impl OneShot for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn priced_as(&self) -> Option<&str> {
        self.price
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        self.said.lock().unwrap().push(request.text);
        let (ms, fails) = self.plans.lock().unwrap().pop_front().unwrap_or(WELL);
        let pieces = usize::try_from(ms / 10).unwrap();
        let level = if self.is_quiet { 0 } else { 8_000 };
        let pcm = || Ok(Pcm { samples: vec![level; 480], rate: SampleRate::HZ_48000 });
        let sound = std::iter::repeat_with(pcm).take(pieces);
        stream::iter(
            sound.chain(fails.map(|kind| Err(Error::new(kind, "away")))).collect::<Vec<_>>(),
        )
        .boxed()
    }

    fn lacks(&self, _: &Voice) -> Option<Error> {
        self.lacks.load(Ordering::Relaxed).then(|| Error::new(Kind::Missing, "no files"))
    }
}

/// A voice of "first", "second" and so on, in this order.
fn voice(all: &[&Arc<Says>], cap: Option<f64>) -> Synthesizer {
    let candidates = ["first", "second", "third"].iter().zip(all).map(|(name, says)| {
        let service = Arc::new(OneByOne::new(Arc::clone(*says) as Arc<dyn OneShot>));
        let opened = OpenVoice::new(service, Voice::as_is(name, "v"));
        Candidate::new(name, Arc::new(opened), Arc::default())
    });
    let voices = Chain::in_order(candidates.collect(), false).expect("a voice");
    let a_million = |characters| Price { characters, ..Price::default() };
    let minutes = Price { minute: 60.0, ..Price::default() };
    let prices = [("cheap", a_million(1e6)), ("dear", a_million(2e6)), ("minutes", minutes)];
    let prices = prices.map(|(name, price)| (name.to_owned(), price)).into_iter().collect();
    let options = BudgetOptions { session_max: cap, month_max: None, prices };
    let budget = Budget::new(Ledger::new(options, 0.0));
    Synthesizer::of(Arc::new(Npc::plain("Bartok")), voices, budget, &[])
}

/// Outcome of each sentence of a turn ("whole" or "cut"), its speakers, and the error at its end.
struct Turn {
    sentences: Vec<&'static str>,
    spoke: Vec<String>,
    other_voice: Option<String>,
    failed: Option<Error>,
}

async fn turn(voice: &Synthesizer, sentences: &[&str]) -> Turn {
    let mut speech = voice.open();
    sentences.iter().for_each(|text| speech.say(text));
    speech.finish();
    let (mut ended, mut failed) = (Vec::new(), None);
    while let Some(made) = speech.next().await {
        match made {
            Ok(Made::Last(_)) => ended.push("whole"),
            Ok(Made::Cut { .. }) => ended.push("cut"),
            Ok(Made::Begins | Made::Frames(_) | Made::Word(_)) => {}
            Err(error) => failed = Some(error),
        }
    }
    let (spoke, other_voice) = speech.spoke();
    let spoke = spoke.iter().map(ToString::to_string).collect();
    Turn { sentences: ended, spoke, other_voice, failed }
}

const AWAY: Plan = (0, Some(Kind::Unavailable));

#[tokio::test(start_paused = true)]
async fn next_voice_says_the_rest_of_a_turn() {
    let (first, second) = (Says::new(&[WELL, AWAY]), Says::new(&[]));
    let voice = voice(&[&first, &second], None);
    let turn = turn(&voice, &["One.", "Two.", "Three."]).await;
    assert_eq!((turn.sentences, turn.failed.is_none()), (vec!["whole"; 3], true));
    assert_eq!(turn.spoke, ["first", "second"]);
    assert_eq!(first.said(), ["One.", "Two."]);
    assert_eq!(second.said(), ["Two.", "Three."]);
    assert_eq!(turn.other_voice.as_deref(), Some("second v"));
}

#[tokio::test(start_paused = true)]
async fn more_than_a_syllable_is_never_said_again() {
    for (heard, again) in [(90, true), (100, false)] {
        let first = Says::new(&[(heard, Some(Kind::Interrupted))]);
        let second = Says::new(&[]);
        let turn = turn(&voice(&[&first, &second], None), &["One.", "Two."]).await;
        assert!(turn.failed.is_none(), "{:?}", turn.failed);
        let (ended, said) = match again {
            true => (["whole", "whole"], vec!["One.", "Two."]),
            false => (["cut", "whole"], vec!["Two."]),
        };
        assert_eq!(turn.sentences, ended);
        assert_eq!(second.said(), said);
    }
}

#[tokio::test(start_paused = true)]
async fn failing_voice_rests_and_comes_back() {
    let (first, second) = (Says::new(&[AWAY; 3]), Says::new(&[]));
    let voice = voice(&[&first, &second], None);
    for asked in [1, 2, 3, 3, 3] {
        let turn = turn(&voice, &["One."]).await;
        assert_eq!((turn.spoke, first.said().len()), (vec!["second".to_owned()], asked));
    }
    advance(Duration::from_secs(5)).await;
    let turn = turn(&voice, &["One."]).await;
    assert_eq!((turn.spoke, turn.other_voice), (vec!["first".to_owned()], None));
}

#[tokio::test(start_paused = true)]
async fn some_failures_say_nothing_about_the_service() {
    let crowded = Kind::Crowded { retry_after: Some(Duration::from_secs(60)) };
    for kind in [Kind::Missing, Kind::InvalidRequest, crowded] {
        let (first, second) = (Says::new(&[(0, Some(kind)); 9]), Says::new(&[]));
        let voice = voice(&[&first, &second], None);
        for asked in 1..10 {
            assert_eq!(turn(&voice, &["One."]).await.spoke, ["second"]);
            assert_eq!(first.said().len(), asked, "{kind:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn arriving_files_are_used_from_the_next_turn() {
    let (first, second) = (Says::new(&[]), Says::new(&[]));
    first.lacks.store(true, Ordering::Relaxed);
    let voice = voice(&[&first, &second], None);
    assert_eq!(turn(&voice, &["One."]).await.spoke, ["second"]);
    assert!(first.said().is_empty());
    first.lacks.store(false, Ordering::Relaxed);
    assert_eq!(turn(&voice, &["One."]).await.spoke, ["first"]);
}

#[tokio::test(start_paused = true)]
async fn turn_ends_when_no_voice_is_left() {
    let missing = (0, Some(Kind::Missing));
    let (first, second) = (Says::new(&[AWAY]), Says::new(&[missing]));
    let turn = turn(&voice(&[&first, &second], None), &["One.", "Two."]).await;
    let error = turn.failed.expect("both failed");
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (Kind::Missing, "first: away; second: away")
    );
    assert_eq!((turn.sentences.len(), second.said().len()), (0, 1));
}

/// A character costs 1 at the first voice and 2 at the second.
#[tokio::test(start_paused = true)]
async fn each_voice_is_paid_for_by_itself() {
    let spent = |first: Plan, second: Plan, cap| async move {
        let (first, second) = (Says::paid(&[first], "cheap"), Says::paid(&[second], "dear"));
        let voice = voice(&[&first, &second], Some(cap));
        let turn = turn(&voice, &["Four"]).await;
        (voice.budget().spent(), turn.failed.map(|error| error.kind()), second.said().len())
    };
    let refused = (0, Some(Kind::Unauthorized));
    assert_eq!(spent(WELL, WELL, 100.0).await, (4.0, None, 0));
    assert_eq!(spent(refused, WELL, 100.0).await, (8.0, None, 1), "given back");
    assert_eq!(spent(AWAY, WELL, 100.0).await, (12.0, None, 1), "it may have been billed");
    assert_eq!(spent(AWAY, WELL, 10.0).await, (4.0, Some(Kind::OverBudget), 0));
    assert_eq!(spent(refused, refused, 100.0).await, (0.0, Some(Kind::Unauthorized), 1));
}

#[tokio::test(start_paused = true)]
async fn money_that_is_spent_is_not_gone_around() {
    let (first, second) = (Says::paid(&[], "cheap"), Says::new(&[]));
    let turn = turn(&voice(&[&first, &second], Some(3.0)), &["Four"]).await;
    assert_eq!(turn.failed.map(|error| error.kind()), Some(Kind::OverBudget));
    assert!(first.said().is_empty() && second.said().is_empty());
}

#[tokio::test(start_paused = true)]
async fn unsent_sentences_cost_nothing() {
    let first = Says::paid(&[], "cheap");
    let voice = voice(&[&first], Some(100.0));
    let mut speech = voice.open();
    ["Four", "Five"].iter().for_each(|text| speech.say(text));
    assert!(matches!(speech.next().await, Some(Ok(Made::Begins))));
    assert!(matches!(speech.next().await, Some(Ok(Made::Frames(_)))));
    drop(speech);
    assert_eq!((voice.budget().spent(), first.said().len()), (4.0, 1), "the first in full");
}

#[tokio::test(start_paused = true)]
async fn later_sentences_are_paid_by_the_next_voice() {
    let refused = (0, Some(Kind::Unauthorized));
    let (first, second) = (Says::paid(&[refused], "dear"), Says::new(&[]));
    let voice = voice(&[&first, &second], None);
    let mut speech = voice.open();
    ["One.", "Two."].iter().for_each(|text| speech.say(text));
    assert!(matches!(speech.next().await, Some(Ok(Made::Begins))));
    assert!(matches!(speech.next().await, Some(Ok(Made::Frames(_)))), "it begins only once");
    speech.say("Three.");
    speech.finish();
    let mut ended = 0;
    while let Some(made) = speech.next().await {
        ended += usize::from(matches!(made, Ok(Made::Last(_))));
    }
    assert_eq!((ended, second.said().len()), (3, 3));
    assert!(voice.budget().spent().abs() < 1e-6, "the second is free");
}

#[tokio::test(start_paused = true)]
async fn silence_is_paid_for_and_said_again() {
    let plans = Mutex::new(VecDeque::from([(1_000, Some(Kind::Protocol))]));
    let quiet = Says { price: Some("cheap"), plans, is_quiet: true, ..Says::default() };
    let (first, second) = (Arc::new(quiet), Says::new(&[]));
    let voice = voice(&[&first, &second], None);
    let turn = turn(&voice, &["Four"]).await;
    assert_eq!((turn.sentences, second.said().len()), (vec!["whole"], 1));
    assert!((voice.budget().spent() - 4.0).abs() < 1e-6, "its sound came");
}

/// Cost of "Aye.", dropped after this many pieces behind its beginning.
async fn cost(price: &'static str, plan: Plan, pieces: usize) -> f64 {
    let first = Says::paid(&[plan], price);
    let voice = voice(&[&first], None);
    let mut speech = voice.open();
    speech.say("Aye.");
    speech.finish();
    if pieces > 0 {
        let begins = speech.next().await;
        assert!(matches!(begins, Some(Ok(Made::Begins))));
    }
    for _ in 0..pieces {
        let _ = speech.next().await;
    }
    drop(speech);
    voice.budget().spent()
}

#[tokio::test(start_paused = true)]
async fn sound_that_came_is_booked_by_the_minute() {
    for (plan, pieces, by_minute, by_letter) in [
        ((2_000, None), 999, 2.0, 4.0),
        ((2_000, None), 100, 1.0, 4.0),
        ((2_000, None), 0, 0.0, 0.0),
        ((1_000, Some(Kind::Interrupted)), 999, 1.0, 4.0),
        // The longest sound of four letters.
        ((0, Some(Kind::Timeout)), 9, 5.6, 4.0),
        ((0, Some(Kind::Unreachable)), 9, 0.0, 0.0),
    ] {
        for (price, wanted) in [("minutes", by_minute), ("cheap", by_letter)] {
            let cost = cost(price, plan, pieces).await;
            assert!((cost - wanted).abs() < 1e-6, "{plan:?} {pieces}: {cost}, not {wanted}");
        }
    }
}

/// Speech whose words come before their sound; fails after this many ms of sound.
struct Timed(u64);

impl TextToSpeech for Timed {
    fn name(&self) -> &str {
        "timed"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn open(&self, _: SynthesisSetup) -> Box<dyn Synthesis> {
        let word = |ms| Ok(Spoken::Word(WordEnd { at: Duration::from_millis(ms), part: 0.5 }));
        let pcm = Pcm { samples: vec![8_000; 480], rate: SampleRate::HZ_48000 };
        let sound = (0..self.0 / 10).map(|_| Ok(Spoken::Sound(pcm.clone())));
        let fails = Err(Error::new(Kind::Interrupted, "away"));
        Box::new(Script([word(40), word(80)].into_iter().chain(sound).chain([fails]).collect()))
    }
}

struct Script(VecDeque<Result<Spoken, Error>>);

impl Synthesis for Script {
    fn say(&mut self, _: Sentence) {}

    fn finish(&mut self) {}

    fn next(&mut self) -> BoxFuture<'_, Option<Result<Spoken, Error>>> {
        std::future::ready(self.0.pop_front()).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn words_that_are_said_again_are_not_timed() {
    for (heard, timed) in [(90, 0), (100, 2)] {
        let candidate = |name, service: Arc<dyn TextToSpeech>| {
            let opened = Arc::new(OpenVoice::new(service, Voice::as_is(name, "v")));
            Candidate::new(name, opened, Arc::default())
        };
        let first = candidate("first", Arc::new(Timed(heard)));
        let second = candidate("second", Arc::new(OneByOne::new(Says::new(&[]) as _)));
        let npc = Arc::new(Npc::plain("Bartok"));
        let voices = Chain::new(first, vec![second], false);
        let voice = Synthesizer::of(npc, voices, Budget::new(Ledger::default()), &[]);
        let mut speech = voice.open();
        speech.say("One.");
        speech.finish();
        let mut words = 0;
        while let Some(made) = speech.next().await {
            words += usize::from(matches!(made, Ok(Made::Word(_))));
        }
        assert_eq!(words, timed, "{heard} ms");
    }
}
