//! Typed commands of a page. Entry function: [`carry_out`].

use std::sync::Arc;

use futures::{FutureExt, future::ready};

use super::{face::PageFace, table::RehearsalTable};
use crate::{
    campaign::{AssistantQuestion, SentFile, ToolDecisions},
    commands::{
        self, Answer, Finders, GivenFile, NextStep, Piece, Refusal, Reply, Text, seat_line,
    },
    domain::redact,
    session::SpeakerId,
};

/// Characters of a file that a page shows.
const SHOWN_MAX: usize = 20_000;
const CLOSED: &str = "the table is closed (start glyphoxa rehearse again)";

/// Carries out the command `line` and returns its answer, without credentials; false: it was
/// refused. Orders are sent before it waits for anything.
pub async fn carry_out(mut face: PageFace, line: &str) -> (String, bool) {
    let begun = begin(&mut face, line);
    let (text, ok) = match answer(face, begun).await {
        Ok(text) => (text, true),
        Err(Refusal(why)) => (why, false),
    };
    (redact::known(&text).into_owned(), ok)
}

fn begin(face: &mut PageFace, line: &str) -> Result<Answer, Refusal> {
    let audience = face.table.audience.clone();
    let person = |name: &str| audience.named(name);
    let found = Finders { person: &person, file: &no_file };
    let read = commands::read(&commands::ALL, line, face.player.clone(), found);
    let (sub, call) = read.ok_or("a command begins with a slash: /npc mute NAME")??;
    if !sub.may(&call) {
        return Err(format!("only the game master may /{}", sub.path).into());
    }
    sub.carry_out(face, &call)
}

async fn answer(
    mut face: PageFace,
    mut answer: Result<Answer, Refusal>,
) -> Result<String, Refusal> {
    loop {
        let orders = std::mem::take(&mut face.orders);
        let has_orders = !orders.is_empty();
        for order in orders {
            if !face.table.order(order).await {
                return Err(CLOSED.into());
            }
        }
        answer = match answer? {
            Answer::Soon(work) => {
                let next = work.await;
                next(&mut face)
            }
            Answer::Later(work) => {
                let then = work.await;
                then(&mut face).map(Answer::Now)
            }
            Answer::Ask(question) => return asked(&face.table, question).await,
            Answer::Now(reply) => {
                if has_orders && face.table.status().await.is_none() {
                    return Err(CLOSED.into());
                }
                return Ok(shown(&face.table, &reply));
            }
        };
    }
}

/// The assistant's words.
async fn asked(table: &RehearsalTable, text: String) -> Result<String, Refusal> {
    let RehearsalTable { handles, scope, link, .. } = table;
    let question = AssistantQuestion {
        scope: scope.clone(),
        session: Some(link.session.clone()),
        decided: ToolDecisions::default(),
        text,
        effects: Arc::clone(&link.effects),
    };
    Ok(handles.assistant.ask(question).await?.text)
}

/// Pages hand over no files: what they name is not theirs to read.
fn no_file(name: &str) -> GivenFile {
    GivenFile::new(name, None, || {
        let why = "a page gives no files (use glyphoxa import, or glyphoxa ask)";
        ready(Err(Refusal(why.to_owned()))).boxed()
    })
}

fn shown(table: &RehearsalTable, reply: &Reply) -> String {
    let Reply { text, status, next_step, file, .. } = reply;
    let mut lines = vec![rendered(table, text)];
    if let (Some(status), true) = (status, lines.iter().all(String::is_empty)) {
        lines.push(status.state.to_string());
        lines.extend(status.seats.iter().map(|seat| rendered(table, &seat_line(seat))));
    }
    let step = next_step.as_ref();
    lines.extend(step.and_then(NextStep::line).map(|line| format!("{line} does it")));
    let secrets = step.and_then(NextStep::line_with_secrets);
    lines.extend(secrets.map(|line| format!("{line} also lets the NPC know its secrets")));
    if let Some(SentFile { name, bytes }) = file {
        lines.push(format!("{name}:"));
        lines.push(String::from_utf8_lossy(bytes).chars().take(SHOWN_MAX).collect());
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn rendered(table: &RehearsalTable, text: &Text) -> String {
    let name = |id: SpeakerId| table.audience.name(id).unwrap_or_else(|| "somebody".to_owned());
    text.rendered(|piece| match piece {
        Piece::Plain(words) | Piece::Strong(words) | Piece::Others(words) => words.clone(),
        Piece::Person(id) => name(*id),
        Piece::Marked(words) => words.replace("**", ""),
    })
}
