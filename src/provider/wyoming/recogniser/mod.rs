//! Speech-to-text at a Wyoming service, with a connection per utterance, opened when it begins.
//!
//! Entry types: [`Recogniser`], [`probe`]. Sound from the time of connecting is sent first. If the
//! service ends an utterance itself, the rest is sent as another, without the sound already on its
//! way. **Never**: sends an utterance twice.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::task::AbortOnDropHandle;

use super::{
    NAME, Options,
    connection::{Receiver, Sender, connect},
    event::Event,
    failure::{Peer, Role},
    info::describe,
    transcript::{Transcript, Written},
};
use crate::{
    audio::{FRAME, Frame, SampleRate},
    provider::{
        Attempts, Error, Kind, SpeechEvent, SpeechToText, SttAbilities,
        bounds::{self, Count, EVENTS, TURN_TEXT},
    },
};

/// Queued partials; one more is dropped, and the next has its words.
const PARTIALS: usize = 16;
/// Most frames in one event: half a second.
const AT_ONCE: usize = 25;
/// Longest wait for the reason a service takes no more sound.
const WHY: Duration = Duration::from_secs(1);
/// Most bytes of expected names.
const NAMES_MAX: usize = 600;
/// Times that a service may end one utterance.
const ENDS_MAX: usize = 16;
const PROBED_FRAMES: usize = 25;

pub struct Recogniser {
    service: Arc<Service>,
    names: RwLock<Arc<[String]>>,
}

struct Service {
    options: Options,
    peer: Peer,
    /// ISO 639-1 code of the spoken language.
    language: String,
    /// The service announced transcripts in pieces.
    streams: AtomicBool,
}

impl Recogniser {
    /// Recognises `language` at the service of `options`; does not connect yet.
    pub fn new(options: Options, language: &str) -> Self {
        let peer = Peer::new(&options.address, Role::Recogniser);
        let (language, streams) = (language.to_owned(), AtomicBool::default());
        Self::of(Arc::new(Service { options, peer, language, streams }))
    }

    /// A client for another table, without names. The service's description is shared.
    pub fn for_another_table(&self) -> Self {
        Self::of(Arc::clone(&self.service))
    }

    fn of(service: Arc<Service>) -> Self {
        Self { service, names: RwLock::new(Arc::from([])) }
    }
}

impl SpeechToText for Recogniser {
    fn name(&self) -> &'static str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        let partials = self.service.streams.load(Ordering::Relaxed);
        SttAbilities { partials, ..SttAbilities::default() }
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        let service = Arc::clone(&self.service);
        async move { service.learn().await.map(drop) }.boxed()
    }

    fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        let mut length = 0;
        let fits = |name: &String| {
            length += name.len();
            length <= NAMES_MAX
        };
        let names: Vec<String> = names().into_iter().take_while(fits).collect();
        *self.names.write().unwrap_or_else(PoisonError::into_inner) = Arc::from(names);
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        _attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let names = Arc::clone(&self.names.read().unwrap_or_else(PoisonError::into_inner));
        let (to, partials) = mpsc::channel(PARTIALS);
        let service = Arc::clone(&self.service);
        let (events, told) = (Count::within(EVENTS), Count::within(bounds::PARTIALS));
        let listening = Listening { service, names, audio, partials: to, events, told };
        // Connecting and sending must not depend on the stream's reader.
        let all = Some(AbortOnDropHandle::new(tokio::spawn(listening.recognise())));
        stream::unfold(Transcripts { partials, all }, Transcripts::next).boxed()
    }
}

impl Service {
    async fn learn(&self) -> Result<Learnt, Error> {
        let program = describe(&self.peer).await?;
        if let Some(model) = &self.options.model {
            program.check_model(model, &self.peer)?;
        }
        self.streams.store(program.streams, Ordering::Relaxed);
        let hears = program.hears(&self.language);
        let models = program.names().map(str::to_owned).collect();
        Ok(Learnt { name: program.name, models, hears })
    }

