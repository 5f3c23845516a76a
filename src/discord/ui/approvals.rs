//! A waiting request as a message with buttons.
//!
//! Entry functions: [`message`], [`rows`], [`closed`]. **Never**: shows arguments that could end
//! their code block.

use serde_json::{Map, Value};
use serenity::all::{
    ButtonStyle, CreateActionRow, CreateAttachment, CreateButton, CreateMessage, CreateModal,
    EditMessage,
};

use crate::{
    discord::{
        decisions::{Asked, AskedQuestion, Outcome, short},
        ui::{
            action::{Action, DecisionStep},
            forms::{self, TextForm},
            names::escaped,
        },
    },
    domain::revealed,
    tools::ApprovalRequest,
};

/// Longer arguments, in characters, are sent as a file.
const ARGUMENTS_MAX: usize = 1_400;
const ALWAYS: &str = "Always for this tool";
/// File with arguments that are too long for a message.
const FILE: &str = "arguments.json";
/// Longest shown question of a server, in characters.
const QUESTION_MAX: usize = 1_500;

pub fn message(asked: &Asked, key: &str) -> CreateMessage {
    let file = match asked {
        Asked::Call(call) if !is_private(call) => {
            Some(pretty(&call.arguments)).filter(|it| is_long(it))
        }
        Asked::Call(_) | Asked::Question(_) => None,
    };
    CreateMessage::new()
        .content(text(asked))
        .files(file.map(|it| CreateAttachment::bytes(it.into_bytes(), FILE)))
        .components(rows(asked, key))
}

pub fn text(asked: &Asked) -> String {
    match asked {
        Asked::Call(asked @ ApprovalRequest { npc, tool, arguments, reason, .. }) => {
            let shown = pretty(arguments);
            let tool = revealed(tool).replace('`', "'");
            let call = format!("**{npc}** wants to call `{tool}` ({reason}).");
            match is_long(&shown) {
                _ if is_private(asked) => format!("{call} Press Edit to read what it shows."),
                true => format!(
                    "{call} Its arguments are too long for a message ({} characters): I don't \
                     show them here; the file `{FILE}` has all of them.",
                    shown.chars().count()
                ),
                false => format!("{call}\n```json\n{shown}\n```"),
            }
        }
        Asked::Question(AskedQuestion { server, message, .. }) => {
            let asked = short(&unfenced(&revealed(message)), QUESTION_MAX);
            let asked: String = asked.lines().map(|line| format!("\n> {line}")).collect();
            format!("The tool server **{server}** asks (it gets your answer):{asked}")
        }
    }
}

pub fn rows(asked: &Asked, key: &str) -> Vec<CreateActionRow> {
    let button = |step, label: &str, style| {
        let action = Action::Decision { key: key.to_owned(), step };
        CreateButton::new(action.id()).label(label).style(style)
    };
    let buttons = match asked {
        Asked::Call(call) => {
            let always = || button(DecisionStep::Always, ALWAYS, ButtonStyle::Secondary);
            let mut buttons = vec![
                button(DecisionStep::Approve, "Approve", ButtonStyle::Success),
                button(DecisionStep::Deny, "Deny", ButtonStyle::Danger),
                button(DecisionStep::Edit, "Edit", ButtonStyle::Secondary),
            ];
            buttons.extend(call.may_be_waived.then(always));
            buttons
        }
        Asked::Question(AskedQuestion { question, page, .. }) => {
            let (step, label) = match (question.pages(), page) {
                (0, _) => (DecisionStep::Accept, "Accept".to_owned()),
                (1, _) => (DecisionStep::Fill, "Fill in".to_owned()),
                (all, page) => (DecisionStep::Fill, format!("Fill in ({} of {all})", page + 1)),
            };
            vec![
                button(step, &label, ButtonStyle::Primary),
                button(DecisionStep::Decline, "Decline", ButtonStyle::Secondary),
            ]
        }
    };
    vec![CreateActionRow::Buttons(buttons)]
}

/// The form for the next step; `None`: the arguments are too long for one.
pub fn form(asked: &Asked, key: &str) -> Option<CreateModal> {
    let key = key.to_owned();
    match asked {
        Asked::Call(call) => forms::text(TextForm {
            id: Action::Decision { key, step: DecisionStep::Edited }.id(),
            title: "Call it with other arguments",
            label: "Arguments as JSON",
            field: "arguments",
            text: pretty(&call.arguments),
        }),
        Asked::Question(AskedQuestion { server, question, page, .. }) => {
            let id = Action::AnswerPage { key, page: *page }.id();
            Some(forms::question_page(question, *page, id, server))
        }
    }
}

/// An undecided request with the reason. Quotes no arguments: they may repeat deleted words.
pub fn closed(asked: &Asked, how: &str) -> String {
    match asked {
        Asked::Call(ApprovalRequest { npc, tool, .. }) => {
            let tool = revealed(tool).replace('`', "'");
            format!("**{npc}** wanted to call `{tool}`.\n**{how}**")
        }
        Asked::Question(AskedQuestion { server, .. }) => {
            format!("The tool server **{server}** had a question.\n**{how}**")
        }
    }
}

pub fn decided(asked: &Asked, outcome: Outcome, by: &str) -> String {
    let how = match outcome {
        Outcome::Approved => "Approved",
        Outcome::Denied => "Denied",
        Outcome::AlwaysApproved => {
            "Approved for good (see /tools permits; undo with /tools revoke)"
        }
        Outcome::Edited => "Edited and approved",
        Outcome::Completed => "Answered in place of the tool",
        Outcome::Answered => "Answered",
        Outcome::Declined => "Declined",
        Outcome::Expired => return closed(asked, "Expired"),
        Outcome::Withdrawn => return closed(asked, "Withdrawn"),
    };
    format!("{}\n**{how} by {}**", text(asked), escaped(by))
}

/// The closed message: `text` without buttons and files.
pub fn without_buttons(text: String) -> EditMessage {
    EditMessage::new().content(text).components(Vec::new()).remove_all_attachments()
}

/// Arguments as readable JSON, with invisible characters escaped and code fences broken.
fn pretty(arguments: &Map<String, Value>) -> String {
    let pretty = serde_json::to_string_pretty(arguments).unwrap_or_default();
    revealed(&pretty).replace('`', "\\u0060")
}

/// True if only game masters may see the arguments: players may read the channel.
fn is_private(call: &ApprovalRequest) -> bool {
    call.tool.starts_with("image-gen.")
}

fn is_long(arguments: &str) -> bool {
    arguments.chars().count() > ARGUMENTS_MAX
}

fn unfenced(text: &str) -> String {
    text.replace("```", "`\u{200b}``")
}
