//! The lines of a turn on their way through its voice, in order.
//!
//! Entry type: [`Voiced`]. A sentence is handed to the voice once the one before it plays and its
//! money is reserved; the one before it may still be sounding in. The table is sent one line after
//! the other.

use std::{collections::VecDeque, future::pending, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::{mpsc, watch};

use super::{
    Synthesizer, TurnVoice,
    paid_speech::{Made, PaidSpeech},
};
use crate::{
    engine::{Gate, Reply, Reservation, occasion::Occasion, tool_loop::Say},
    logic::speakable::SpeakableFilter,
    provider::{Error, Kind},
    traces::{Operation, Span, names},
};

/// Most sentences that the voice has at a time.
const AHEAD: usize = 2;

pub struct Voiced {
    /// Sentences sent, without fillers; or the voice's error.
    pub sentences: Result<usize, Error>,
    /// Text that it failed to speak, as written.
    pub unspoken: String,
}

struct Saying<'a> {
    turn: &'a TurnVoice,
    speech: PaidSpeech,
    gate: watch::Receiver<Gate>,
    filter: SpeakableFilter,
    written: SpeakableFilter,
    /// Sentences that the voice has and has not spoken.
    said: VecDeque<Said>,
    held: Option<Upcoming>,
    /// Index of the next line, fillers included.
    next: usize,
    /// Sentences spoken, without fillers.
    spoken: usize,
}

/// A line that waits.
enum Upcoming {
    /// Until the one before it plays and its money is reserved.
    Sentence(Waiting),
    /// The tool whose filler is played once the voice is silent.
    Filler(Arc<str>),
    Instead(Occasion),
}

struct Waiting {
    text: Text,
    paying: Option<(Reservation, BoxFuture<'static, Result<(), Error>>)>,
    /// There is no money for it.
    refused: Option<Error>,
}

struct Text {
    /// As spoken.
    words: String,
    /// As written.
    text: String,
}

struct Said {
    index: usize,
    text: Text,
    /// `None` while the one before it is spoken; the table has not been sent its text.
    span: Option<Span>,
}

impl TurnVoice {
    /// Speaks until the sender ends or the turn does.
    pub async fn utter(self, mut sentences: mpsc::Receiver<Say>) -> Voiced {
        let mut saying = Saying::new(&self);
        let spoken = self.speak(&mut sentences, &mut saying).await;
        let mut unspoken = String::new();
        if spoken.is_err() {
            unspoken = saying.unspoken();
            let mut written = self.voice.written_filter();
            while let Ok(say) = sentences.try_recv() {
                if let Say::Sentence(text) = say {
                    unspoken.push(' ');
                    unspoken.push_str(&written.next(&text));
                }
            }
        }
        Voiced { sentences: spoken, unspoken: unspoken.trim().to_owned() }
    }

    async fn speak(
        &self,
        sentences: &mut mpsc::Receiver<Say>,
        saying: &mut Saying<'_>,
    ) -> Result<usize, Error> {
        let all = async {
            let said = saying.all(sentences).await;
            if let Err(error) = &said
                && error.kind() == Kind::OverBudget
                && saying.spoken == 0
            {
                self.instead(saying.index(), Occasion::Spent).await?;
            }
            said
        };
        self.turn.cancel.run_until_cancelled(all).await.transpose()?;
        Ok(saying.spoken)
    }
}

impl<'a> Saying<'a> {
    fn new(turn: &'a TurnVoice) -> Self {
        Self {
            speech: turn.voice.open(),
            gate: turn.turn.gate.clone(),
            filter: turn.voice.spoken_filter(),
            written: turn.voice.written_filter(),
            said: VecDeque::new(),
            held: None,
            next: 0,
            spoken: 0,
            turn,
        }
    }

    /// Index of the line behind those that the table has been sent.
    fn index(&self) -> usize {
        self.said.front().map_or(self.next, |said| said.index + 1)
    }

