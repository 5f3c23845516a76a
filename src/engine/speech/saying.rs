//! The lines of a turn on their way through its voice, in order.
//!
//! Entry type: [`Saying`]. A sentence is handed to the voice once the one before it plays; that one
//! may still be sounding in. The table is sent one line after the other, a sentence once its money
//! is reserved.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::{mpsc, watch};

use super::{
    TurnVoice,
    paid_speech::{Made, PaidSpeech},
};
use crate::{
    engine::{Gate, Reply, occasion::Occasion, tool_loop::Say},
    logic::speakable::SpeakableFilter,
    provider::{Error, Kind},
    traces::{Operation, Span, names},
};

/// Most sentences that the voice has at a time.
const AHEAD: usize = 2;

pub struct Saying<'a> {
    turn: &'a TurnVoice,
    speech: PaidSpeech,
    gate: watch::Receiver<Gate>,
    filter: SpeakableFilter,
    written: SpeakableFilter,
    /// Sentences that the voice has and has not spoken.
    said: VecDeque<Said>,
    held: Option<Upcoming>,
    /// The sentence that a voice has just broken off, and why; `None` once another was spoken.
    cut: Option<(String, Error)>,
    /// Index of the next line, fillers included.
    next: usize,
    /// Sentences spoken, without fillers.
    spoken: usize,
}

/// A line that waits.
enum Upcoming {
    /// Until the one before it plays.
    Sentence(Text),
    /// The tool whose filler is played once the voice is silent.
    Filler(Arc<str>),
    Instead(Occasion),
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
    /// `None` before its turn and its money; the table has not been sent its text.
    span: Option<Span>,
}

impl<'a> Saying<'a> {
    pub fn new(turn: &'a TurnVoice) -> Self {
        Self {
            speech: turn.voice.open(),
            gate: turn.turn.gate.clone(),
            filter: turn.voice.spoken_filter(),
            written: turn.voice.written_filter(),
            said: VecDeque::new(),
            held: None,
            cut: None,
            next: 0,
            spoken: 0,
            turn,
        }
    }

    pub const fn spoken(&self) -> usize {
        self.spoken
    }

    /// Index of the line behind those that the table has been sent.
    pub fn index(&self) -> usize {
        let after = |said: &Said| said.index + usize::from(said.span.is_some());
        self.said.front().map_or(self.next, after)
    }

    /// Sentences that are not spoken to their end, as written.
    pub fn unspoken(&self) -> String {
        let cut = self.cut.iter().map(|(text, _)| text);
        let said = self.said.iter().map(|said| &said.text.text);
        let held = match &self.held {
            Some(Upcoming::Sentence(text)) => Some(&text.text),
            _ => None,
        };
        cut.chain(said).chain(held).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Voices that were heard, in order and without repetition; and the last one, if it is not the
    /// NPC's own.
    pub fn spoke(&self) -> (Vec<Arc<str>>, Option<String>) {
        self.speech.spoke()
    }

    /// Speaks until the sender ends.
    pub async fn all(&mut self, sentences: &mut mpsc::Receiver<Say>) -> Result<(), Error> {
        let mut is_over = false;
        loop {
            self.go_on().await?;
            let is_free = !is_over && self.held.is_none();
            let has_room =
                matches!(self.held, Some(Upcoming::Sentence(_))) && self.said.len() < AHEAD;
            tokio::select! {
                say = sentences.recv(), if is_free => match say {
                    Some(say) => self.hold(say),
                    None => {
                        is_over = true;
                        self.speech.finish();
                    }
                },
                () = plays(&mut self.gate, self.next), if has_room => self.start(),
                made = self.speech.next(), if !self.said.is_empty() => self.pass_on(made).await?,
                else => return self.cut.as_ref().map_or(Ok(()), |(_, why)| Err(why.clone())),
            }
        }
    }

    /// Does what waited for the voice, if it is silent.
    async fn go_on(&mut self) -> Result<(), Error> {
        if !self.said.is_empty() {
            return Ok(());
        }
        match self.held.take() {
            Some(Upcoming::Filler(tool)) => self.fill(&tool).await,
            Some(Upcoming::Instead(occasion)) => self.turn.instead(self.next, occasion).await,
            held => {
                self.held = held;
                Ok(())
            }
        }
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
                has_words.then_some(Upcoming::Sentence(text))
            }
        };
    }

    /// Hands the waiting sentence to the voice.
    fn start(&mut self) {
        match self.held.take() {
            Some(Upcoming::Sentence(text)) => {
                self.speech.say(&text.words);
                self.said.push_back(Said { index: self.next, text, span: None });
                self.next += 1;
            }
            held => self.held = held,
        }
    }

    /// The voice that speaks now, or the first of the list.
    fn voice_now(&self) -> String {
        self.speech.now().map_or_else(|| self.turn.voice.service(), ToString::to_string)
    }

    /// Passes a piece of the first sentence on to the table.
    async fn pass_on(&mut self, made: Option<Result<Made, Error>>) -> Result<(), Error> {
        let Some(said) = self.said.front() else { return Ok(()) };
        let (frames, end) = match made {
            Some(Ok(Made::Begins)) => return self.begin().await,
            Some(Ok(Made::Frames(frames))) => (frames, None),
            Some(Ok(Made::Last(frames))) => (frames, Some(Ok(()))),
            Some(Ok(Made::Cut { frames, by, why })) => (frames, Some(Err((by, why)))),
            Some(Ok(Made::Word(word))) => {
                let sentence = said.index;
                return self.turn.replies.send(Reply::Word { sentence, word }).await;
            }
            Some(Err(error)) => {
                said.fail(&self.voice_now());
                return Err(error);
            }
            None => return Err(Error::new(Kind::Protocol, "the voice ended before its sentence")),
        };
        let index = said.index;
        for frame in frames {
            self.turn.replies.send(Reply::Audio { sentence: index, frame }).await?;
        }
        match end {
            None => Ok(()),
            Some(end) => self.end_first(end).await,
        }
    }

    /// Sends the table the text of the first sentence.
    async fn begin(&mut self) -> Result<(), Error> {
        let service = self.voice_now();
        let Some(said) = self.said.front_mut() else { return Ok(()) };
        said.span = Some(self.turn.turn.trace.begin(Operation::TextToSpeech, || service));
        let text = said.text.text.clone();
        self.turn.replies.send(Reply::Sentence { text, filler: false }).await
    }

    /// Ends the first sentence, or what was heard of it before its voice failed.
    async fn end_first(&mut self, end: Result<(), (Arc<str>, Error)>) -> Result<(), Error> {
        let Some(said) = self.said.pop_front() else { return Ok(()) };
        self.spoken += 1;
        match end {
            Ok(()) => {
                said.end(&self.voice_now());
                self.cut = None;
                let index = said.index;
                drop(said);
                self.turn.replies.send(Reply::SentenceDone { index }).await
            }
            Err((by, why)) => {
                said.fail(&by);
                self.cut = Some((said.text.text, why));
                Ok(())
            }
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

    /// Completes the span of a sentence that `service` did not speak to its end.
    fn fail(&self, service: &str) {
        self.end(service);
        if let Some(span) = &self.span {
            span.failed("voice_error");
        }
    }
}

/// Resolves once the sentence before the one at index `at` plays. Cancel safe.
async fn plays(gate: &mut watch::Receiver<Gate>, at: usize) {
    // If the gate is closed, the table is gone and sending fails.
    let _ = gate.wait_for(|gate| at <= gate.playing).await;
}
