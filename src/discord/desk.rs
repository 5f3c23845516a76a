//! What waits for a decision of the game master: calls of tools, and questions of servers.
//!
//! Entry type: [`Desk`]; each request is a message with buttons. **Never**: lets anybody decide who
//! is no game master.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use serenity::all::{
    ButtonStyle, ChannelId, CreateActionRow, CreateAllowedMentions, CreateAttachment, CreateButton,
    CreateInputText, CreateMessage, CreateModal, EditMessage, InputTextStyle, Message, MessageId,
};
use tokio::sync::oneshot;

use super::{
    buttons::Press,
    commands::{Answer, Refusal},
    forms::{Question, short},
    guild::{Guild, Job},
    reply::Reply,
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
pub struct Desk {
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
        let Ok(live) = self.live() else { return };
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
        if let Some(live) = self.live_mut() {
            live.panel.note(text);
        }
    }
}

/// A button of a request, or its form.
///
/// # Errors
/// It is a game master's to press, it is over, or what was filled in does not fit.
pub fn pressed(guild: &mut Guild, press: &Press, which: &str) -> Result<Answer, Refusal> {
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

fn step(request: Request, what: &str, of: (&str, &Press)) -> Step {
    let Request { text, message, wants } = request;
    match wants {
        Wants::Leave { arguments, answer } => {
            let decision = match what {
                "approve" => Ok(Some((Decision::Approve, "Approved"))),
                "deny" => {
                    Ok(Some((Decision::Deny("the game master said no".to_owned()), "Denied")))
                }
                "edited" => {
                    edited(of.1).map(|it| Some((Decision::Edit(it), "Edited and approved")))
                }
                _ => Ok(None),
            };
            let open = |answer| Request {
                text: text.clone(),
                message,
                wants: Wants::Leave { arguments: arguments.clone(), answer },
            };
            match decision {
                Ok(Some((decision, done))) => {
                    let is_late = answer.send(decision).is_err();
                    decided(&text, is_late, done, of.1)
                }
                Ok(None) => Step::Open(open(answer), edit_form(&arguments, of.0)),
                Err(why) => Step::Open(open(answer), Err(why)),
            }
        }
        Wants::Answer { server, question, mut filled, page, answer } => {
            let read = match what {
                "decline" => return decided(&text, answer.is_closed(), "Declined", of.1),
                "accept" => Ok(true),
                _ if what == format!("filled-{page}") => question
                    .read(page, &of.1.values, &mut filled)
                    .map(|()| page + 1 >= question.pages())
                    .map_err(|why| Err(why.into())),
                _ if what.starts_with("filled-") => Err(Err(OVER.into())),
                _ => {
                    let id = format!("desk:filled-{page}:{}", of.0);
                    Err(Ok(Answer::Form(question.page(page, id, &server))))
                }
            };
            if read.as_ref().is_ok_and(|is_whole| *is_whole) {
                return decided(&text, answer.send(filled).is_err(), "Answered", of.1);
            }
            let page = if read.is_ok() { page + 1 } else { page };
            let wants = Wants::Answer { server, question, filled, page, answer };
            let request = Request { text, message, wants };
            let next = Reply::public(request.text.clone()).with_rows(request.rows(of.0));
            Step::Open(request, read.map_or_else(|other| other, |_| Ok(Answer::Replace(next))))
        }
    }
}

/// It is decided, or was too late.
fn decided(text: &str, is_late: bool, done: &str, press: &Press) -> Step {
    let how = if is_late { "Expired".to_owned() } else { format!("{done} by {}", press.name) };
    Step::Done(Answer::Replace(Reply::public(format!("{text}\n**{how}**"))))
}

/// The arguments as somebody has edited them.
fn edited(press: &Press) -> Result<Map<String, Value>, Refusal> {
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
mod tests {
    use serde_json::json;
    use serenity::all::{Permissions, UserId};

    use super::*;

    fn press(values: &[&str]) -> Press {
        Press {
            user: UserId::new(7),
            name: "Dora".to_owned(),
            is_dm: true,
            may: Permissions::empty(),
            channel: ChannelId::new(1),
            id: String::new(),
            values: values.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    fn leave() -> (Request, oneshot::Receiver<Decision>) {
        let (answer, answered) = oneshot::channel();
        let arguments = json!({"on": true}).as_object().cloned().unwrap();
        let wants = Wants::Leave { arguments, answer };
        (Request { text: "Bartok wants it".to_owned(), message: None, wants }, answered)
    }

    /// The new text of a decided request.
    fn text(step: Step) -> String {
        match step {
            Step::Done(Answer::Replace(reply)) => reply.text().to_owned(),
            _ => panic!("it still waits"),
        }
    }

    #[test]
    fn a_call_is_approved_denied_or_edited_and_it_says_by_whom() {
        let (request, mut answered) = leave();
        let done = text(step(request, "approve", ("k", &press(&[]))));
        assert_eq!(done, "Bartok wants it\n**Approved by Dora**");
        assert_eq!(answered.try_recv(), Ok(Decision::Approve));
        let (request, mut answered) = leave();
        assert!(text(step(request, "deny", ("k", &press(&[])))).contains("Denied by Dora"));
        assert!(matches!(answered.try_recv(), Ok(Decision::Deny(_))));
        let (request, mut answered) = leave();
        let edited = press(&[r#"{"on": false}"#]);
        assert!(text(step(request, "edited", ("k", &edited))).contains("Edited and approved"));
        let expected = json!({"on": false}).as_object().cloned().unwrap();
        assert_eq!(answered.try_recv(), Ok(Decision::Edit(expected)));
    }

    #[test]
    fn arguments_that_are_no_json_leave_the_request_open() {
        let (request, mut answered) = leave();
        let Step::Open(request, Err(Refusal(why))) =
            step(request, "edited", ("k", &press(&["on = no"])))
        else {
            panic!("it was taken")
        };
        assert!(why.contains("no JSON"), "{why}");
        assert!(!request.is_over());
        assert_eq!(answered.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        let form = step(request, "edit", ("k", &press(&[])));
        assert!(matches!(form, Step::Open(_, Ok(Answer::Form(_)))));
    }

    #[test]
    fn a_decision_that_comes_too_late_is_none() {
        let (request, answered) = leave();
        drop(answered);
        assert!(request.is_over());
        assert!(text(step(request, "approve", ("k", &press(&[])))).contains("Expired"));
    }

    #[test]
    fn a_long_question_is_filled_in_form_by_form() {
        let properties: Map<String, Value> =
            (0..6).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
        let question = Question::of(&json!({ "properties": properties })).unwrap();
        let (answer, mut answered) = oneshot::channel();
        let (server, filled) = ("home".to_owned(), Map::new());
        let wants = Wants::Answer { server, question, filled, page: 0, answer };
        let request = Request { text: "home asks".to_owned(), message: None, wants };
        let first = press(&["a", "b", "c", "d", "e"]);
        let Step::Open(request, Ok(Answer::Replace(_))) = step(request, "filled-0", ("k", &first))
        else {
            panic!("one form was enough")
        };
        // The first form once more, by somebody who was slower.
        let Step::Open(request, Err(_)) = step(request, "filled-0", ("k", &first)) else {
            panic!("a form was taken twice")
        };
        assert!(
            text(step(request, "filled-1", ("k", &press(&["f"])))).contains("Answered by Dora")
        );
        assert_eq!(answered.try_recv().unwrap().len(), 6);
    }
}
