//! Speech programs as child processes: their WAV becomes PCM chunks while they write it.
//!
//! Entry function: [`speech`] of a [`Program`].
//! **Never**: a shell, files, a child that outlives its stream.

use std::{
    collections::VecDeque,
    io,
    process::{Output, Stdio},
};

use futures::{StreamExt, TryStreamExt, stream, stream::BoxStream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdout, Command},
};

use crate::{
    audio::{SampleRate, WavStream},
    provider::{Error, Kind, Pcm},
};

/// Bytes read at once.
const READ: usize = 8 * 1024;
/// Chunks of a second: 50 ms each.
const CHUNKS_A_SECOND: usize = 20;
/// Samples quieter than this, a hundredth of the loudest possible, are no speech.
const QUIET: u16 = 328;
/// Silence left before what is said, in parts of a second: 40 ms. flite begins with 180 to 240 ms of it,
/// by which every answer would be heard later.
const BEFORE: usize = 25;
/// Longest complaint of a program that is passed on, in characters.
const COMPLAINT: usize = 200;

/// A speech program with its arguments and its input.
pub struct Program {
    /// Its file, which is also the name of its Debian package.
    pub name: &'static str,
    /// Command-line arguments; no shell reads them.
    pub arguments: Vec<String>,
    /// Text for its standard input.
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
    program: Program,
    /// Killed on drop.
    child: Child,
    /// Its WAV.
    stdout: ChildStdout,
    /// Cuts samples out of it while it is written.
    wav: WavStream,
    /// Whole chunks nobody has taken yet.
    ready: VecDeque<Pcm>,
    /// Samples that are no whole chunk yet.
    samples: Vec<i16>,
    /// Something can be heard in what was written so far.
    begun: bool,
    /// A chunk was taken.
    spoke: bool,
}

/// Starts `program`, if there is one, and streams what it says; dropping the stream kills it.
pub fn speech(program: Result<Program, Error>) -> BoxStream<'static, Result<Pcm, Error>> {
    stream::once(async move { program?.start().await })
        .map_ok(|running| stream::try_unfold(running, next))
        .try_flatten()
        .boxed()
}

impl Program {
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
            program: self,
            child,
            stdout,
            wav: WavStream::new(),
            ready: VecDeque::new(),
            samples: Vec::new(),
            begun: false,
            spoke: false,
        })
    }
}

/// Runs a program that reads `input` to its end and gives what it printed. The input has to fit into
/// a pipe, or both would wait: 64 KiB.
///
/// # Errors
/// It is not installed or failed.
pub async fn fed(name: &'static str, arguments: &[&str], input: &str) -> Result<String, Error> {
    let mut child = Command::new(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| not_started(name, &error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not want its input says so itself.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    printed(name, child.wait_with_output().await)
}

/// Runs a program to its end and gives what it printed.
///
/// # Errors
/// It is not installed or failed.
pub async fn output(name: &'static str, arguments: &[&str]) -> Result<String, Error> {
    let output =
        Command::new(name).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output().await;
    printed(name, output)
}

/// Standard output of a program that has ended.
fn printed(name: &'static str, output: io::Result<Output>) -> Result<String, Error> {
    let output = output.map_err(|error| not_started(name, &error))?;
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
            Error::new(
                Kind::Interrupted,
                format!("cannot read from \"{}\": {error}", running.program.name),
            )
        })?;
        if count == 0 {
            return running.end().await;
        }
        let name = running.program.name;
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
        let rate = rerated(written, self.program.rerate)?;
        let second = usize::try_from(rate.hz()).unwrap_or(usize::MAX);
        if !self.begins(second, all) {
            return Ok(());
        }
        let length = second / CHUNKS_A_SECOND;
        while self.samples.len() >= length.max(1) || (all && !self.samples.is_empty()) {
            let length = length.max(1).min(self.samples.len());
            let rest = self.samples.split_off(length);
            let samples = std::mem::replace(&mut self.samples, rest);
            self.ready.push_back(Pcm { samples, rate });
        }
        Ok(())
    }

    /// True if speech has begun, or `all` sound is there. Silence before speech is cut off; sound that
    /// is silent to its end stays.
    fn begins(&mut self, second: usize, all: bool) -> bool {
        let is_loud = |sample: &i16| sample.unsigned_abs() > QUIET;
        if !self.begun
            && let Some(first) = self.samples.iter().position(is_loud)
        {
            self.samples.drain(..first.saturating_sub(second / BEFORE));
            self.begun = true;
        }
        self.begun || all
    }

    /// The rest after the last byte, then the exit status of the program.
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
        let Program { name, voice, lists_voices, .. } = &self.program;
        let complaint = shortened(complaint);
        let text = format!(
            "\"{name}\" said nothing with the voice \"{voice}\", {status}: \"{complaint}\" \
             (use a voice that {lists_voices} lists)"
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
    let text = format!("\"{name}\" failed, {status}: \"{complaint}\" (reinstall it)");
    Error::new(Kind::InvalidRequest, text)
}

/// The beginning of what a program complained of, on one line.
fn shortened(complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let words: Vec<&str> = complaint.split_whitespace().collect();
    words.join(" ").chars().take(COMPLAINT).collect()
}