    /// Sentences that are not spoken to their end, as written.
    fn unspoken(&self) -> String {
        let said = self.said.iter().map(|said| &said.text);
        let held = match &self.held {
            Some(Upcoming::Sentence(waiting)) => Some(&waiting.text),
            _ => None,
        };
        said.chain(held).map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Speaks until the sender ends.
    async fn all(&mut self, sentences: &mut mpsc::Receiver<Say>) -> Result<(), Error> {
        let mut is_over = false;
        loop {
            self.go_on().await?;
            let is_free = !is_over && self.held.is_none();
            let waiting = match &mut self.held {
                Some(Upcoming::Sentence(it)) if it.refused.is_none() => Some(it),
                _ => None,
            };
            let has_room = waiting.is_some() && self.said.len() < AHEAD;
            let voice = &self.turn.voice;
            tokio::select! {
                say = sentences.recv(), if is_free => match say {
                    Some(say) => self.hold(say),
                    None => {
                        is_over = true;
                        self.speech.finish();
                    }
                },
                paid = paid(voice, waiting, &mut self.gate, self.next), if has_room => {
                    self.start(paid);
                }
                made = self.speech.next(), if !self.said.is_empty() => self.pass_on(made).await?,
                else => return Ok(()),
            }
        }
    }

    /// Does what waited for the voice, if it is silent, and begins the sentence that follows.
    async fn go_on(&mut self) -> Result<(), Error> {
        if self.said.is_empty() {
            match self.held.take() {
                Some(Upcoming::Filler(tool)) => self.fill(&tool).await?,
                Some(Upcoming::Instead(occasion)) => self.turn.instead(self.next, occasion).await?,
                Some(Upcoming::Sentence(mut waiting)) => {
                    let refused = waiting.refused.take();
                    self.held = Some(Upcoming::Sentence(waiting));
                    refused.map_or(Ok(()), Err)?;
                }
                None => {}
            }
        }
        let Some(said) = self.said.front_mut().filter(|said| said.span.is_none()) else {
            return Ok(());
        };
        let (trace, voice) = (&self.turn.turn.trace, &self.turn.voice);
        said.span = Some(trace.begin(Operation::TextToSpeech, || voice.service()));
        let text = said.text.text.clone();
        self.turn.replies.send(Reply::Sentence { text, filler: false }).await
    }

    async fn fill(&mut self, tool: &Arc<str>) -> Result<(), Error> {
        if let Some(filler) = self.turn.fillers.ready(tool).await {
            let begins = Reply::Sentence { text: filler.text.clone(), filler: true };
            self.turn.play(self.next, filler, begins).await?;
            self.next += 1;
        }
        Ok(())
    }

    fn hold(&mut self, say: Say) {
        self.held = match say {
            Say::Filler(tool) => Some(Upcoming::Filler(tool)),
            Say::Instead(occasion) => Some(Upcoming::Instead(occasion)),
            Say::Sentence(text) => {
                let (words, text) = (self.filter.next(&text), self.written.next(&text));
                let text = Text { words, text };
                let has_words = !text.words.is_empty();
                has_words.then_some(Upcoming::Sentence(Waiting {
                    text,
                    paying: None,
                    refused: None,
                }))
            }
        };
    }

    /// Hands the waiting sentence to the voice, once it is `paid`.
    fn start(&mut self, paid: Result<(), Error>) {
        let Some(Upcoming::Sentence(mut waiting)) = self.held.take() else { return };
        match (paid, waiting.paying.take()) {
            (Ok(()), Some((reserved, _))) => {
                self.speech.say(&waiting.text.words, reserved);
                self.said.push_back(Said { index: self.next, text: waiting.text, span: None });
                self.next += 1;
            }
            (paid, _) => {
                waiting.refused = paid.err();
                self.held = Some(Upcoming::Sentence(waiting));
            }
        }
    }

    /// Passes a piece of the first sentence on to the table.
    async fn pass_on(&mut self, made: Option<Result<Made, Error>>) -> Result<(), Error> {
        let Some(said) = self.said.front() else { return Ok(()) };
        let (frames, is_done) = match made {
            Some(Ok(Made::Frames(frames))) => (frames, false),
            Some(Ok(Made::Last(frames))) => (frames, true),
            Some(Ok(Made::Word(word))) => {
                let sentence = said.index;
                return self.turn.replies.send(Reply::Word { sentence, word }).await;
            }
            Some(Err(error)) => {
                said.end(&self.turn.voice.service());
                if let Some(span) = &said.span {
                    span.failed("voice_error");
                }
                return Err(error);
            }
            None => return Err(Error::new(Kind::Protocol, "the voice ended before its sentence")),
        };
        let index = said.index;
        for frame in frames {
            self.turn.replies.send(Reply::Audio { sentence: index, frame }).await?;
        }
        if is_done && let Some(said) = self.said.pop_front() {
            said.end(&self.turn.voice.service());
            self.spoken += 1;
            drop(said);
            self.turn.replies.send(Reply::SentenceDone { index }).await?;
        }
        Ok(())
    }
}

/// Gives the money back for a sentence that the voice never got.
impl Drop for Saying<'_> {
    fn drop(&mut self) {
        if let Some(Upcoming::Sentence(waiting)) = &mut self.held
            && let Some((reserved, _)) = waiting.paying.take()
        {
            reserved.unused();
        }
    }
}

impl Said {
    /// Completes the span, by the service that spoke: perhaps the fallback.
    fn end(&self, service: &str) {
        if let Some(span) = self.span.as_ref().filter(|span| span.is_on()) {
            span.of(service);
            let count = self.text.words.chars().count();
            span.set(names::CHARACTERS, u64::try_from(count).unwrap_or(u64::MAX));
            span.content(names::SPOKEN, || self.text.words.clone());
        }
    }
}

/// Resolves once the sentence before plays and the money for this one, at index `at`, is reserved.
/// Cancel safe.
async fn paid(
    voice: &Synthesizer,
    waiting: Option<&mut Waiting>,
    gate: &mut watch::Receiver<Gate>,
    at: usize,
) -> Result<(), Error> {
    let Some(waiting) = waiting else { return pending().await };
    // If the gate is closed, the table is gone and sending fails.
    let _ = gate.wait_for(|gate| at <= gate.playing).await;
    let (_, ready) = match &mut waiting.paying {
        Some(paying) => paying,
        none => {
            let reserved = voice.reserve(&waiting.text.words)?;
            let ready = reserved.ready().boxed();
            none.insert((reserved, ready))
        }
    };
    ready.await
}
