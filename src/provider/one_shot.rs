//! Voice services that take one request a sentence, behind the contract of a turn's speech.
//!
//! Entry types: [`OneShot`], the contract of such a service; [`OneByOne`], which makes a
//! [`TextToSpeech`] of it. A sentence is requested once the one before it is spoken.

use std::{collections::VecDeque, future::pending, mem, sync::Arc};

use futures::{
    FutureExt, StreamExt,
    future::{self, BoxFuture},
    stream::BoxStream,
};

use super::{
    Error, Pcm, SpeakRequest, TextToSpeech,
    text_to_speech::{Sentence, Spoken, Synthesis, SynthesisSetup},
};
use crate::domain::Voice;

pub trait OneShot: Send + Sync {
    /// See [`TextToSpeech::name`].
    fn name(&self) -> &str;

    /// See [`TextToSpeech::priced_as`].
    fn priced_as(&self) -> Option<&str>;

    /// Synthesises one sentence as 16-bit mono chunks. Dropping the stream cancels it.
    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>>;

    /// See [`TextToSpeech::lacks`].
    fn lacks(&self, _voice: &Voice) -> Option<Error> {
        None
    }

    /// See [`TextToSpeech::warm`].
    fn warm(&self, _voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        future::ready(Ok(())).boxed()
    }
}

pub struct OneByOne(Arc<dyn OneShot>);

impl OneByOne {
    pub const fn new(service: Arc<dyn OneShot>) -> Self {
        Self(service)
    }
}

impl TextToSpeech for OneByOne {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn priced_as(&self) -> Option<&str> {
        self.0.priced_as()
    }

    fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis> {
        let (service, unsaid) = (Arc::clone(&self.0), VecDeque::new());
        Box::new(Speaking { service, setup, unsaid, sound: None, is_over: false })
    }

    fn lacks(&self, voice: &Voice) -> Option<Error> {
        self.0.lacks(voice)
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        self.0.warm(voice)
    }
}

struct Speaking {
    service: Arc<dyn OneShot>,
    setup: SynthesisSetup,
    /// Sentences that are not yet requested.
    unsaid: VecDeque<Sentence>,
    sound: Option<BoxStream<'static, Result<Pcm, Error>>>,
    /// No sentence follows, or one failed.
    is_over: bool,
}

impl Speaking {
    /// Requests the next sentence; false if there is none.
    fn request(&mut self) -> bool {
        let Some(Sentence { text, foreign, attempts }) = self.unsaid.pop_front() else {
            return false;
        };
        let SynthesisSetup { voice, pronunciation, style, .. } = self.setup.clone();
        let request = SpeakRequest { text, voice, foreign, pronunciation, style, attempts };
        self.sound = Some(self.service.speak(request));
        true
    }

    async fn read(&mut self) -> Option<Result<Spoken, Error>> {
        if self.sound.is_none() && !self.request() {
            return match self.is_over {
                true => None,
                false => pending().await,
            };
        }
        match self.sound.as_mut()?.next().await {
            Some(Ok(pcm)) => Some(Ok(Spoken::Sound(pcm))),
            None => {
                self.sound = None;
                Some(Ok(Spoken::Done))
            }
            Some(Err(error)) => {
                self.sound = None;
                self.is_over = true;
                self.drop_unsaid();
                Some(Err(error))
            }
        }
    }

    fn drop_unsaid(&mut self) {
        mem::take(&mut self.unsaid).iter().for_each(|sentence| sentence.attempts.unsent());
    }
}

impl Synthesis for Speaking {
    fn say(&mut self, sentence: Sentence) {
        self.unsaid.push_back(sentence);
    }

    fn finish(&mut self) {
        self.is_over = true;
    }

    fn next(&mut self) -> BoxFuture<'_, Option<Result<Spoken, Error>>> {
        self.read().boxed()
    }
}

