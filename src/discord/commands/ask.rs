//! `/ask`: the assistant answers the game master in private.
//!
//! Entry function: [`ask`].

use super::{
    answer::Answer,
    effects::{CommandEffects, Notes},
};
use crate::{
    campaign::{AssistantQuestion, Written},
    discord::{guild::Guild, ui::reply::Reply},
};

pub fn ask(guild: &Guild, text: String) -> Answer {
    let effects = CommandEffects::new(guild);
    let session = guild.session().ok().map(|session| session.id.clone());
    let question = AssistantQuestion {
        scope: guild.scope(),
        session,
        decided: guild.decided_tools(),
        text: text.clone(),
        effects: effects.clone(),
    };
    let asked = guild.shared.handles.assistant.ask(question);
    Answer::later(async move {
        match asked.await {
            Ok(written) => {
                effects.late_results(written.pending).await;
                reply(&text, written, effects.take())
            }
            Err(why) => Reply::private(why.to_string()),
        }
    })
}

fn reply(question: &str, written: Written, notes: Notes) -> Reply {
    let Written { text, tools, .. } = written;
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
    fn answer_names_the_tools_it_used() {
        let written = Written {
            text: "8d6 fire damage.".to_owned(),
            tools: vec!["rules-lookup.get_rule".to_owned()],
            pending: 0,
        };
        let notes = Notes { lines: vec!["Assistant rolls".to_owned()], files: Vec::new() };
        let reply = reply("what does\nfireball do?", written, notes);
        let expected = "> what does\n> fireball do?\n8d6 fire damage.\nAssistant rolls\n\
                        -# used: rules-lookup.get_rule";
        assert_eq!(reply.text(), expected);
    }
}
