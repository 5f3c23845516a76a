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

const READ: usize = 8 * 1024;
/// Chunks of 50 ms.
const CHUNKS_A_SECOND: usize = 20;
/// Samples quieter than this, 1 % of full scale, are silence.
const QUIET: u16 = 328;
/// Leading silence that is kept, as a fraction of a second: 40 ms. flite begins with 180 to 240 ms,
/// which would delay every answer.
const BEFORE: usize = 25;
/// Longest error output that is quoted, in characters.
const COMPLAINT: usize = 200;

pub struct Program {
    /// Executable, also the name of its Debian package.
    pub name: &'static str,
    /// No shell reads them.
    pub arguments: Vec<String>,
    /// Written to standard input.
    pub input: String,
    pub voice: String,
    pub lists_voices: &'static str,
    /// Playback rate as a multiple of the rate in the WAV header.
    pub rerate: f64,
}

struct Running {
    program: Program,
    /// Killed on drop.
    child: Child,
    stdout: ChildStdout,
    wav: WavStream,
    ready: VecDeque<Pcm>,
    /// Samples of an incomplete chunk.
    samples: Vec<i16>,
    begun: bool,
    spoke: bool,
}

/// Starts `program` and streams its speech. Dropping the stream kills it.
pub fn speech(program: Result<Program, Error>) -> BoxStream<'static, Result<Pcm, Error>> {
    stream::once(async move { program?.start().await })
        .map_ok(|running| stream::try_unfold(running, next))
        .try_flatten()
        .boxed()
}

impl Program {
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
            // A program that rejects its input reports that itself.
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

/// Runs a program on `input` and returns its output. `input` must fit into a pipe (64 KiB), or both
/// sides would wait for each other.
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
        // A program that rejects its input reports that itself.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    printed(name, child.wait_with_output().await)
}

pub async fn output(name: &'static str, arguments: &[&str]) -> Result<String, Error> {
    let output =
        Command::new(name).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output().await;
    printed(name, output)
}

fn printed(name: &'static str, output: io::Result<Output>) -> Result<String, Error> {
    let output = output.map_err(|error| not_started(name, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(failed(name, &output.status.to_string(), &output.stderr))
}

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
    /// Moves whole chunks into `ready`; with `all`, the last partial one too.
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

    /// True if speech has begun or `all` output was read. Cuts off silence before speech; output
    /// that is silent throughout stays.
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

    /// An unknown voice is the likeliest reason.
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

fn rerated(rate: SampleRate, factor: f64) -> Result<SampleRate, Error> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate times a factor near one; SampleRate refuses what is out of range"
    )]
    let hz = (f64::from(rate.hz()) * factor).round() as u32;
    SampleRate::new(hz).map_err(|error| Error::new(Kind::Protocol, error.to_string()))
}

fn not_started(name: &'static str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        let text = format!(
            "the program \"{name}\" is not installed (apt-get install {name}, or ./dev setup)"
        );
        return Error::new(Kind::Missing, text);
    }
    Error::new(Kind::Unavailable, format!("cannot start \"{name}\": {error} (try again)"))
}

fn failed(name: &str, status: &str, complaint: &[u8]) -> Error {
    let complaint = shortened(complaint);
    let text = format!("\"{name}\" failed, {status}: \"{complaint}\" (reinstall it)");
    Error::new(Kind::InvalidRequest, text)
}

/// First characters of the error output, on one line.
fn shortened(complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let words: Vec<&str> = complaint.split_whitespace().collect();
    words.join(" ").chars().take(COMPLAINT).collect()
}
