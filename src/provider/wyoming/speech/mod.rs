//! Text-to-speech at a Wyoming service, with a connection per sentence.
//!
//! Entry types: [`Speech`], [`probe`]. Sound is passed on as it arrives; pitch, formants and speed
//! are ours. If the description lacks a voice, it is fetched again. **Never**: a second request for
//! a sentence.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures::{
    FutureExt, StreamExt, TryFutureExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{
    NAME, Options,
    connection::{Receiver, Sender, connect},
    event::Event,
    failure::{Peer, Role},
    info::{Program, VoiceName, describe},
    sound::{Sound, Unusable},
};
use crate::{
    domain::Voice,
    provider::{
        Attempts, DefaultId, Error, Kind, ListedVoice, OneShot, Pcm, SpeakRequest, VoiceIds,
        VoiceTraits,
        bounds::{Count, EVENTS},
        respell::respell,
    },
};

pub const VOICE_TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Unknown,
    // Empty: the service's default.
    default_id: DefaultId::Fixed(""),
    english_only: false,
    shifts_formants: true,
};

/// Missing part of an interrupted sentence.
const END: &str = "the sentence was spoken";
/// Time for which a description without a voice is trusted.
const FRESH: Duration = Duration::from_secs(60);

pub struct Speech(Arc<Service>);

struct Service {
    options: Options,
    peer: Peer,
    known: RwLock<Option<Described>>,
}

#[derive(Clone)]
struct Described {
    program: Arc<Program>,
    at: Instant,
}

impl Speech {
    /// Speaks at the service of `options`; does not connect yet.
    pub fn new(options: Options) -> Self {
        let peer = Peer::new(&options.address, Role::Voice);
        Self(Arc::new(Service { options, peer, known: RwLock::default() }))
    }
}

impl OneShot for Speech {
    fn name(&self) -> &'static str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let service = Arc::clone(&self.0);
        let begun = async move {
            let reading = service.ask(request).await?;
            Ok(stream::try_unfold(reading, Reading::next))
        };
        begun.try_flatten_stream().boxed()
    }

    fn lacks(&self, voice: &Voice) -> Option<Error> {
        let known = self.0.known().filter(|known| known.at.elapsed() < FRESH)?;
        known.program.voice(&voice.voice_id, &self.0.peer).err()
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        let (service, id) = (Arc::clone(&self.0), voice.voice_id.clone());
        async move { service.program(&id).await.map(drop) }.boxed()
    }
}

impl Service {
    fn known(&self) -> Option<Described> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn learn(&self) -> Result<Arc<Program>, Error> {
        let program = Arc::new(describe(&self.peer).await?);
        let known = Described { program: Arc::clone(&program), at: Instant::now() };
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(program)
    }

    /// The service's description, if it has the voice `id`.
    async fn program(&self, id: &str) -> Result<Arc<Program>, Error> {
        let known = self.known().map(|known| known.program);
        if let Some(program) = known.filter(|program| program.voice(id, &self.peer).is_ok()) {
            return Ok(program);
        }
        let program = self.learn().await?;
        program.voice(id, &self.peer)?;
        Ok(program)
    }

    async fn ask(self: Arc<Self>, request: SpeakRequest) -> Result<Reading, Error> {
        let program = self.program(&request.voice.voice_id).await?;
        let voice = program.voice(&request.voice.voice_id, &self.peer)?;
        let text = respell(&request.text, &request.pronunciation);
        let Options { first_byte_timeout, idle_timeout, .. } = self.options;
        let (mut to, from) = connect(&self.peer, idle_timeout).await?;
        for event in sentence(&text, voice, program.streams) {
            to.send(&event).await?;
        }
        Ok(Reading {
            peer: self.peer.clone(),
            from: from.hiding(&text),
            _to: to,
            sound: Sound::new(request.voice),
            until: Instant::now() + first_byte_timeout,
            idle: idle_timeout,
            soundless: Count::within(EVENTS),
            last: if program.streams { "synthesize-stopped" } else { "audio-stop" },
            is_over: false,
        })
    }
}

/// Events that make the service speak `text`.
fn sentence(text: &str, voice: Option<VoiceName>, streams: bool) -> Vec<Event> {
    let voiced = |event: Event| match voice {
        None => event,
        Some(VoiceName { name, speaker }) => {
            let mut voice = Map::from_iter([("name".to_owned(), json!(name))]);
            voice.extend(speaker.map(|speaker| ("speaker".to_owned(), json!(speaker))));
            event.with("voice", Value::Object(voice))
        }
    };
    if streams {
        return vec![
            voiced(Event::new("synthesize-start")),
            Event::new("synthesize-chunk").with("text", text),
            Event::new("synthesize-stop"),
        ];
    }
    vec![voiced(Event::new("synthesize").with("text", text))]
}

