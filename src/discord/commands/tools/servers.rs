//! `/tools servers` and `/tools server`. A server added on a Discord server is available only
//! there.

use serenity::all::CreateCommandOption;

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
    tools::{ServerKey, connection::State},
};

/// Longest name of a server or a category, in characters.
pub const NAME_MAX: u16 = 64;
/// Longest command line, address or token.
const WORDS_MAX: u16 = 1_000;
/// Most tool servers added by one guild.
const SERVERS_MAX: usize = 20;

pub fn register() -> CreateCommandOption {
    let name = |text| parts::words("name", text, NAME_MAX).required(true);
    let known = || name("Name of the server").set_autocomplete(true);
    group("server", "Add, remove or restart a tool server")
        .add_sub_option(
            parts::sub("add", "Connect a tool server (MCP): an address, or a program")
                .add_sub_option(name("Its name, and the prefix of its tools"))
                .add_sub_option(parts::words("url", "Its address (https://…/mcp)", WORDS_MAX))
                .add_sub_option(parts::words("token", "A token for the address", WORDS_MAX))
                .add_sub_option(parts::words("command", "A program and its arguments", WORDS_MAX)),
        )
        .add_sub_option(parts::sub("remove", "Remove a tool server").add_sub_option(known()))
        .add_sub_option(parts::sub("restart", "Reconnect a tool server").add_sub_option(known()))
        .add_sub_option(
            parts::sub("trust", "Accept the tools that a server lists now, including changed ones")
                .add_sub_option(known()),
        )
}

pub fn show(guild: &Guild) -> Reply {
    let handles = &guild.shared.handles;
    let all = handles.servers.status(guild.owner());
    let mut text: String = all
        .iter()
        .map(|status| format!("{} ({})\n", status.to_string().trim_end(), status.endpoint))
        .collect();
    for (name, added) in &guild.settings().servers {
        if all.iter().any(|status| status.name == *name && status.owner.is_some()) {
            text.push_str(&format!("{name}: added here with /tools server add\n"));
        } else {
            let why = handles.factory.server(name, added).err().map(|why| why.to_string());
            let why =
                why.unwrap_or_else(|| "a server in glyphoxa.yaml has the same name".to_owned());
            text.push_str(&format!("{name}: added here, but not connected: {why}\n"));
        }
    }
    if text.is_empty() {
        text = "none (/tools server add, or mcp.servers in glyphoxa.yaml)".to_owned();
    }
    Reply::private(format!("```\n{}\n```", text.trim_end().replace("```", "'''")))
        .titled("Tool servers")
}

/// Names of the connected or configured servers.
pub fn names(guild: &Guild) -> Vec<String> {
    let all = guild.shared.handles.servers.status(guild.owner());
    all.into_iter().map(|it| it.name).collect()
}

/// Adds a server for this guild alone; it connects in the background.
pub fn add(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let name = call.words("name")?;
    let given = |option| call.text(option).map(str::to_owned);
    let added = AddedServer { command: given("command"), url: given("url"), token: given("token") };
    if guild.settings().servers.contains_key(name) {
        return Err(taken(name).into());
    }
    if guild.settings().servers.len() >= SERVERS_MAX {
        return Err(format!(
            "this server already has {SERVERS_MAX} tool servers (use /tools server remove)"
        )
        .into());
    }
    let handles = guild.shared.handles.clone();
    let options = handles.factory.server(name, &added)?;
    handles.servers.add(guild.owner(), options)?;
    guild.change_settings(|settings| settings.servers.insert(name.to_owned(), added));
    Ok(Reply::private(format!(
        "Connecting '{name}' for this server only; /tools servers shows its state. NPCs use its \
         tools once you allow them: /tools allow NPC {name}.*"
    ))
    .into())
}

/// Removes a server that was added here.
pub fn remove(guild: &mut Guild, name: &str) -> Result<Answer, Refusal> {
    if !guild.settings().servers.contains_key(name) {
        return Err(match names(guild).iter().any(|it| it == name) {
            true => format!("'{name}' was not added here (it is in glyphoxa.yaml)"),
            false => unknown(name),
        }
        .into());
    }
    guild.change_settings(|settings| settings.servers.remove(name));
    guild.shared.handles.servers.remove(guild.owner(), name);
    Ok(Reply::private(format!("Removed '{name}'.")).into())
}

/// Reconnects a server that was added here, or an unhealthy shared one.
pub fn restart(guild: &Guild, name: &str) -> Result<Answer, Refusal> {
    let servers = &guild.shared.handles.servers;
    let all = servers.status(guild.owner());
    let server = all.iter().find(|it| it.name == name).ok_or_else(|| unknown(name))?;
    let has_others = guild.shared.shards > 1 || guild.shared.cache.guild_count() > 1;
    let is_shared = server.is_shared && has_others;
    if is_shared && server.state == State::Ready {
        return Err(format!(
            "'{name}' is connected and other servers use it too: you can restart it only while \
             it is failing (the bot's owner can restart it)"
        )
        .into());
    }
    servers.restart(guild.owner(), name)?;
    let whose = if server.is_shared { ", for every server I am on" } else { "" };
    Ok(Reply::private(format!("Reconnecting '{name}'{whose}.")).into())
}

/// Approves the current tools of a server that was added here.
pub fn trust(guild: &Guild, name: &str) -> Result<Answer, Refusal> {
    if !guild.settings().servers.contains_key(name) {
        return Err(format!(
            "'{name}' was not added here (the bot's owner accepts its tools: glyphoxa mcp trust \
             {name})"
        )
        .into());
    }
    let servers = guild.shared.handles.servers.clone();
    let server = ServerKey::added(guild.owner(), name);
    Ok(Answer::later(async move {
        match servers.approve(&server).await {
            Ok(tools) => {
                Reply::private(format!("Accepted from '{}': {}.", server.name, tools.join(", ")))
            }
            Err(why) => Reply::private(format!("{why} (/tools servers shows them)")),
        }
    }))
}

/// Refusal for an unknown server name.
fn unknown(name: &str) -> String {
    format!("unknown tool server '{name}' (/tools servers shows all)")
}

/// Refusal for a taken name.
fn taken(name: &str) -> String {
    format!("tool server '{name}' already exists (remove it first, or choose another name)")
}

/// Lines in columns, with notes below; no line can end the code block.
pub fn table(title: &str, lines: &[String], notes: &str) -> Reply {
    let lines = if lines.is_empty() { "nothing".to_owned() } else { lines.join("\n") };
    Reply::private(format!("```\n{}\n```{notes}", lines.replace("```", "'''"))).titled(title)
}
