//! `/tools servers` and `/tools server`: where tools come from; the same for every server of
//! Discord the bot is on.

use serenity::all::CreateCommandOption;

use super::shown::NAME_MAX;
use crate::{
    campaign::AddedServer,
    discord::{
        commands::{
            answer::{Answer, Refusal},
            command::Call,
            parts::{self, group},
        },
        guild::Guild,
        ui::reply::Reply,
    },
};

/// Longest command line, address or token.
const WORDS_MAX: u16 = 1_000;

/// `/tools server`.
pub fn register() -> CreateCommandOption {
    let name = |text| parts::words("name", text, NAME_MAX).required(true);
    let known = || name("Which").set_autocomplete(true);
    group("server", "Add, remove or restart a tool server")
        .add_sub_option(
            parts::sub("add", "Connect a tool server (MCP): an address, or a program")
                .add_sub_option(name("What its tools' names begin with"))
                .add_sub_option(parts::words("url", "Its address (https://…/mcp)", WORDS_MAX))
                .add_sub_option(parts::words("token", "A token for the address", WORDS_MAX))
                .add_sub_option(parts::words("command", "A program and its arguments", WORDS_MAX)),
        )
        .add_sub_option(parts::sub("remove", "Take one away again").add_sub_option(known()))
        .add_sub_option(parts::sub("restart", "Connect one anew").add_sub_option(known()))
        .add_sub_option(
            parts::sub("trust", "Accept the tools that one lists now, changed ones included")
                .add_sub_option(known()),
        )
}

/// How all servers stand.
pub fn show(guild: &Guild) -> Reply {
    let handles = &guild.shared.handles;
    let all = handles.servers.status();
    let mut text: String = all
        .iter()
        .map(|status| format!("{} ({})\n", status.to_string().trim_end(), status.endpoint))
        .collect();
    for (name, added) in &guild.settings().servers {
        if all.iter().any(|status| status.name == *name) {
            text.push_str(&format!("{name}: added here with /tools server add\n"));
        } else {
            let why = handles.factory.server(name, added).err().map(|why| why.to_string());
            let why = why.unwrap_or_else(|| "another server has its name".to_owned());
            text.push_str(&format!("{name}: added here, and not there: {why}\n"));
        }
    }
    if text.is_empty() {
        text = "none (/tools server add, or mcp.servers in glyphoxa.yaml)".to_owned();
    }
    Reply::private(format!("```\n{}\n```", text.trim_end().replace("```", "'''")))
        .titled("Tool servers")
}

/// Adds a server; it connects in the background.
///
/// # Errors
/// What is wrong with it, or its name is taken.
pub fn add(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let name = call.words("name")?;
    let given = |option| call.text(option).map(str::to_owned);
    let added = AddedServer { command: given("command"), url: given("url"), token: given("token") };
    if guild.settings().servers.contains_key(name) {
        return Err(taken(name).into());
    }
    let handles = guild.shared.handles.clone();
    let options = handles.factory.server(name, &added)?;
    handles.servers.add(options)?;
    guild.change_settings(|settings| settings.servers.insert(name.to_owned(), added));
    Ok(Reply::private(format!(
        "'{name}' is being connected, for every server I am on; /tools servers shows how it \
         stands. NPCs use its tools once you allow them: /tools allow NPC {name}.*"
    ))
    .into())
}

/// Takes away a server that was added here.
///
/// # Errors
/// It was not.
pub fn remove(guild: &mut Guild, name: &str) -> Result<Answer, Refusal> {
    let handles = guild.shared.handles.clone();
    if !guild.settings().servers.contains_key(name) {
        let is_there = handles.servers.status().iter().any(|it| it.name == name);
        return Err(match is_there {
            true => format!(
                "'{name}' was not added here (it is in glyphoxa.yaml, or was added \
                             on another server)"
            ),
            false => format!("there is no server '{name}' (/tools servers shows them)"),
        }
        .into());
    }
    guild.change_settings(|settings| settings.servers.remove(name));
    handles.servers.remove(name);
    Ok(Reply::private(format!("'{name}' is gone, on every server I am on.")).into())
}

/// Has a server connected anew.
///
/// # Errors
/// There is no such server.
pub fn restart(guild: &Guild, name: &str) -> Result<Answer, Refusal> {
    let restarted = guild.shared.handles.servers.restart(name);
    restarted.map_err(|why| format!("{why} (/tools servers shows them)"))?;
    let text = format!("'{name}' is being connected anew, for every server I am on.");
    Ok(Reply::private(text).into())
}

/// Accepts what a server that was added here lists now.
///
/// # Errors
/// It was not added here, and game masters are not trusted with others.
pub fn trust(guild: &Guild, name: &str) -> Result<Answer, Refusal> {
    if !guild.settings().servers.contains_key(name) {
        return Err(format!(
            "'{name}' was not added here (whoever runs me accepts its tools: glyphoxa mcp trust \
             {name})"
        )
        .into());
    }
    let (servers, name) = (guild.shared.handles.servers.clone(), name.to_owned());
    Ok(Answer::later(async move {
        match servers.approve(&name).await {
            Ok(tools) => Reply::private(format!("Accepted of '{name}': {}.", tools.join(", "))),
            Err(why) => Reply::private(format!("{why} (/tools servers shows them)")),
        }
    }))
}

/// Said when a name is taken.
fn taken(name: &str) -> String {
    format!("there is a server '{name}' already (remove it first, or choose another name)")
}
