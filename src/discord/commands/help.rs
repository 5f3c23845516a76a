//! `/help`: commands the caller may use.

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    command::{Call, Offer, Own, Who},
};
use crate::discord::{guild::Guild, ui::reply::Reply};

pub const COMMAND: Own =
    Own { name: "help", register, who: |_| Who::Everyone, run, complete: |_, _| Vec::new() };

fn register() -> CreateCommand {
    CreateCommand::new("help").description("Show the commands you can use here")
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let may = |offer: &Offer| match offer.who {
        Who::Everyone => true,
        Who::Dm => call.is_dm,
        Who::Manager => call.may.manage_guild(),
    };
    let mut text = String::new();
    for Offer { name, description, .. } in (call.offers)().into_iter().filter(may) {
        text.push_str(&format!("**/{name}** {description}\n"));
    }
    let names: Vec<String> = guild.cast().iter().map(|npc| npc.name.clone()).collect();
    text.push_str(&format!("\nTalk to {} by name in the voice channel.", names.join(", ")));
    Ok(Reply::private(text).titled("Commands you can use").into())
}