impl Drop for Speaking {
    fn drop(&mut self) {
        self.drop_unsaid();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use futures::stream;

    use super::*;
    use crate::{
        audio::SampleRate,
        provider::{Attempts, Kind, Payer},
    };

    /// Says each sentence as one sample, its length; fails at an empty one.
    #[derive(Default)]
    struct Says(Arc<Mutex<Vec<String>>>);

    impl OneShot for Says {
        fn name(&self) -> &str {
            "says"
        }

        fn priced_as(&self) -> Option<&str> {
            None
        }

        fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
            let sample = i16::try_from(request.text.len()).unwrap();
            self.0.lock().unwrap().push(request.text);
            let pcm = Pcm { samples: vec![sample], rate: SampleRate::HZ_24000 };
            let said = (sample > 0).then_some(pcm);
            stream::iter([said.ok_or_else(|| Error::new(Kind::Unavailable, "away"))]).boxed()
        }
    }

    /// Counts sentences that were never sent.
    #[derive(Default)]
    struct Unsent(AtomicUsize);

    impl Payer for Unsent {
        fn again(&self, _: Kind) -> BoxFuture<'static, Result<(), Error>> {
            future::ready(Ok(())).boxed()
        }

        fn unsent(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn opened() -> (Box<dyn Synthesis>, Arc<Mutex<Vec<String>>>) {
        let (says, voice) = (Says::default(), Voice::as_is("x", "y"));
        let asked = Arc::clone(&says.0);
        let (language, pronunciation) = ("en".to_owned(), Arc::from([]));
        let setup = SynthesisSetup { voice, language, pronunciation, style: None };
        (OneByOne::new(Arc::new(says)).open(setup), asked)
    }

    fn sentence(text: &str, payer: &Arc<Unsent>) -> Sentence {
        let attempts = Attempts::of(Arc::clone(payer) as Arc<dyn Payer>);
        Sentence { text: text.to_owned(), foreign: None, attempts }
    }

    async fn sample(synthesis: &mut dyn Synthesis) -> Option<i16> {
        match synthesis.next().await?.unwrap() {
            Spoken::Sound(pcm) => Some(pcm.samples[0]),
            Spoken::Word(_) => panic!("it times no words"),
            Spoken::Done => Some(-1),
        }
    }

    #[tokio::test]
    async fn sentences_are_requested_one_by_one() {
        let ((mut synthesis, asked), payer) = (opened(), Arc::default());
        synthesis.say(sentence("Aye.", &payer));
        synthesis.say(sentence("No, no.", &payer));
        assert_eq!(sample(&mut *synthesis).await, Some(4));
        assert_eq!(*asked.lock().unwrap(), ["Aye."]);
        assert_eq!(sample(&mut *synthesis).await, Some(-1));
        assert_eq!(sample(&mut *synthesis).await, Some(7));
        assert_eq!(sample(&mut *synthesis).await, Some(-1));
        assert!(synthesis.next().now_or_never().is_none(), "another may follow");
        synthesis.finish();
        assert_eq!(sample(&mut *synthesis).await, None);
    }

    #[tokio::test]
    async fn sentences_that_are_never_sent_cost_nothing() {
        let ((mut synthesis, asked), payer) = (opened(), Arc::<Unsent>::default());
        synthesis.say(sentence("", &payer));
        synthesis.say(sentence("Aye.", &payer));
        assert_eq!(synthesis.next().await.unwrap().unwrap_err().kind(), Kind::Unavailable);
        assert_eq!(payer.0.load(Ordering::Relaxed), 1);
        assert!(synthesis.next().await.is_none());
        let (mut dropped, _) = opened();
        dropped.say(sentence("Aye.", &payer));
        dropped.say(sentence("No.", &payer));
        assert_eq!(sample(&mut *dropped).await, Some(4));
        drop(dropped);
        assert_eq!((payer.0.load(Ordering::Relaxed), asked.lock().unwrap().len()), (2, 1));
    }
}
