use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::{
    StreamExt, TryStreamExt, future,
    stream::{self, BoxStream},
};

use super::*;
use crate::{
    audio::SampleRate,
    provider::{OneByOne, OneShot, Payer, Pcm, SpeakRequest},
};

/// Says its number; fails on demand.
struct Says {
    sample: i16,
    asked: AtomicUsize,
    fails: Option<Kind>,
    lacks: AtomicBool,
}

impl Says {
    fn new(sample: i16, fails: Option<Kind>) -> Arc<Self> {
        Arc::new(Self { sample, asked: AtomicUsize::new(0), fails, lacks: AtomicBool::new(false) })
    }
}

impl OneShot for Says {
    fn name(&self) -> &str {
        if self.sample == 1 { "first" } else { "second" }
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.voice.voice_id, self.name(), "a voice is asked for its own");
        let samples = vec![self.sample];
        let said = match self.fails {
            Some(kind) => Err(Error::new(kind, "away")),
            None => Ok(Pcm { samples, rate: SampleRate::HZ_24000 }),
        };
        stream::iter([said]).boxed()
    }

    fn lacks(&self, _voice: &Voice) -> Option<Error> {
        self.lacks.load(Ordering::Relaxed).then(|| Error::new(Kind::Missing, "no files"))
    }
}

/// Counts the sentences whose money may come back.
#[derive(Default)]
struct Unbilled(AtomicUsize);

impl Payer for Unbilled {
    fn again(&self, _: Kind) -> BoxFuture<'static, Result<(), Error>> {
        future::ready(Ok(())).boxed()
    }

    fn failed(&self, _: Kind) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn unsent(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn speaks(says: &Arc<Says>) -> Arc<dyn TextToSpeech> {
    Arc::new(OneByOne::new(Arc::clone(says) as Arc<dyn OneShot>))
}

fn both(first: &Arc<Says>, second: &Arc<Says>) -> WithSecond {
    let voice = |name| Voice::as_is("x", name);
    WithSecond::new((speaks(first), voice("first")), (speaks(second), voice("second")))
}

async fn said(voice: &WithSecond) -> Result<Vec<i16>, Error> {
    let request = SpeakRequest {
        text: "Hello.".to_owned(),
        voice: Voice::as_is("x", "first"),
        foreign: None,
        pronunciation: Arc::from([]),
        attempts: Attempts::default(),
    };
    let chunks: Vec<Pcm> = voice.speak(request).try_collect().await?;
    Ok(chunks.into_iter().flat_map(|chunk| chunk.samples).collect())
}

#[tokio::test(start_paused = true)]
async fn second_voice_speaks_while_the_first_fails() {
    let (first, second) = (Says::new(1, Some(Kind::Unavailable)), Says::new(2, None));
    let voice = both(&first, &second);
    let heard = || voice.speaks_as(&Voice::as_is("x", "first")).voice_id;
    assert_eq!((voice.name(), heard()), ("first", "first".to_owned()));
    assert_eq!(said(&voice).await.unwrap(), [2]);
    assert_eq!(heard(), "second");
    assert_eq!(said(&voice).await.unwrap(), [2]);
    assert_eq!((voice.name(), first.asked.load(Ordering::Relaxed)), ("second", 1));
    tokio::time::advance(STAYS).await;
    assert_eq!(said(&voice).await.unwrap(), [2]);
    assert_eq!(first.asked.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn arriving_files_are_used_from_the_next_turn() {
    let (first, second) = (Says::new(1, None), Says::new(2, None));
    first.lacks.store(true, Ordering::Relaxed);
    let voice = both(&first, &second);
    assert_eq!((voice.name(), said(&voice).await.unwrap()), ("second", vec![2]));
    assert_eq!(first.asked.load(Ordering::Relaxed), 0);
    first.lacks.store(false, Ordering::Relaxed);
    assert_eq!((voice.name(), said(&voice).await.unwrap()), ("first", vec![1]));
}

#[tokio::test(start_paused = true)]
async fn money_that_is_spent_is_not_gone_around() {
    let (first, second) = (Says::new(1, Some(Kind::OverBudget)), Says::new(2, None));
    let error = said(&both(&first, &second)).await.unwrap_err();
    assert_eq!((error.kind(), second.asked.load(Ordering::Relaxed)), (Kind::OverBudget, 0));
    let broken = Says::new(2, Some(Kind::Missing));
    let first = Says::new(1, Some(Kind::Protocol));
    assert_eq!(said(&both(&first, &broken)).await.unwrap_err().kind(), Kind::Missing);
}

/// Counts failures before any sound.
#[derive(Default)]
struct Failures(AtomicUsize);

impl Payer for Failures {
    fn again(&self, _: Kind) -> BoxFuture<'static, Result<(), Error>> {
        async { Ok(()) }.boxed()
    }

    fn failed(&self, _: Kind) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn payer_hears_of_the_first_voices_failure() {
    let payer = Arc::<Failures>::default();
    for fails in [Some(Kind::Unreachable), None] {
        let voice = both(&Says::new(1, fails), &Says::new(2, None));
        let request = SpeakRequest {
            text: "Hello.".to_owned(),
            voice: Voice::as_is("x", "first"),
            foreign: None,
            pronunciation: Arc::from([]),
            attempts: Attempts::of(Arc::clone(&payer) as Arc<dyn Payer>),
        };
        assert_eq!(voice.speak(request).try_collect::<Vec<Pcm>>().await.unwrap().len(), 1);
        assert_eq!(payer.0.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn second_voice_says_the_rest_of_a_turn() {
    let (first, second) = (Says::new(1, Some(Kind::Unavailable)), Says::new(2, None));
    let voice = both(&first, &second);
    let (language, pronunciation) = ("en".to_owned(), Arc::from([]));
    let setup = SynthesisSetup { voice: Voice::as_is("x", "first"), language, pronunciation };
    let (mut turn, payer) = (voice.open(setup), Arc::<Unbilled>::default());
    let sentence = |text: &str| {
        let attempts = Attempts::of(Arc::clone(&payer) as Arc<dyn Payer>);
        Sentence { text: text.to_owned(), foreign: None, attempts }
    };
    turn.say(sentence("One."));
    turn.say(sentence("Two."));
    let mut said = vec![turn.next().await.unwrap().unwrap()];
    turn.say(sentence("Three."));
    turn.finish();
    while let Some(spoken) = turn.next().await {
        said.push(spoken.unwrap());
    }
    let sound = Spoken::Sound(Pcm { samples: vec![2], rate: SampleRate::HZ_24000 });
    let each = [sound, Spoken::Done];
    assert_eq!(said, [&each[..]; 3].concat());
    let asked = |says: &Says| says.asked.load(Ordering::Relaxed);
    assert_eq!((asked(&first), asked(&second)), (1, 3));
    assert_eq!(payer.0.load(Ordering::Relaxed), 3, "the second voice is free");
}
