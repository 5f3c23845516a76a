//! Steps in which an NPC speaks; each ends with its line. Entry functions: [`say`], [`ask`].

use std::{future::pending, sync::Arc};

use super::context::{StepContext, failed, gone};
use crate::{
    campaign::ordered::{LineError, OrderedLine, QUESTION_MAX, framed_within, is_heard, unheard},
    domain::DATA_NOTE,
    logic::workflow::{
        look::Done,
        values::{Given, Piece, Words},
    },
    session::{Seated, TurnLine},
};

/// Makes an NPC say `text` verbatim.
pub async fn say(context: &StepContext, npc: &str, text: &Words) -> Result<Done, Done> {
    let seated = context.table()?.seat(npc).map_err(failed)?;
    let name = &seated.npc.name;
    if context.npc_starter() == Some(name.as_str()) {
        let why = "its answer is what it says (give it the text as a result)";
        return Err(failed(format!("{name} started this workflow: {why}")));
    }
    let line = ordered(context, seated)?.say(&text.text(), text.is_outside()).await;
    let line = reached(line).await?;
    ended(&line).map(|_| Done::NOTHING)
}

/// Makes an NPC answer `text`; the result is its answer, which a model wrote.
pub async fn ask(context: &StepContext, npc: &str, text: &Words) -> Result<Done, Done> {
    let seated = context.table()?.seat(npc).map_err(failed)?;
    let name = &seated.npc.name;
    if context.npc_starter() == Some(name.as_str()) {
        return Err(failed(format!("{name} started this workflow, and answers already")));
    }
    let line = ordered(context, seated)?.ask(&for_model(text)).await;
    let line = reached(line).await?;
    let value = ended(&line)?.into();
    Ok(Done::Result(Given { value, outside: true }))
}

fn ordered(context: &StepContext, seated: Seated) -> Result<OrderedLine<'_>, Done> {
    let (link, halts, speaker) = (context.table()?, context.halts, context.speaker());
    Ok(OrderedLine { link, halts, seated, speaker })
}

/// The line, or the outcome of a step without one.
async fn reached(line: Result<Arc<TurnLine>, LineError>) -> Result<Arc<TurnLine>, Done> {
    match line {
        Ok(line) => Ok(line),
        // The card cancels the run, and this step with it.
        Err(LineError::XCard) => pending().await,
        Err(LineError::Gone(why)) => Err(gone(why)),
        Err(why) => Err(failed(why)),
    }
}

/// Frames the pieces from outside, and shortens them: a prompt cuts the end off longer questions,
/// with the end of a frame.
fn for_model(words: &Words) -> String {
    let (others, own): (Vec<&Piece>, Vec<&Piece>) = words.0.iter().partition(|it| it.outside);
    let taken = own.iter().map(|it| it.text.chars().count()).sum::<usize>();
    let room = QUESTION_MAX.saturating_sub(taken) / others.len().max(1);
    let pieces = words.0.iter().map(|piece| match piece.outside {
        true => framed_within("workflow", &piece.text, room),
        false => piece.text.clone(),
    });
    let note = if words.is_outside() { DATA_NOTE } else { "" };
    pieces.collect::<String>() + note
}

/// The spoken words; fails with the reason if nothing was spoken.
fn ended(line: &TurnLine) -> Result<String, Done> {
    match is_heard(line) {
        true => Ok(line.reply.clone()),
        false => Err(failed(unheard(line))),
    }
}
