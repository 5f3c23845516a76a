//! What waits for a decision of the game master: calls of tools, and questions of servers.
//!
//! Entry type: [`PendingDecisions`]; each request is a message with buttons. **Never**: lets anybody decide who
//! is no game master.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use serenity::all::{
    ButtonStyle, ChannelId, CreateActionRow, CreateAllowedMentions, CreateAttachment, CreateButton,
    CreateInputText, CreateMessage, CreateModal, EditMessage, InputTextStyle, Message, MessageId,
};
use tokio::sync::oneshot;

use crate::discord::{
    buttons::ButtonPress,
    commands::{Answer, Refusal},
    guild::task::{Guild, Job},
    ui::forms::{Question, short},
    ui::reply::Reply,
};
use crate::tools::{ApprovalRequest, Decision, Form};

/// Arguments longer than this are a file.
const ARGUMENTS_MAX: usize = 1_400;
/// Longest arguments that can be edited in a form.
const EDITED_MAX: u16 = 4_000;
/// Longest question of a server that is shown.
const QUESTION_MAX: usize = 1_500;
/// Said to whoever presses too late.
const OVER: &str = "this was decided already, or nobody decided in time";

/// Requests that wait, by their keys.
#[derive(Default)]
pub struct PendingDecisions {
    open: BTreeMap<String, Request>,
    count: u64,
}

/// One of them.
struct Request {
    text: String,
    message: Option<(ChannelId, MessageId)>,
    wants: Wants,
}

/// What is wanted.
enum Wants {
    /// Leave to call.
    Leave { arguments: Map<String, Value>, answer: oneshot::Sender<Decision> },
    /// An answer.
    Answer {
        server: String,
        question: Question,
        filled: Map<String, Value>,
        /// The form that is to be filled in next.
        page: usize,
        answer: oneshot::Sender<Map<String, Value>>,
    },
}

impl Request {
    /// Nobody waits for it any more.
    fn is_over(&self) -> bool {
        match &self.wants {
            Wants::Leave { answer, .. } => answer.is_closed(),
            Wants::Answer { answer, .. } => answer.is_closed(),
        }
    }

    /// Its text with what became of it.
    fn closed(&self, how: &str) -> String {
        format!("{}\n**{how}**", self.text)
    }

    fn rows(&self, key: &str) -> Vec<CreateActionRow> {
        let button = |what: &str, label: &str, style| {
            CreateButton::new(format!("desk:{what}:{key}")).label(label).style(style)
        };
        let buttons = match &self.wants {
            Wants::Leave { .. } => vec![
                button("approve", "Approve", ButtonStyle::Success),
                button("deny", "Deny", ButtonStyle::Danger),
                button("edit", "Edit", ButtonStyle::Secondary),
            ],
            Wants::Answer { question, page, .. } => {
                let (what, label) = match (question.pages(), page) {
                    (0, _) => ("accept", "Accept".to_owned()),
                    (1, _) => ("fill", "Fill in".to_owned()),
                    (all, page) => ("fill", format!("Fill in ({} of {all})", page + 1)),
                };
                vec![
                    button(what, &label, ButtonStyle::Primary),
                    button("decline", "Decline", ButtonStyle::Secondary),
                ]
            }
        };
        vec![CreateActionRow::Buttons(buttons)]
    }
}

impl Guild {
    /// Asks the game master whether a call may be made; nobody waits here for the answer.
    pub fn ask_leave(&mut self, request: ApprovalRequest, answer: oneshot::Sender<Decision>) {
        let ApprovalRequest { npc, tool, arguments, reason } = request;
        let shown = pretty(&arguments);
        let mut text = format!("**{npc}** wants to call `{tool}` ({reason}).");
        let mut file = None;
        if shown.chars().count() > ARGUMENTS_MAX {
            text.push_str(" What with is in the file.");
            file = Some(CreateAttachment::bytes(shown.into_bytes(), "arguments.json"));
        } else {
            text.push_str(&format!("\n```json\n{}\n```", unfenced(&shown)));
        }
        let wants = Wants::Leave { arguments, answer };
        self.put_on_desk(Request { text, message: None, wants }, file);
    }

