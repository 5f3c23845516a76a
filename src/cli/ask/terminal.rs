//! A terminal's typed lines, approvals, forms and pictures.
//!
//! Entry types: [`TerminalEffects`], [`PictureFiles`], [`Typed`]. **Never**: answers for the game
//! master without an explicit choice.

use std::{
    fs::File,
    io::{self, ErrorKind, IsTerminal, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use clap::ValueEnum;
use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader, Stdin},
    sync::Mutex,
};

use super::{
    super::{complain, within},
    face::LocalPermits,
};
use crate::{
    domain::revealed_name,
    session::{LONGEST_UTTERANCE, ToolLine},
    tools::{ApprovalRequest, Attachment, Caption, Decision, Effects, FollowUp, Form},
};

/// Default decision when the terminal cannot ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approve {
    /// Approve every call.
    All,
    /// Deny every call.
    None,
}

/// Longest line, in bytes.
const LONGEST: usize = LONGEST_UTTERANCE;
/// A line this long counts as endless.
const ENDLESS: usize = 1 << 20;

/// Highest number of a picture's file.
const FILES_MAX: u32 = 10_000;

/// Lines typed on a terminal, for the next reader.
pub struct Typed(Mutex<Keyboard<Stdin>>);

/// A stream of lines, and the unfinished line.
struct Keyboard<R> {
    stdin: BufReader<R>,
    /// At most one byte more than [`LONGEST`].
    begun: Vec<u8>,
    /// Length of the whole line so far.
    length: usize,
}

impl Typed {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Keyboard::of(tokio::io::stdin()))))
    }

    /// The next line; `None` at the end of input. Fails on an endless line. Cancel safe.
    pub async fn next(&self) -> io::Result<Option<String>> {
        self.0.lock().await.next().await
    }
}

impl<R: AsyncRead + Unpin> Keyboard<R> {
    fn of(stdin: R) -> Self {
        Self { stdin: BufReader::new(stdin), begun: Vec::new(), length: 0 }
    }

    /// The next line of at most [`LONGEST`] bytes; a longer one is reported and skipped.
    async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            self.read().await?;
            let (bytes, length) =
                (std::mem::take(&mut self.begun), std::mem::take(&mut self.length));
            if bytes.is_empty() {
                return Ok(None);
            }
            if bytes.len() > LONGEST {
                let most = LONGEST >> 10;
                complain(&format!(
                    "a line of {length} bytes is too long (type at most {most} KiB)"
                ));
                continue;
            }
            let line = text(&bytes);
            let line = line.strip_suffix('\n').unwrap_or(&line);
            return Ok(Some(line.strip_suffix('\r').unwrap_or(line).to_owned()));
        }
    }

    /// Reads to the end of a line. Input of a cancelled read is preserved.
    async fn read(&mut self) -> io::Result<()> {
        loop {
            let come = self.stdin.fill_buf().await?;
            let end = come.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(come.len(), |at| at + 1);
            let room = (LONGEST + 1).saturating_sub(self.begun.len());
            self.begun.extend(come.iter().take(taken.min(room)));
            self.stdin.consume(taken);
            self.length += taken;
            if end.is_some() || taken == 0 {
                return Ok(());
            }
            if self.length > ENDLESS {
                let most = ENDLESS >> 20;
                let why = format!("standard input has no line end within {most} MiB (type lines)");
                return Err(io::Error::new(ErrorKind::InvalidData, why));
            }
        }
    }
}

/// Decodes a line. Invalid UTF-8 (a Latin-1 terminal, an accident) must not end an evening.
fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let latin = |byte: &u8| Some(char::from(*byte)).filter(|char| !char.is_control());
        text.extend(chunk.invalid().iter().map(|byte| latin(byte).unwrap_or(' ')));
    }
    text
}

/// Effects of tools at this table.
pub struct TerminalEffects {
    /// Print shown lines.
    pub aloud: bool,
    /// Decision made in advance; `None`: ask the typist.
    pub approve: Option<Approve>,
    pub is_dm: bool,
    /// Source of the decisions.
    pub typed: Arc<Typed>,
    /// Stores permanent approvals; `None`: ask each time.
    pub permits: Option<Arc<LocalPermits>>,
    /// `None`: pictures are not saved.
    pub pictures: Option<PictureFiles>,
}

/// Files of pictures beside a recording: `evening.wav` has `evening-1.png`, `evening-2.jpg`.
pub struct PictureFiles {
    recording: PathBuf,
    written: AtomicU32,
}

impl PictureFiles {
    /// No file written yet; they go beside `recording`.
    pub const fn beside(recording: PathBuf) -> Self {
        Self { recording, written: AtomicU32::new(0) }
    }

