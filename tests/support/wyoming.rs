//! A loopback Wyoming service for tests: a recogniser, a voice, or both.
//!
//! Entry types: [`WyomingServer`], [`Script`]. It runs on threads of its own. Like servers made with
//! the protocol's own library it ignores events that it does not know, and closes the connection on
//! what is no event or lacks what it must have; that is noted as refused.
//! **Never**: hears words in silence, or speaks in a voice that it does not list.
#![expect(clippy::cast_possible_truncation, reason = "the bytes of its rubbish are cut off")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::JoinHandle,
    time::Duration,
};

use serde_json::{Map, Value, json};

pub use script::{Fault, Hears, Recorded, Script, Sentence, Speaks, Utterance, When};
use script::{info, pitch_for, tone};

#[path = "wyoming_script.rs"]
pub mod script;

/// Samples in one event of sound.
const CHUNK: usize = 1_024;
/// Speech heard for each further word of a transcript in pieces, in seconds.
const WORD: f64 = 0.3;
/// Samples above this are speech.
const AUDIBLE: i16 = 500;
/// Longest wait of [`WyomingServer::left`].
const BOUND: Duration = Duration::from_secs(60);

/// A running service; it ends when dropped.
pub struct WyomingServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    script: Script,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    recorded: Recorded,
    is_over: bool,
    open: Vec<TcpStream>,
}

impl WyomingServer {
    /// A service on a free port.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { script, state, changed });
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                if !serving.admit(&stream) {
                    return;
                }
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || Connection::new(stream, shared).serve());
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// Address as a configuration has it.
    pub fn address(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// Requests so far.
    pub fn recorded(&self) -> Recorded {
        self.shared.state().recorded.clone()
    }

    /// Waits until so many connections were closed on it before it was done.
    pub fn left(&self, count: usize) {
        let waits = |state: &mut State| state.recorded.left < count;
        let waited = self.shared.changed.wait_timeout_while(self.shared.state(), BOUND, waits);
        assert!(!waited.expect("no panic while locked").1.timed_out(), "nobody left");
    }
}

impl Drop for WyomingServer {
    fn drop(&mut self) {
        let open = {
            let mut state = self.shared.state();
            state.is_over = true;
            std::mem::take(&mut state.open)
        };
        open.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        // A thread that waits for a connection looks whether the service is over.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while locked")
    }

    /// Registers a connection; true unless the service is over.
    fn admit(&self, stream: &TcpStream) -> bool {
        let mut state = self.state();
        if !state.is_over {
            state.open.push(stream.try_clone().expect("a socket"));
        }
        !state.is_over
    }

    fn note(&self, note: impl FnOnce(&mut Recorded)) {
        note(&mut self.state().recorded);
        self.changed.notify_all();
    }
}

/// Reason for the end of a connection.
enum End {
    /// It is done, or the client is.
    Done,
    /// It is closed at once, whatever the client still sends.
    Cut,
    /// The client has closed it before that.
    Left,
    /// The client's message is not taken.
    Refused(String),
}

type Served = Result<(), End>;

/// An event as it came.
struct Asked {
    kind: String,
    data: Map<String, Value>,
    payload: Vec<u8>,
}

/// One client.
struct Connection {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    shared: Arc<Shared>,
    request: Value,
    format: Option<Value>,
    /// Seconds of sound, and whether there is speech in it.
    seconds: f64,
    is_speech: bool,
    /// Words of a transcript in pieces that were sent.
    told: usize,
    /// A text in pieces: the voice, and what came of it.
    pieces: Option<(Value, String)>,
}

impl Connection {
    fn new(stream: TcpStream, shared: Arc<Shared>) -> Self {
        let reader = BufReader::new(stream.try_clone().expect("a socket"));
        Self {
            reader,
            stream,
            shared,
            request: Value::Null,
            format: None,
            seconds: 0.0,
            is_speech: false,
            told: 0,
            pieces: None,
        }
    }

