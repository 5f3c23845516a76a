//! The terminal beside a table: what tools show, ask and want filled in.
//!
//! Entry types: [`TerminalEffects`], [`Typed`]. **Never**: answers for the game master without being told to.

use std::{io::IsTerminal, sync::Arc};

use clap::ValueEnum;
use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Stdin},
    sync::Mutex,
};

use super::{super::complain, permits::LocalPermits};
use crate::tools::{ApprovalRequest, Attachment, Decision, Effects, Form, revealed};

/// What is answered where nobody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approve {
    /// Approve every call.
    All,
    /// Deny every call.
    None,
}

/// Lines typed on a terminal, for whoever asks next.
pub struct Typed(Mutex<Keyboard>);

/// Standard input, and what has come of a line that is not whole yet.
struct Keyboard {
    stdin: BufReader<Stdin>,
    begun: Vec<u8>,
}

impl Typed {
    /// Lines of standard input.
    pub fn new() -> Arc<Self> {
        let stdin = BufReader::new(tokio::io::stdin());
        Arc::new(Self(Mutex::new(Keyboard { stdin, begun: Vec::new() })))
    }

    /// The next line; `None`: there are no more. Cancel safe.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub async fn next(&self) -> std::io::Result<Option<String>> {
        let Keyboard { stdin, begun } = &mut *self.0.lock().await;
        // What was read before somebody stopped waiting stays in `begun`.
        stdin.read_until(b'\n', begun).await?;
        if begun.is_empty() {
            return Ok(None);
        }
        let bytes = std::mem::take(begun);
        let line = text(&bytes);
        let line = line.strip_suffix('\n').unwrap_or(&line);
        Ok(Some(line.strip_suffix('\r').unwrap_or(line).to_owned()))
    }
}

/// A line as text. Bytes that are no UTF-8 come from a terminal that writes Latin-1, or by accident; no
/// evening ends for them.
fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let latin = |byte: &u8| Some(char::from(*byte)).filter(|char| !char.is_control());
        text.extend(chunk.invalid().iter().map(|byte| latin(byte).unwrap_or(' ')));
    }
    text
}

/// What tools reach at this table.
pub struct TerminalEffects {
    /// Shown lines are wanted.
    pub aloud: bool,
    /// What was decided beforehand; `None`: whoever types is asked.
    pub approve: Option<Approve>,
    /// Whoever types is the game master.
    pub is_dm: bool,
    /// Who is asked.
    pub typed: Arc<Typed>,
    /// What is asked only once; `None`: nothing.
    pub permits: Option<Arc<LocalPermits>>,
}

impl TerminalEffects {
    /// What tools of somebody who calls by hand reach.
    pub fn of_operator(aloud: bool) -> Self {
        Self { aloud, approve: None, is_dm: true, typed: Typed::new(), permits: None }
    }

    fn can_ask(&self) -> bool {
        self.aloud && std::io::stdin().is_terminal()
    }
}

impl Effects for TerminalEffects {
    fn show(&self, text: &str) {
        if self.aloud {
            complain(&format!("  * {text}"));
        }
    }

    fn attach(&self, tool: &str, attachment: &Attachment) {
        let size = attachment.bytes.len().div_ceil(1024);
        self.show(&format!("{tool} brought {}, {size} KiB", attachment.mime));
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
                "nobody is there to approve it (--approve all allows every call)".to_owned(),
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

/// Asks whoever sits at the terminal, and keeps what is decided for good.
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

/// Puts a call before whoever sits at the terminal.
async fn ask(typed: &Typed, request: &ApprovalRequest) -> Decision {
    let arguments = Value::Object(request.arguments.clone());
    let arguments = revealed(&arguments.to_string());
    let tool = revealed(&request.tool);
    complain(&format!("  ? {} wants {tool} {arguments} ({})", request.npc, request.reason));
    let always = if request.may_be_waived { "a = always for this tool, " } else { "" };
    loop {
        complain(&format!("  ? y = yes, {always}n = no, or other arguments as a JSON object"));
        let Ok(Some(line)) = typed.next().await else {
            return Decision::Deny("nobody is there to approve it".to_owned());
        };
        match line.trim() {
            "y" | "yes" | "j" | "ja" => return Decision::Approve,
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

/// Asks for each field of a server's form; an empty line takes the default.
async fn fill_in(typed: Arc<Typed>, form: Form) -> Option<Map<String, Value>> {
    complain(&format!("  ? {} asks: {} (ctrl-D declines)", form.server, form.message));
    let mut answers = Map::new();
    let fields = form.schema.get("properties").and_then(Value::as_object).cloned();
    for (name, field) in fields.unwrap_or_default() {
        let label = field.get("title").or_else(|| field.get("description"));
        let label = label.and_then(Value::as_str).unwrap_or(&name);
        let default = field.get("default");
        let shown = default.map(|value| format!(" [{value}]")).unwrap_or_default();
        complain(&format!("  ? {label}{shown}:"));
        let line = typed.next().await.ok().flatten()?;
        match (line.trim(), default) {
            ("", Some(default)) => _ = answers.insert(name, default.clone()),
            ("", None) => {}
            (text, _) => _ = answers.insert(name, Value::from(text)),
        }
    }
    Some(answers)
}