    fn request(&self, names: &[String]) -> Event {
        let mut request = Event::new("transcribe").with("language", self.language.as_str());
        if let Some(model) = &self.options.model {
            request = request.with("name", model.as_str());
        }
        if !names.is_empty() {
            request = request.with("transcript_names", names);
        }
        request
    }
}

struct Learnt {
    name: String,
    models: Vec<String>,
    /// It hears the language, or lists none.
    hears: bool,
}

/// Transcripts of one utterance, for its reader. Dropping it cancels the recognition.
struct Transcripts {
    partials: mpsc::Receiver<String>,
    all: Option<AbortOnDropHandle<Result<String, Error>>>,
}

impl Transcripts {
    async fn next(mut self) -> Option<(Result<SpeechEvent, Error>, Self)> {
        let all = self.all.as_mut()?;
        if let Some(text) = self.partials.recv().await {
            return Some((Ok(SpeechEvent::Partial { text }), self));
        }
        let text = all.await.unwrap_or_else(|_| {
            Err(Error::new(Kind::Interrupted, "the transcription broke off (speak again)"))
        });
        self.all = None;
        Some((text.map(|text| SpeechEvent::Final { text }), self))
    }
}

struct Listening {
    service: Arc<Service>,
    names: Arc<[String]>,
    audio: mpsc::Receiver<Frame>,
    partials: mpsc::Sender<String>,
    events: Count,
    told: Count,
}

struct Part {
    text: String,
    /// The service ended it before the sound did.
    is_early: bool,
}

impl Listening {
    async fn recognise(mut self) -> Result<String, Error> {
        let mut all = String::new();
        for _ in 0..ENDS_MAX {
            let mut first = Vec::with_capacity(AT_ONCE);
            if self.audio.recv_many(&mut first, AT_ONCE).await == 0 {
                return Ok(all);
            }
            let part = self.part(first, &all).await?;
            all = joined(&all, &part.text);
            TURN_TEXT.check(all.len()).map_err(|bound| self.service.peer.flooding(bound))?;
            if !part.is_early {
                return Ok(all);
            }
        }
        let what = "it keeps ending utterances while a player speaks";
        Err(self.service.peer.error(Kind::Protocol, what, "look at the service's log"))
    }

    /// Sends the sound from `first` on; partials begin with the text `before`.
    async fn part(&mut self, first: Vec<Frame>, before: &str) -> Result<Part, Error> {
        let Options { first_byte_timeout, idle_timeout, .. } = self.service.options;
        let peer = &self.service.peer;
        let (mut to, mut from) = connect(peer, idle_timeout).await?;
        let request = self.service.request(&self.names);
        let sending = send(&mut to, request, first, &mut self.audio);
        tokio::pin!(sending);
        let mut transcript = Transcript::default();
        let (mut until, mut unsent) = (None, None);
        loop {
            let event = tokio::select! {
                biased;
                // Sound out first: it has its own clock, as `event_by` has.
                sent = &mut sending, if until.is_none() => {
                    let patience = if sent.is_ok() { first_byte_timeout } else { WHY };
                    (until, unsent) = (Some(Instant::now() + patience), sent.err());
                    continue;
                }
                event = event_by(&mut from, until) => event,
            };
            let event = told(event, &unsent, peer)?;
            self.events.add(1).map_err(|bound| peer.flooding(bound))?;
            let written = transcript.read(&event).map_err(|wrong| {
                peer.error(Kind::Protocol, &format!("it sends {wrong}"), "check the service")
            })?;
            match written {
                Written::Nothing => {}
                Written::More => {
                    let so_far = transcript.so_far();
                    // The table can do without partials; the final has all words.
                    if self.told.add(before.len() + so_far.len()).is_ok() {
                        let _ = self.partials.try_send(joined(before, so_far));
                    }
                    until = until.map(|_| Instant::now() + idle_timeout);
                }
                Written::All(text) => return Ok(Part { text, is_early: until.is_none() }),
            }
        }
    }
}