    fn serve(mut self) {
        let ended = loop {
            let served = match self.read() {
                Ok(Some(asked)) => self.answer(&asked),
                Ok(None) => Err(if self.is_busy() { End::Left } else { End::Done }),
                Err(end) => Err(end),
            };
            if let Err(end) = served {
                break end;
            }
        };
        if matches!(ended, End::Done) {
            let _ = self.stream.shutdown(Shutdown::Write);
            let _ = self.reader.read_to_end(&mut Vec::new());
        }
        self.shared.note(|it| match ended {
            End::Done => it.done += 1,
            End::Cut => {}
            End::Left => it.left += 1,
            End::Refused(why) => it.refused.push(why),
        });
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// True if something was begun.
    fn is_busy(&self) -> bool {
        self.format.is_some() || self.pieces.is_some()
    }

    fn read(&mut self) -> Result<Option<Asked>, End> {
        let refused = |why: &str| End::Refused(why.to_owned());
        let mut line = Vec::new();
        let read = self.reader.read_until(b'\n', &mut line).unwrap_or_default();
        if read == 0 {
            return Ok(None);
        }
        let Ok(Value::Object(mut head)) = serde_json::from_slice(&line) else {
            return Err(refused("a line that is no JSON object"));
        };
        let mut behind = |key: &str| -> Result<Vec<u8>, End> {
            let length = head.get(key).map_or(Some(0), Value::as_u64);
            let length = length.ok_or_else(|| refused("a length that is none"))?;
            let mut bytes = vec![0; usize::try_from(length).expect("a small length")];
            self.reader.read_exact(&mut bytes).map_err(|_| End::Left)?;
            Ok(bytes)
        };
        let (more, payload) = (behind("data_length")?, behind("payload_length")?);
        let mut data = match head.remove("data") {
            None => Map::new(),
            Some(Value::Object(data)) => data,
            Some(_) => return Err(refused("data that is no object")),
        };
        if !more.is_empty() {
            match serde_json::from_slice(&more) {
                Ok(Value::Object(more)) => data.extend(more),
                _ => return Err(refused("data that is no JSON object")),
            }
        }
        let kind = head.get("type").and_then(Value::as_str).ok_or_else(|| refused("no type"))?;
        Ok(Some(Asked { kind: kind.to_owned(), data, payload }))
    }

    fn answer(&mut self, asked: &Asked) -> Served {
        let script = self.shared.script.clone();
        match (asked.kind.as_str(), &script.hears, script.speaks) {
            ("describe", ..) => {
                self.fault(When::Described)?;
                self.chatter()?;
                self.write("info", &info(&script), &[])
            }
            ("transcribe", Some(_), _) => {
                self.request = Value::Object(asked.data.clone());
                Ok(())
            }
            ("audio-start", Some(_), _) => {
                sample_size(asked)?;
                self.format = Some(Value::Object(asked.data.clone()));
                Ok(())
            }
            ("audio-chunk", Some(hears), _) => self.hear(asked, hears),
            ("audio-stop", Some(hears), _) => {
                self.heard();
                self.fault(When::Asked)?;
                self.transcript(hears)
            }
            ("synthesize", _, Some(speaks)) if self.pieces.is_none() => {
                let sentence = Sentence {
                    text: text(asked)?,
                    voice: asked.data.get("voice").cloned().unwrap_or_default(),
                    in_pieces: false,
                };
                self.say(sentence, speaks)
            }
            ("synthesize-start", _, Some(Speaks { streams: true, .. })) => {
                let voice = asked.data.get("voice").cloned().unwrap_or_default();
                self.pieces = Some((voice, String::new()));
                Ok(())
            }
            ("synthesize-chunk", _, Some(Speaks { streams: true, .. })) => match &mut self.pieces {
                Some((_, so_far)) => {
                    so_far.push_str(&text(asked)?);
                    Ok(())
                }
                None => Err(End::Refused("synthesize-chunk before synthesize-start".to_owned())),
            },
            ("synthesize-stop", _, Some(speaks)) if speaks.streams => {
                let (voice, text) = self.pieces.take().unwrap_or_default();
                self.say(Sentence { text, voice, in_pieces: true }, speaks)
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, asked: &Asked, hears: &Hears) -> Served {
        let size = sample_size(asked)?;
        if self.format.is_none() {
            return Err(End::Refused("audio-chunk before audio-start".to_owned()));
        }
        if asked.payload.is_empty() || !asked.payload.len().is_multiple_of(size) {
            return Err(End::Refused(format!("{} bytes of sound", asked.payload.len())));
        }
        let rate = asked.data["rate"].as_f64().unwrap_or(1.0);
        self.seconds += (asked.payload.len() / size) as f64 / rate;
        let mut samples =
            asked.payload.chunks_exact(2).map(|it| i16::from_le_bytes([it[0], it[1]]));
        self.is_speech |= samples.any(|sample| sample.saturating_abs() > AUDIBLE);
        self.fault(When::Midway)?;
        if hears.ends_after.is_some_and(|after| self.seconds >= after) {
            self.heard();
            return self.transcript(hears);
        }
        if hears.streams && self.is_speech {
            let words: Vec<&str> = hears.words.split(' ').collect();
            // The last word is for the end.
            while self.told + 1 < words.len() && self.seconds > WORD * (self.told + 1) as f64 {
                self.piece(words[self.told])?;
            }
        }
        Ok(())
    }

    /// The next word of a transcript in pieces.
    fn piece(&mut self, word: &str) -> Served {
        if self.told == 0 {
            self.write("transcript-start", &json!({"language": "en"}), &[])?;
        }
        self.told += 1;
        self.write("transcript-chunk", &json!({"text": format!(" {word}")}), &[])
    }

    /// Notes the utterance it received.
    fn heard(&self) {
        let format = self.format.clone().unwrap_or_default();
        let utterance = Utterance { request: self.request.clone(), format, seconds: self.seconds };
        self.shared.note(|it| it.heard.push(utterance));
    }

    fn transcript(&mut self, hears: &Hears) -> Served {
        self.chatter()?;
        let words = if self.is_speech { hears.words.as_str() } else { "" };
        if hears.streams {
            for word in words.split_whitespace().skip(self.told) {
                self.piece(word)?;
            }
        }
        self.write("transcript", &json!({"text": words, "language": "en"}), &[])?;
        if hears.streams {
            self.write("transcript-stop", &json!({}), &[])?;
        }
        // As faster-whisper's does.
        Err(End::Done)
    }

    fn say(&mut self, sentence: Sentence, speaks: Speaks) -> Served {
        let Some(pitch) = pitch_for(&sentence.voice) else {
            let error = json!({"text": "Unknown voice", "code": "ValueError"});
            self.write("error", &error, &[])?;
            return Err(End::Refused(format!("no voice {}", sentence.voice)));
        };
        let in_pieces = sentence.in_pieces;
        let letters = sentence.text.chars().count();
        self.shared.note(|it| it.spoken.push(sentence));
        self.fault(When::Asked)?;
        self.chatter()?;
        let sound = tone(pitch, letters, speaks);
        // Texts in pieces are spoken sentence by sentence: here, in two.
        let half = if in_pieces { sound.len() / 2 } else { sound.len() };
        let mut left = sound.len();
        for part in [&sound[..half], &sound[half..]].into_iter().filter(|part| !part.is_empty()) {
            let format = json!({"rate": speaks.rate, "width": 2, "channels": speaks.channels,
                "timestamp": null});
            self.write("audio-start", &format, &[])?;
            for chunk in part.chunks(CHUNK * usize::from(speaks.channels)) {
                let bytes: Vec<u8> = chunk.iter().flat_map(|it| it.to_le_bytes()).collect();
                self.write("audio-chunk", &format, &bytes)?;
                left -= chunk.len();
                if left < sound.len() / 2 {
                    self.fault(When::Midway)?;
                }
            }
            self.write("audio-stop", &json!({"timestamp": null}), &[])?;
        }
        if in_pieces {
            self.write("synthesize-stopped", &json!({}), &[])?;
        }
        Ok(())
    }

    /// Sends unknown events.
    fn chatter(&mut self) -> Served {
        if !self.shared.script.is_chatty {
            return Ok(());
        }
        self.write("ping", &json!({"text": "anybody?"}), &[])?;
        self.write("mood-changed", &json!({"to": ["merry"], "deep": {"text": 7}}), b"abc\n{")
    }

    /// Sends an event: what belongs to sound in the line, anything else behind it.
    fn write(&mut self, kind: &str, data: &Value, payload: &[u8]) -> Served {
        let mut line = json!({"type": kind, "version": "1.10.2"});
        let mut more = Vec::new();
        if payload.is_empty() {
            more = data.to_string().into_bytes();
            line["data_length"] = json!(more.len());
        } else {
            line["data"] = data.clone();
            line["payload_length"] = json!(payload.len());
        }
        let bytes = [format!("{line}\n").as_bytes(), &more, payload].concat();
        self.stream.write_all(&bytes).map_err(|_| End::Left)
    }

    /// Does what goes wrong now, if something does.
    fn fault(&mut self, when: When) -> Served {
        let Some((_, fault)) = self.shared.script.fault.filter(|(at, _)| *at == when) else {
            return Ok(());
        };
        let huge = |key: &str| format!("{{\"type\":\"audio-chunk\",\"{key}\":1099511627776}}\n");
        let sent = match fault {
            Fault::Cut => return Err(End::Cut),
            Fault::Error(text) => {
                self.write("error", &json!({"text": text, "code": "RuntimeError"}), &[])?;
                return Err(End::Cut);
            }
            Fault::Stall => Vec::new(),
            Fault::LongLine => b"{\"type\":\"".repeat(100_000),
            Fault::HugeData => [huge("data_length").as_bytes(), &[b' '; 100_000]].concat(),
            Fault::HugePayload => [huge("payload_length").as_bytes(), &[7; 100_000]].concat(),
            Fault::Blank => {
                let format = json!({"rate": 16_000, "width": 2, "channels": 1});
                self.write("audio-chunk", &format, &[0; 96_000])?;
                Vec::new()
            }
            Fault::Rubbish => {
                (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
            }
        };
        // The client may be gone by then.
        let _ = self.stream.write_all(&sent);
        let mut more = Vec::new();
        let _ = self.reader.read_to_end(&mut more);
        Err(End::Left)
    }
}

/// Bytes of one sample of all channels, which sound must say.
fn sample_size(asked: &Asked) -> Result<usize, End> {
    let number = |key: &str| -> Result<usize, End> {
        let number = asked.data.get(key).and_then(Value::as_u64).filter(|number| *number > 0);
        let refused = || End::Refused(format!("{} without {key}", asked.kind));
        Ok(usize::try_from(number.ok_or_else(refused)?).unwrap_or(1))
    };
    number("rate")?;
    Ok(number("width")? * number("channels")?)
}

/// The text that an event must have.
fn text(asked: &Asked) -> Result<String, End> {
    let text = asked.data.get("text").and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| End::Refused(format!("{} without text", asked.kind)))
}
