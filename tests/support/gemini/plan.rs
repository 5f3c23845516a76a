//! Messages of a scripted answer.
//!
//! Entry type: [`Out`]; entry function: [`plan`].

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::support::voice_models::answer::{Answer, Ending, Part, Piece, flood, mixed};

/// A piece of an answer on its way.
#[derive(Clone, Debug)]
pub enum Out {
    /// Words; whether a piece of sound comes with them.
    Said(String, bool),
    /// Calls in one message, as id, name and arguments.
    Calls(Vec<(String, String, Value)>),
    /// The service's own transcript of an utterance.
    Understood(Value),
    /// A text or binary frame, as it is.
    Frame(String, bool),
    /// A piece again and again.
    Forever(Box<Self>),
    /// The end.
    Ends(Ending),
    /// The end of the turn of an answer that is whole, once it was played.
    Played,
}

impl Out {
    /// True if it is sound, once or again and again.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Said(_, has_sound) => *has_sound,
            Self::Forever(out) => out.is_sound(),
            _ => false,
        }
    }
}

/// The pieces of the answer `number` of the service.
pub fn plan(answer: &Answer, number: usize) -> VecDeque<Out> {
    let mut outs = VecDeque::new();
    if answer.is_strange {
        outs.extend(strange());
    }
    for (index, part) in answer.parts.iter().enumerate() {
        match part {
            Part::Say(text, seconds) => say(&mut outs, number, mixed(number, text, *seconds, true)),
            Part::Half(text, seconds) => {
                say(&mut outs, number, mixed(number, text, *seconds, false));
            }
            // A call that is not whole never comes.
            Part::Call(..) if answer.ending == Ending::TooLong => {}
            Part::Call(name, arguments) => {
                let call = (format!("call_{number}_{index}"), name.clone(), arguments.clone());
                match outs.back_mut() {
                    Some(Out::Calls(calls)) => calls.push(call),
                    _ => outs.push_back(Out::Calls(vec![call])),
                }
            }
            Part::Sound => {
                outs.push_back(Out::Forever(Box::new(Out::Said(String::new(), true))));
            }
            Part::Words => outs.push_back(Out::Forever(Box::new(Out::Said(flood(), false)))),
            Part::Huge(bytes) => {
                let remark = json!({"remark": {"text": "x".repeat(*bytes)}});
                outs.push_back(Out::Frame(remark.to_string(), true));
            }
        }
    }
    if answer.is_strange {
        outs.extend(strange());
    }
    outs.push_back(Out::Ends(answer.ending));
    outs
}

/// Takes the words out of a plan.
pub fn take_words(plan: &mut VecDeque<Out>) -> String {
    let words = |out: &mut Out| match out {
        Out::Said(words, _) => std::mem::take(words),
        _ => String::new(),
    };
    plan.iter_mut().map(words).collect()
}

/// Words and sound; each third answer has both in one message.
fn say(outs: &mut VecDeque<Out>, number: usize, pieces: Vec<Piece>) {
    for piece in pieces {
        match (piece, outs.back_mut()) {
            (Piece::Sound, Some(Out::Said(_, has_sound))) if number % 3 == 2 && !*has_sound => {
                *has_sound = true;
            }
            (Piece::Sound, _) => outs.push_back(Out::Said(String::new(), true)),
            (Piece::Words(words), _) => outs.push_back(Out::Said(words.to_owned(), false)),
        }
    }
}

/// Messages that a newer version of the service may send.
fn strange() -> Vec<Out> {
    let mood = json!({"mood": {"of": "the service"}}).to_string();
    let parts = json!([{"hologram": {}}, {"text": "I had better be brief.", "thought": true},
        {"inlineData": {"mimeType": "image/png", "data": ""}}]);
    let turn = json!({"serverContent": {"modelTurn": {"role": "narrator", "parts": parts},
        "scent": "stew", "interactionStatus": "SHIMMERING"}});
    let activity = json!({"voiceActivity": {"voiceActivityType": "ACTIVITY_HUM"},
        "usageMetadata": {"promptTokensDetails": [{"modality": "SCENT", "tokenCount": -1}]}});
    vec![
        Out::Frame(mood.clone(), true),
        Out::Frame(turn.to_string(), true),
        Out::Frame(activity.to_string(), true),
        Out::Frame("{}".to_owned(), true),
        Out::Frame("[]".to_owned(), true),
        Out::Frame(mood, false),
    ]
}