/// The next event. The deadline `until` applies once all was sent: while the speaker goes on, the
/// service may be silent.
async fn event_by(from: &mut Receiver, until: Option<Instant>) -> Result<Option<Event>, Error> {
    match until {
        Some(until) => from.event_by(until).await,
        None => from.event().await,
    }
}

/// The event, if there is one. A service that takes no more sound may give the reason in an event;
/// otherwise `unsent` is the error.
fn told(
    event: Result<Option<Event>, Error>,
    unsent: &Option<Error>,
    peer: &Peer,
) -> Result<Event, Error> {
    match (event, unsent) {
        (Ok(Some(event)), _) => Ok(event),
        (Ok(None), None) => Err(peer.interrupted("the transcript")),
        (Ok(None), Some(unsent)) => Err(unsent.clone()),
        (Err(error), Some(unsent)) if error.kind() == Kind::Timeout => Err(unsent.clone()),
        (Err(error), _) => Err(error),
    }
}

async fn send(
    to: &mut Sender,
    request: Event,
    first: Vec<Frame>,
    audio: &mut mpsc::Receiver<Frame>,
) -> Result<(), Error> {
    to.send(&request).await?;
    to.send(&sound("audio-start", 0)).await?;
    let (mut frames, mut sent) = (first, 0_usize);
    loop {
        let samples = frames.iter().flat_map(|frame| frame.samples());
        let payload = samples.flat_map(|sample| sample.to_le_bytes()).collect();
        to.send(&Event { payload, ..sound("audio-chunk", sent) }).await?;
        sent += frames.len();
        frames.clear();
        if audio.recv_many(&mut frames, AT_ONCE).await == 0 {
            return to.send(&Event::new("audio-stop").with("timestamp", at(sent))).await;
        }
    }
}

fn sound(kind: &str, frames: usize) -> Event {
    let event = Event::new(kind).with("rate", SampleRate::HZ_16000.hz());
    event.with("width", 2).with("channels", 1).with("timestamp", at(frames))
}

fn at(frames: usize) -> u64 {
    let frames = u32::try_from(frames).unwrap_or(u32::MAX);
    u64::try_from((FRAME * frames).as_millis()).unwrap_or(u64::MAX)
}

fn joined(before: &str, text: &str) -> String {
    let both = [before, text].into_iter().filter(|part| !part.is_empty());
    both.collect::<Vec<_>>().join(" ")
}

/// Asks a service for its description and sends half a second of silence; returns one line for a
/// report.
pub async fn probe(options: Options, language: &str) -> Result<String, Error> {
    let recogniser = Recogniser::new(options, language);
    let begun = Instant::now();
    let learnt = recogniser.service.learn().await?;
    let (answered, asked) = (begun.elapsed(), Instant::now());
    let (to, audio) = mpsc::channel(PROBED_FRAMES);
    for _ in 0..PROBED_FRAMES {
        // The channel has room for all of them.
        let _ = to.try_send(Frame::silence(SampleRate::HZ_16000));
    }
    drop(to);
    let mut transcripts = recogniser.listen(audio, Attempts::default());
    while let Some(event) = transcripts.next().await {
        event?;
    }
    let (answered, took) = (answered.as_millis(), asked.elapsed().as_millis());
    let partials = if recogniser.abilities().partials { "with" } else { "without" };
    let models = learnt.models.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    let doubt = match learnt.hears {
        true => String::new(),
        false => format!(", none for language '{language}'"),
    };
    Ok(format!(
        "{} at {}, {partials} partials, answers in {answered} ms and hears half a second in {took} ms; \
         its models: {models}{doubt}",
        learnt.name,
        recogniser.service.peer.host(),
    ))
}

#[cfg(test)]
mod tests;
