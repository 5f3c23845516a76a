//! `/help`: what the caller may use.

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    command::{Call, Command, Who},
};
use crate::discord::{guild::Guild, ui::reply::Reply};

/// `/help`.
pub const COMMAND: Command =
    Command { name: "help", register, who: |_| Who::Everyone, run, complete: |_, _| Vec::new() };

fn register() -> CreateCommand {
    CreateCommand::new("help").description("Show the commands you can use here")
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let may = |command: &&Command| match (command.who)("") {
        Who::Everyone => true,
        Who::Dm => call.is_dm,
        Who::Manager => call.may.manage_guild(),
    };
    let mut text = String::new();
    for command in call.all.iter().filter(may) {
        let described = serde_json::to_value((command.register)()).unwrap_or_default();
        let description = described["description"].as_str().unwrap_or_default();
        text.push_str(&format!("**/{}** {description}\n", command.name));
    }
    let names: Vec<String> = guild.cast().iter().map(|npc| npc.name.clone()).collect();
    text.push_str(&format!("\nTalk to {} by name in the voice channel.", names.join(", ")));
    Ok(Reply::private(text).titled("Commands you can use").into())
}
