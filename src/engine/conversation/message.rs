//! A turn's own message: the utterance with the facts of the moment.
//!
//! Entry function: [`message`]. Game facts, the stage note and memories appear only here, so they
//! never enter the history.

use crate::{
    domain::{Message, Said},
    engine::{Cause, Turn},
    logic::prompt::{self, TurnMessage},
};

/// The turn's message, once the memory lookup is done. Cancel safe.
pub async fn message(turn: &Turn) -> Message {
    Message::User(text(turn, turn.words()).await.into())
}

/// Like [`message`], as text; without the words if the model receives their sound. Cancel safe.
pub async fn message_beside_sound(turn: &Turn) -> String {
    let words = if turn.audio.is_empty() { turn.words() } else { prompt::HEARD_ITSELF };
    text(turn, words).await
}

async fn text(turn: &Turn, utterance: &str) -> String {
    let recalled = match turn.recall.clone() {
        Some(recall) => Some(recall.await),
        None => None,
    };
    prompt::turn_message(&TurnMessage {
        speaker: &turn.facts.speaker,
        utterance,
        dice: turn.facts.dice.as_deref(),
        side_lines: &turn.conversation.side_lines,
        scene: turn.setting.scene.as_deref(),
        time_of_day: turn.setting.time_of_day.as_deref(),
        recalled: recalled.as_ref(),
        note: turn.setting.note.as_deref(),
        is_follow_up: matches!(turn.cause, Cause::FollowUp(_)),
    })
}

/// The utterance as the conversation stores it.
pub fn said(turn: &Turn) -> Said {
    let text = match &turn.cause {
        Cause::FollowUp(_) => prompt::FOLLOW_UP.to_owned(),
        Cause::Utterance | Cause::Puppet(_) => {
            format!("{}: {}", turn.facts.speaker, turn.words())
        }
    };
    Said { text, by: turn.facts.by.clone() }
}