    /// Writes `picture` into the next unused file; returns its name.
    fn write(&self, picture: &Attachment) -> io::Result<String> {
        let stem = self.recording.file_stem().unwrap_or_default().to_string_lossy();
        let kind = if picture.mime == "image/jpeg" { "jpg" } else { "png" };
        loop {
            let number = self.written.fetch_add(1, Ordering::Relaxed) + 1;
            let name = format!("{stem}-{number}.{kind}");
            match File::create_new(self.recording.with_file_name(&name)) {
                Ok(mut file) => return file.write_all(&picture.bytes).map(|()| name),
                // From an earlier evening.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < FILES_MAX => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl TerminalEffects {
    /// Effects of tools that an operator calls manually.
    pub fn of_operator(aloud: bool) -> Self {
        Self {
            aloud,
            approve: None,
            is_dm: true,
            typed: Typed::new(),
            permits: None,
            pictures: None,
        }
    }

    fn can_ask(&self) -> bool {
        self.aloud && std::io::stdin().is_terminal()
    }
}

impl Effects for TerminalEffects {
    fn show(&self, text: &str) {
        if self.aloud {
            complain(&format!("  * {}", within(text)));
        }
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        let size = format!("{}, {} KiB", attachment.mime, attachment.bytes.len().div_ceil(1024));
        let Some(Caption { by, alt }) = &attachment.caption else {
            self.show(&format!("{tool} returned {size}"));
            return true;
        };
        let written = self.pictures.as_ref().map(|files| files.write(attachment)).transpose();
        let file = written.unwrap_or_else(|error| {
            complain(&format!("error: a picture cannot be written beside --out: {error}"));
            None
        });
        self.show(&format!("{by} shows a picture: {alt} ({})", file.unwrap_or(size)));
        true
    }

    fn tell_dm(&self, text: &str) {
        if self.is_dm {
            self.show(text);
        }
    }

    fn follow_up(&self, late: FollowUp) {
        self.show(&ToolLine::late(&late));
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        let is_there = self.approve.is_some() || (self.is_dm && self.can_ask());
        let way_out = "glyphoxa ask --as-dm on a terminal asks, --approve all allows every call, and \
                       effects: at the tool in glyphoxa.yaml says what it may do";
        (!is_there).then_some(way_out)
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        let decided = match self.approve {
            Some(Approve::All) => Decision::Approve,
            Some(Approve::None) => Decision::Deny("the game master said no".to_owned()),
            None if self.can_ask() => {
                let (typed, permits) = (Arc::clone(&self.typed), self.permits.clone());
                return decide(typed, permits, request).boxed();
            }
            None => Decision::Deny(
                "no game master is there to approve it (--approve all allows every call)"
                    .to_owned(),
            ),
        };
        ready(decided).boxed()
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        if !self.can_ask() {
            return ready(None).boxed();
        }
        fill_in(Arc::clone(&self.typed), form).boxed()
    }
}

/// Asks the person at the terminal, and stores permanent decisions.
async fn decide(
    typed: Arc<Typed>,
    permits: Option<Arc<LocalPermits>>,
    request: ApprovalRequest,
) -> Decision {
    let decision = ask(&typed, &request).await;
    if let (Decision::Always, Some(permits)) = (&decision, permits)
        && request.may_be_waived
    {
        permits.allow(&request.tool, &request.definition);
    }
    decision
}

/// Shows a call to the person at the terminal.
async fn ask(typed: &Typed, request: &ApprovalRequest) -> Decision {
    let arguments = Value::Object(request.arguments.clone());
    let arguments = revealed_name(&arguments.to_string());
    let [npc, tool, reason] = [&*request.npc, &*request.tool, &*request.reason].map(revealed_name);
    complain(&format!("  ? {npc} wants {tool} {arguments} ({reason})"));
    let always = if request.may_be_waived { "a = always for this tool, " } else { "" };
    loop {
        complain(&format!("  ? y = yes, {always}n = no, or other arguments as a JSON object"));
        let Ok(Some(line)) = typed.next().await else {
            return Decision::Deny("no game master is there to approve it".to_owned());
        };
        match line.trim() {
            line if is_yes(line) => return Decision::Approve,
            "a" | "always" if !always.is_empty() => return Decision::Always,
            "n" | "no" | "nein" => return Decision::Deny("the game master said no".to_owned()),
            other => {
                if let Ok(Value::Object(edited)) = serde_json::from_str(other) {
                    return Decision::Edit(edited);
                }
            }
        }
    }
}

/// True if a typed line says yes, in English or German: both are spoken at tables.
pub fn is_yes(line: &str) -> bool {
    ["y", "yes", "j", "ja"].iter().any(|yes| line.trim().eq_ignore_ascii_case(yes))
}

/// Asks for each field of a server's form; an empty line takes the default.
async fn fill_in(typed: Arc<Typed>, form: Form) -> Option<Map<String, Value>> {
    let [server, message] = [&*form.server, &*form.message].map(revealed_name);
    complain(&format!("  ? {server} asks: {message} (ctrl-D declines)"));
    let mut answers = Map::new();
    let fields = form.schema.get("properties").and_then(Value::as_object).cloned();
    for (name, field) in fields.unwrap_or_default() {
        let label = field.get("title").or_else(|| field.get("description"));
        let label = label.and_then(Value::as_str).unwrap_or(&name);
        let default = field.get("default");
        let shown = default.map(|value| format!(" [{value}]")).unwrap_or_default();
        complain(&format!("  ? {}:", revealed_name(&format!("{label}{shown}"))));
        let line = typed.next().await.ok().flatten()?;
        match (line.trim(), default) {
            ("", Some(default)) => _ = answers.insert(name, default.clone()),
            ("", None) => {}
            (text, _) => _ = answers.insert(name, Value::from(text)),
        }
    }
    Some(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn line_that_is_too_long_is_left_out() {
        let typed = format!("one\r\n{}\ntwo\n{}", "x".repeat(LONGEST), "y".repeat(LONGEST));
        let mut keyboard = Keyboard::of(typed.as_bytes());
        assert_eq!(keyboard.next().await.unwrap().as_deref(), Some("one"));
        assert_eq!(keyboard.next().await.unwrap().as_deref(), Some("two"), "one byte too many");
        assert_eq!(keyboard.next().await.unwrap().map(|line| line.len()), Some(LONGEST));
        assert_eq!(keyboard.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn line_without_end_is_an_error_and_held_in_part() {
        let mut keyboard = Keyboard::of(tokio::io::repeat(b'x'));
        let why = keyboard.next().await.unwrap_err().to_string();
        assert_eq!(why, "standard input has no line end within 1 MiB (type lines)");
        assert_eq!(keyboard.begun.len(), LONGEST + 1);
    }
}