    /// Puts a server's question to the game master; dropping `answer` declines.
    pub fn ask_form(&mut self, form: Form, answer: oneshot::Sender<Map<String, Value>>) {
        let Form { server, message, schema } = form;
        let question = match Question::of(&schema) {
            Ok(question) => question,
            Err(why) => {
                let note = format!("'{server}' asked something and was declined: {why}");
                return self.note(note);
            }
        };
        let asked = short(&unfenced(&message), QUESTION_MAX);
        let asked: String = asked.lines().map(|line| format!("\n> {line}")).collect();
        let text =
            format!("The tool server **{server}** asks (what you answer goes to it):{asked}");
        let (filled, page, server) = (Map::new(), 0, server.to_string());
        let wants = Wants::Answer { server, question, filled, page, answer };
        self.put_on_desk(Request { text, message: None, wants }, None);
    }

    fn put_on_desk(&mut self, request: Request, file: Option<CreateAttachment>) {
        let Ok(live) = self.session() else { return };
        let (session, text) = (live.session.clone(), live.text);
        // Keys of another session, or of another run of the program, are never the same.
        self.desk.count += 1;
        let key = format!("{session}.{}", self.desk.count);
        let message = CreateMessage::new()
            .content(request.text.clone())
            .files(file)
            .components(request.rows(&key))
            .allowed_mentions(CreateAllowedMentions::new());
        let log = self.settings.log_channel.map(ChannelId::new);
        let channels: Vec<ChannelId> = log.into_iter().chain([text]).collect();
        let http = self.shared.http.clone();
        self.desk.open.insert(key.clone(), request);
        self.spawn(async move {
            let mut sent = Err("there is no channel for it".to_owned());
            for channel in channels {
                sent = channel
                    .send_message(&http, message.clone())
                    .await
                    .map(|it: Message| (channel, it.id))
                    .map_err(|error| format!("<#{channel}>: {error}"));
                if sent.is_ok() {
                    break;
                }
            }
            Box::new(move |guild: &mut Self| guild.on_desk(&key, sent)) as Job
        });
    }

    /// The message of a request is there, or could not be sent.
    fn on_desk(&mut self, key: &str, sent: Result<(ChannelId, MessageId), String>) {
        match sent {
            Ok(message) => match self.desk.open.get_mut(key) {
                Some(request) => request.message = Some(message),
                // It was over before it stood there.
                None => self.rewrite(message, "**Expired**".to_owned()),
            },
            Err(why) => {
                // Whoever asked is told that nobody is there.
                self.desk.open.remove(key);
                self.note(format!("I could not ask you about a tool: {why} (let me write there)"));
            }
        }
    }

    /// Marks what nobody has decided in time.
    pub fn tidy_desk(&mut self) {
        let over = self.desk.open.extract_if(.., |_, request| request.is_over());
        let over = over.map(|(_, request)| request).collect();
        self.close_requests(over, "Expired");
    }

    /// The session is over: nothing can be decided any more.
    pub fn clear_desk(&mut self) {
        let all = std::mem::take(&mut self.desk.open);
        self.close_requests(all.into_values().collect(), "Expired: the session is over");
    }

    fn close_requests(&mut self, requests: Vec<Request>, how: &str) {
        for request in requests {
            if let Some(message) = request.message {
                self.rewrite(message, request.closed(how));
            }
        }
    }

    fn rewrite(&mut self, (channel, message): (ChannelId, MessageId), text: String) {
        let http = self.shared.http.clone();
        let edit = EditMessage::new()
            .content(text)
            .components(Vec::new())
            .allowed_mentions(CreateAllowedMentions::new());
        self.send(async move {
            if let Err(error) = channel.edit_message(&http, message, edit).await {
                tracing::warn!(%error, "a decided request was not marked");
            }
        });
    }

    /// Says something on the panel.
    fn note(&mut self, text: String) {
        if let Some(live) = self.session_mut() {
            live.panel.note(text);
        }
    }
}

/// A button of a request, or its form.
///
/// # Errors
/// It is a game master's to press, it is over, or what was filled in does not fit.
pub fn pressed(guild: &mut Guild, press: &ButtonPress, which: &str) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let (what, key) = which.split_once(':').unwrap_or((which, ""));
    let request = guild.desk.open.remove(key).ok_or(OVER)?;
    if request.is_over() {
        return Ok(Answer::Replace(Reply::public(request.closed("Expired"))));
    }
    match step(request, what, (key, press)) {
        Step::Done(answer) => Ok(answer),
        Step::Open(request, answer) => {
            guild.desk.open.insert(key.to_owned(), request);
            answer
        }
    }
}

/// What a press leads to.
enum Step {
    /// It is decided.
    Done(Answer),
    /// It still waits.
    Open(Request, Result<Answer, Refusal>),
}