/// A sentence that is being spoken. Dropping it cancels it.
struct Reading {
    peer: Peer,
    from: Receiver,
    /// Kept because a service may take a half-closed connection for a closed one.
    _to: Sender,
    sound: Sound,
    until: Instant,
    idle: Duration,
    soundless: Count,
    /// Kind of the last event: for a text in pieces, sound may end and restart before it.
    last: &'static str,
    is_over: bool,
}

impl Reading {
    /// The next sound; at the end the rest from the filters.
    async fn next(mut self) -> Result<Option<(Pcm, Self)>, Error> {
        // Time in which the listener wanted no sound does not count against the service.
        if self.sound.has_begun() {
            self.until = Instant::now() + self.idle;
        }
        while !self.is_over {
            let pcm = match self.from.event_by(self.until).await {
                Ok(Some(event)) => self.read(&event)?,
                Ok(None) => return Err(self.peer.interrupted(END)),
                Err(error) => return Err(self.broken(error)),
            };
            if let Some(pcm) = pcm.filter(|pcm| !pcm.samples.is_empty()) {
                return Ok(Some((pcm, self)));
            }
        }
        Ok(None)
    }

    fn read(&mut self, event: &Event) -> Result<Option<Pcm>, Error> {
        match event.kind.as_str() {
            "audio-start" | "audio-chunk" => {
                let before = self.sound.length();
                let pcm = self.sound.push(event).map_err(|wrong| self.unusable(&wrong))?;
                let more = self.sound.length().saturating_sub(before);
                if before.is_zero() && !more.is_zero() {
                    self.until = Instant::now() + self.idle;
                }
                // Sound held back by the filters only gives as much time as it lasts.
                self.until += more;
                self.count(more)?;
                Ok(pcm)
            }
            kind if kind == self.last => self.over(),
            _ => self.count(Duration::ZERO).map(|()| None),
        }
    }

    fn count(&mut self, sound: Duration) -> Result<(), Error> {
        if !sound.is_zero() {
            return Ok(());
        }
        self.soundless.add(1).map_err(|bound| self.peer.flooding(bound))
    }

    /// After the first sound a timeout is an interruption, not a slow start.
    fn broken(&self, error: Error) -> Error {
        match error.kind() {
            Kind::Timeout if self.sound.has_begun() => self.peer.interrupted(END),
            _ => error,
        }
    }

    fn over(&mut self) -> Result<Option<Pcm>, Error> {
        self.is_over = true;
        if !self.sound.has_begun() {
            let way_out = "try another voice, or look at the service's log";
            return Err(self.peer.error(Kind::Protocol, "it sent no sound", way_out));
        }
        Ok(self.sound.finish())
    }

    fn unusable(&self, wrong: &Unusable) -> Error {
        let (kind, what) = match wrong {
            Unusable::Shape(_) => (Kind::InvalidRequest, wrong.to_string()),
            _ => (Kind::Protocol, format!("it sends {wrong}")),
        };
        self.peer.error(kind, &what, "try another voice of the service")
    }
}

/// Voices that the service of `options` describes; `None`: it names none, and any may be asked for.
pub async fn list(options: &Options) -> Result<Option<Vec<ListedVoice>>, Error> {
    Ok(describe(&Peer::new(&options.address, Role::Voice)).await?.listed())
}

/// Asks a service for its description and starts a word; returns one line for a report, and its
/// voices.
pub async fn probe(options: Options) -> Result<(String, Vec<String>), Error> {
    let speech = Speech::new(options);
    let begun = Instant::now();
    let program = speech.0.learn().await?;
    let (answered, asked) = (begun.elapsed().as_millis(), Instant::now());
    let request = SpeakRequest {
        text: "Hello.".to_owned(),
        voice: Voice::as_is(NAME, ""),
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    };
    speech.speak(request).next().await.transpose()?;
    let took = asked.elapsed().as_millis();
    let streams = if program.streams { ", takes texts in pieces" } else { "" };
    let line = format!(
        "{} at {}{streams}, answers in {answered} ms and begins a word in {took} ms",
        program.name,
        speech.0.peer.host(),
    );
    Ok((line, program.names().map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests;
