//! Speech programs as child processes: their WAV becomes PCM chunks while they write it.
//!
//! Entry types: [`Program`] and [`respell`].
//! **Never**: a shell, files, a child that outlives its stream.

use std::{collections::VecDeque, io, process::Stdio};

use futures::{StreamExt, stream, stream::BoxStream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdout, Command},
};

use crate::{
    audio::{SampleRate, WavStream},
    domain::Pronunciation,
    provider::{Error, Kind, Pcm},
};

/// Bytes read at once.
const READ: usize = 8 * 1024;
/// Chunks of a second: 50 ms each.
const CHUNKS_A_SECOND: usize = 20;
/// Longest complaint of a program that is passed on, in characters.
const COMPLAINT: usize = 200;

/// A speech program and what it is told.
pub struct Program {
    /// Its file, which is also the name of its Debian package.
    pub name: &'static str,
    /// What it is started with; no shell reads it.
    pub arguments: Vec<String>,
    /// What it reads.
    pub input: String,
    /// The voice it was asked for.
    pub voice: String,
    /// Its command that lists the voices there are.
    pub lists_voices: &'static str,
    /// Its samples are played so much faster than it says.
    pub rerate: f64,
}

/// A program that runs.
struct Running {
    /// As in [`Program`].
    name: &'static str,
    /// As in [`Program`].
    voice: String,
    /// As in [`Program`].
    lists_voices: &'static str,
    /// As in [`Program`].
    rerate: f64,
    /// Killed on drop.
    child: Child,
    /// Where its WAV comes out.
    stdout: ChildStdout,
    /// Cuts samples out of it while it is written.
    wav: WavStream,
    /// Whole chunks nobody has taken yet.
    ready: VecDeque<Pcm>,
    /// Samples that are no whole chunk yet.
    samples: Vec<i16>,
    /// A chunk was taken.
    spoke: bool,
}

impl Program {
    /// Starts it and streams what it says; dropping the stream kills it.
    pub fn stream(self) -> BoxStream<'static, Result<Pcm, Error>> {
        let started = async move { self.start().await };
        stream::once(started)
            .flat_map(|running| match running {
                Ok(running) => stream::try_unfold(running, next).boxed(),
                Err(error) => stream::once(async move { Err(error) }).boxed(),
            })
            .boxed()
    }

    /// Starts it and hands it its input.
    async fn start(self) -> Result<Running, Error> {
        let mut child = Command::new(self.name)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| not_started(self.name, &error))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not want its input says so itself.
            let _ = stdin.write_all(self.input.as_bytes()).await;
        }
        let stdout = child.stdout.take().ok_or_else(|| {
            Error::new(Kind::Unavailable, format!("\"{}\" has no output (try again)", self.name))
        })?;
        Ok(Running {
            name: self.name,
            voice: self.voice,
            lists_voices: self.lists_voices,
            rerate: self.rerate,
            child,
            stdout,
            wav: WavStream::new(),
            ready: VecDeque::new(),
            samples: Vec::new(),
            spoke: false,
        })
    }
}

/// Runs a program to its end and gives what it printed.
///
/// # Errors
/// It is not installed or failed.
pub async fn output(name: &'static str, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new(name)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| not_started(name, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(failed(name, &output.status.to_string(), &output.stderr))
}

/// The next chunk; reads until there is one.
async fn next(mut running: Running) -> Result<Option<(Pcm, Running)>, Error> {
    let mut bytes = vec![0; READ];
    loop {
        if let Some(chunk) = running.ready.pop_front() {
            running.spoke = true;
            return Ok(Some((chunk, running)));
        }
        let count = running.stdout.read(&mut bytes).await.map_err(|error| {
            Error::new(Kind::Interrupted, format!("cannot read from \"{}\": {error}", running.name))
        })?;
        if count == 0 {
            return running.end().await;
        }
        let name = running.name;
        running
            .wav
            .push(bytes.get(..count).unwrap_or_default(), &mut running.samples)
            .map_err(|error| Error::new(Kind::Protocol, format!("\"{name}\" wrote: {error}")))?;
        running.cut(false)?;
    }
}

impl Running {
    /// Moves whole chunks, or at the end all there is, into `ready`.
    fn cut(&mut self, all: bool) -> Result<(), Error> {
        let Some(written) = self.wav.rate() else { return Ok(()) };
        let rate = rerated(written, self.rerate)?;
        let length = usize::try_from(rate.hz()).unwrap_or(usize::MAX) / CHUNKS_A_SECOND;
        while self.samples.len() >= length.max(1) || (all && !self.samples.is_empty()) {
            let length = length.max(1).min(self.samples.len());
            let rest = self.samples.split_off(length);
            let samples = std::mem::replace(&mut self.samples, rest);
            self.ready.push_back(Pcm { samples, rate });
        }
        Ok(())
    }

