//! The floor: a plain pipeline with the same services. After the patience it recognises, then asks
//! until it has a sentence, then speaks; nothing overlaps.

use std::{sync::Arc, time::Duration};

use futures::{Stream, StreamExt};
use glyphoxa::measure::{
    Attempts, ChatEvent, ChatModel, ChatRequest, Error, Frame, Message, SentenceOptions,
    SentenceSplitter, SpeakRequest, SpeechEvent, SpeechToText, TextToSpeech, ToolChoice, Voice,
};
use tokio::{
    sync::mpsc,
    time::{Instant, interval, sleep, timeout},
};

use super::{
    PATIENCE, Turn,
    published::{Jitter, Model, Own, PooledVoice, Recogniser},
    support::{figures::ms, table::FRAME},
};

/// Frames of an utterance, and more.
const FRAMES: usize = 256;
/// Longest silence of a service.
const GIVEN_UP: Duration = Duration::from_secs(60);

pub struct Sequential {
    recogniser: Recogniser,
    model: Model,
    voice: Arc<dyn TextToSpeech>,
    own: Own,
}

impl Sequential {
    pub fn new(seed: u64) -> Self {
        let (own, jitter) = (Own::default(), Jitter::new(seed));
        Self {
            recogniser: Recogniser {
                ends_utterances: false,
                jitter: jitter.clone(),
                own: own.clone(),
            },
            model: Model { jitter, own: own.clone() },
            voice: PooledVoice::open(seed, vec![own.clone()]),
            own,
        }
    }

    pub async fn turn(&self, spoken: &[Frame]) -> Turn {
        self.own.begin();
        let (to, audio) = mpsc::channel(FRAMES);
        let mut heard = self.recogniser.listen(audio, Attempts::default());
        let mut ticks = interval(FRAME);
        for frame in spoken {
            ticks.tick().await;
            to.send(frame.clone()).await.expect("it listens");
        }
        let ended = Instant::now();
        sleep(PATIENCE).await;
        drop(to);
        let text = loop {
            if let SpeechEvent::Final { text } = next(&mut heard).await {
                break text;
            }
        };
        let text = self.sentence(text).await;
        let request = SpeakRequest {
            text,
            voice: Voice::as_is("stand-in", "0"),
            foreign: None,
            pronunciation: Arc::from([]),
            style: None,
            attempts: Attempts::default(),
        };
        next(&mut self.voice.speak(request)).await;
        let total = ms(ended.elapsed());
        let overhead = total - ms(PATIENCE) - self.own.sum();
        Turn { total, overhead, met_fault: false }
    }

    /// First sentence of the answer.
    async fn sentence(&self, text: String) -> String {
        let mut answer = self.model.stream(ChatRequest {
            messages: vec![Message::User(text.into())],
            tools: Arc::from([]),
            tool_choice: ToolChoice::Auto,
            max_tokens: 300,
            facts: Arc::default(),
            attempts: Attempts::default(),
        });
        let mut splitter = SentenceSplitter::new(&SentenceOptions::default());
        loop {
            if let ChatEvent::Text(text) = next(&mut answer).await
                && let Some(sentence) = splitter.push(&text).into_iter().next()
            {
                return sentence;
            }
        }
    }
}

/// The next item of a service that works.
async fn next<T>(items: &mut (impl Stream<Item = Result<T, Error>> + Unpin)) -> T {
    let next = timeout(GIVEN_UP, items.next()).await.expect("it is soon there");
    next.expect("it goes on").expect("it works")
}
