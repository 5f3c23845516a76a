//! `/ask`: the assistant answers a question of the game master, in private.

use super::{
    answer::Answer,
    declared::{Command, Kind, Parameter, Subcommand},
};

/// Longest question, in characters.
const QUESTION_MAX: u16 = 2_000;
const DESCRIPTION: &str = "Ask the assistant about rules, the campaign, or anything its tools know";

pub static COMMAND: Command = Command {
    name: "ask",
    description: DESCRIPTION,
    subs: &[Subcommand::new(
        "ask",
        DESCRIPTION,
        &[Parameter::required("text", "The question", Kind::Words(QUESTION_MAX))],
        |_, call| Ok(Answer::Ask(call.words("text")?.to_owned())),
    )],
};