fn step(request: Request, what: &str, (key, press): (&str, &ButtonPress)) -> Step {
    let Request { text, message, wants } = request;
    match wants {
        Wants::Leave { arguments, answer } => {
            let decision = match decision(what, press) {
                Ok(Some((decision, done))) => {
                    return decided(&text, answer.send(decision).is_err(), done, press);
                }
                Ok(None) => edit_form(&arguments, key),
                Err(why) => Err(why),
            };
            Step::Open(
                Request { text, message, wants: Wants::Leave { arguments, answer } },
                decision,
            )
        }
        Wants::Answer { server, question, mut filled, page, answer } => {
            match read_page((&question, page, &mut filled), what, press) {
                Read::Declined => decided(&text, answer.is_closed(), "Declined", press),
                Read::Whole => decided(&text, answer.send(filled).is_err(), "Answered", press),
                read => {
                    let is_read = matches!(read, Read::Page);
                    let id = format!("desk:filled-{page}:{key}");
                    let form = question.page(page, id, &server);
                    let page = if is_read { page + 1 } else { page };
                    let wants = Wants::Answer { server, question, filled, page, answer };
                    let request = Request { text, message, wants };
                    let next = match read {
                        Read::Wrong(why) => Err(why),
                        Read::Page => Ok(Answer::Replace(
                            Reply::public(request.text.clone()).with_rows(request.rows(key)),
                        )),
                        _ => Ok(Answer::Form(form)),
                    };
                    Step::Open(request, next)
                }
            }
        }
    }
}

/// What a press says about a call, and how that is called; `None`: the form is wanted.
fn decision(what: &str, press: &ButtonPress) -> Result<Option<(Decision, &'static str)>, Refusal> {
    Ok(match what {
        "approve" => Some((Decision::Approve, "Approved")),
        "deny" => Some((Decision::Deny("the game master said no".to_owned()), "Denied")),
        "edited" => Some((Decision::Edit(edited(press)?), "Edited and approved")),
        _ => None,
    })
}

/// What a press says about a server's question.
enum Read {
    /// The next form is wanted.
    Nothing,
    /// Not to be answered.
    Declined,
    /// One form of several was filled in.
    Page,
    /// All is filled in.
    Whole,
    /// It does not fit.
    Wrong(Refusal),
}

fn read_page(
    (question, page, filled): (&Question, usize, &mut Map<String, Value>),
    what: &str,
    press: &ButtonPress,
) -> Read {
    match what {
        "decline" => Read::Declined,
        "accept" => Read::Whole,
        _ if what == format!("filled-{page}") => match question.read(page, &press.values, filled) {
            Ok(()) if page + 1 >= question.pages() => Read::Whole,
            Ok(()) => Read::Page,
            Err(why) => Read::Wrong(why.into()),
        },
        _ if what.starts_with("filled-") => Read::Wrong(OVER.into()),
        _ => Read::Nothing,
    }
}

/// It is decided, or was too late.
fn decided(text: &str, is_late: bool, done: &str, press: &ButtonPress) -> Step {
    let how = if is_late { "Expired".to_owned() } else { format!("{done} by {}", press.name) };
    Step::Done(Answer::Replace(Reply::public(format!("{text}\n**{how}**"))))
}

/// The arguments as somebody has edited them.
fn edited(press: &ButtonPress) -> Result<Map<String, Value>, Refusal> {
    let text = press.values.first().map(String::as_str).unwrap_or_default();
    match serde_json::from_str(text) {
        Ok(Value::Object(edited)) => Ok(edited),
        Ok(_) => Err("the arguments are no JSON object (write them as { \"name\": value })".into()),
        Err(error) => Err(format!("the arguments are no JSON: {error} (press Edit again)").into()),
    }
}

/// A form with the arguments.
fn edit_form(arguments: &Map<String, Value>, key: &str) -> Result<Answer, Refusal> {
    let shown = pretty(arguments);
    if shown.chars().count() > usize::from(EDITED_MAX) {
        return Err("these arguments are too long to be edited here (approve or deny them)".into());
    }
    let input = CreateInputText::new(InputTextStyle::Paragraph, "Arguments as JSON", "arguments")
        .value(shown)
        .max_length(EDITED_MAX);
    let form = CreateModal::new(format!("desk:edited:{key}"), "Call it with other arguments");
    Ok(Answer::Form(form.components(vec![CreateActionRow::InputText(input)])))
}

fn pretty(arguments: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(arguments).unwrap_or_default()
}

/// `text` that cannot end the block it stands in.
fn unfenced(text: &str) -> String {
    text.replace("```", "`\u{200b}``")
}

#[cfg(test)]
mod tests;