    /// What is left after the last byte, then how the program ended.
    async fn end(mut self) -> Result<Option<(Pcm, Self)>, Error> {
        self.cut(true)?;
        if let Some(chunk) = self.ready.pop_front() {
            self.spoke = true;
            return Ok(Some((chunk, self)));
        }
        let mut complaint = Vec::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_end(&mut complaint).await;
        }
        match self.child.wait().await {
            Ok(status) if status.success() && self.spoke => Ok(None),
            Ok(status) => Err(self.said_nothing(&status.to_string(), &complaint)),
            Err(error) => Err(self.said_nothing(&error.to_string(), &complaint)),
        }
    }

    /// A voice it does not have is the likeliest reason.
    fn said_nothing(&self, status: &str, complaint: &[u8]) -> Error {
        let (name, voice, lists) = (self.name, &self.voice, self.lists_voices);
        let complaint = shortened(complaint);
        let text = format!(
            "\"{name}\" said nothing with the voice \"{voice}\", {status}: \"{complaint}\" \
             (use a voice that {lists} lists)"
        );
        Error::new(Kind::InvalidRequest, text)
    }
}

/// The rate the samples are played at.
fn rerated(rate: SampleRate, factor: f64) -> Result<SampleRate, Error> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate times a factor near one; SampleRate refuses what is out of range"
    )]
    let hz = (f64::from(rate.hz()) * factor).round() as u32;
    SampleRate::new(hz).map_err(|error| Error::new(Kind::Protocol, error.to_string()))
}

/// The program could not be run at all.
fn not_started(name: &'static str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        let text = format!(
            "the program \"{name}\" is not installed (apt-get install {name}, or ./dev setup)"
        );
        return Error::new(Kind::Missing, text);
    }
    Error::new(Kind::Unavailable, format!("cannot start \"{name}\": {error} (try again)"))
}

/// The program ran to no good end.
fn failed(name: &str, status: &str, complaint: &[u8]) -> Error {
    let complaint = shortened(complaint);
    let text = format!("\"{name}\" failed, {status}: \"{complaint}\" (install it anew)");
    Error::new(Kind::InvalidRequest, text)
}

/// The beginning of what a program complained of, on one line.
fn shortened(complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let words: Vec<&str> = complaint.split_whitespace().collect();
    words.join(" ").chars().take(COMPLAINT).collect()
}

/// Replaces whole words by how they are said; upper and lower case are the same, and of two
/// entries that fit the longer one counts.
pub fn respell(text: &str, pronunciation: &[Pronunciation]) -> String {
    let mut entries: Vec<(Vec<char>, &str)> = pronunciation
        .iter()
        .map(|entry| (folded(&entry.word), entry.respelling.as_str()))
        .filter(|(word, _)| !word.is_empty())
        .collect();
    entries.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    let characters: Vec<char> = text.chars().collect();
    let lower: Vec<char> = characters.iter().map(|c| lower(*c)).collect();
    let mut said = String::with_capacity(text.len());
    let mut at = 0;
    let mut inside_word = false;
    while let Some(character) = characters.get(at) {
        let fits = |(word, _): &&(Vec<char>, &str)| {
            let end = at + word.len();
            lower.get(at..end) == Some(word)
                && !lower.get(end).is_some_and(|next| next.is_alphanumeric())
        };
        if let Some((word, respelling)) = entries.iter().find(fits).filter(|_| !inside_word) {
            said.push_str(respelling);
            at += word.len();
            inside_word = true;
        } else {
            said.push(*character);
            inside_word = character.is_alphanumeric();
            at += 1;
        }
    }
    said
}

/// A word as it is compared.
fn folded(word: &str) -> Vec<char> {
    word.trim().chars().map(lower).collect()
}

/// One character for one character, so that positions stay the same.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str, entries: &[(&str, &str)]) -> String {
        let entries: Vec<Pronunciation> = entries
            .iter()
            .map(|(word, respelling)| Pronunciation {
                word: (*word).to_owned(),
                respelling: (*respelling).to_owned(),
            })
            .collect();
        respell(text, &entries)
    }

    #[test]
    fn whole_words_are_respelled() {
        let entries = [("Bartok", "bar tock"), ("Bartok the Barkeep", "old bar tock")];
        assert_eq!(said("Bartok's ale, bartok!", &entries), "bar tock's ale, bar tock!");
        assert_eq!(said("Ask Bartok the Barkeep.", &entries), "Ask old bar tock.");
        assert_eq!(said("Bartoks bar-Bartok", &entries), "Bartoks bar-bar tock");
    }

    #[test]
    fn letters_of_any_script_are_whole_words() {
        assert_eq!(said("Ünal und Ünals", &[("ünal", "oonal")]), "oonal und Ünals");
    }

    proptest! {
        #[test]
        fn text_without_entries_is_untouched(text in "\\PC*") {
            prop_assert_eq!(said(&text, &[("", "x")]), text);
        }
    }
}
