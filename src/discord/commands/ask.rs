//! `/ask`: the assistant answers a question of the game master, in private.

use std::sync::Arc;

use futures::FutureExt;
use serenity::all::CreateCommand;

use super::{Answer, Call, Command, Refusal, Then, Who, parts};
use crate::{
    campaign::{AskError, AssistantQuestion, Written},
    discord::{
        commands::effects::{CommandEffects, Notes},
        guild::task::Guild,
        ui::reply::Reply,
    },
};

/// Longest question, in characters.
const QUESTION_MAX: u16 = 2_000;

/// `/ask`.
pub const COMMAND: Command =
    Command { name: "ask", register, who: |_| Who::Dm, run, complete: |_, _| Vec::new() };

fn register() -> CreateCommand {
    parts::command("ask", "Ask the assistant about rules, the campaign, or anything its tools know")
        .add_option(parts::words("text", "The question", QUESTION_MAX).required(true))
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let text = call.words("text")?.to_owned();
    let live = guild.session().ok();
    let session = live.map(|live| live.session.clone());
    let noting = CommandEffects::new(live.map(|live| Arc::clone(&live.face)));
    let question = AssistantQuestion { session, text: text.clone(), effects: noting.clone() };
    let asked = guild.shared.handles.assistant.ask(question);
    let work = async move {
        let written = asked.await;
        let reply = reply(&text, written, noting.take());
        Box::new(move |_: &mut Guild| reply) as Then
    };
    Ok(Answer::Later { public: false, work: work.boxed() })
}

fn reply(question: &str, written: Result<Written, AskError>, notes: Notes) -> Reply {
    let Written { text, tools } = match written {
        Ok(written) => written,
        Err(why) => return Reply::private(why.to_string()),
    };
    let mut lines = vec![format!("> {}", question.replace('\n', "\n> ")), text];
    lines.extend(notes.lines);
    if !tools.is_empty() {
        lines.push(format!("-# used: {}", tools.join(", ")));
    }
    let reply = Reply::private(lines.join("\n"));
    notes.files.into_iter().fold(reply, |reply, (name, bytes)| reply.with_file(name, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_names_the_tools_it_used() {
        let written = Written {
            text: "8d6 fire damage.".to_owned(),
            tools: vec!["rules-lookup.get_rule".to_owned()],
        };
        let notes = Notes { lines: vec!["Assistant rolls".to_owned()], files: Vec::new() };
        let reply = reply("what does\nfireball do?", Ok(written), notes);
        let expected = "> what does\n> fireball do?\n8d6 fire damage.\nAssistant rolls\n\
                        -# used: rules-lookup.get_rule";
        assert_eq!(reply.text(), expected);
    }
}
