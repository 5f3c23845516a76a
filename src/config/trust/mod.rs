//! What a folder makes the program do beyond reading it: collected while it is read, agreed to elsewhere.
//!
//! A game master takes a campaign folder for text, like a module. Each thing that is more than text becomes a
//! [`Demand`]: programs it starts, paths beyond the folder, addresses that get what is said at the table, and
//! variables of the environment that leave this machine.
//!
//! Entry function: [`demands`]. **Never**: asks, or starts anything.

use std::{collections::BTreeSet, path::Path};

use super::{
    checked::Config,
    demands::{Demand, Use},
    destinations::{Destination, home_of, is_one_variable, to_receiver, variables},
    keys,
    mcp::Written,
    memory::MemoryPlace,
    outside::Outside,
    programs,
    reading::Reading,
};
use crate::{
    tools::connection::Reach,
    yaml::{Fields, Node, Value},
};

/// Words said at a table, and its sound.
const TALK: &str = "what is said at the table";
/// Keys whose texts NPCs know.
const TEXTS: [&[&str]; 4] = [&["npcs"], &["assistant"], &["lines_and_veils"], &["tools", "tables"]];
/// Addresses of a server, and what each gets.
const ADDRESSES: [(&[&str], &str); 4] = [
    (&["url"], "what NPCs ask of it"),
    (&["auth", "oauth", "issuer"], "its credentials"),
    (&["auth", "oauth", "token_url"], "its credentials"),
    (&["auth", "login", "issuer"], "your login"),
];

/// The demands of the checked file `root` in `folder`, which was read as `config`; each once.
pub fn demands(root: &Node, config: &Config, folder: &Path, reading: &Reading) -> Vec<Demand> {
    let outside = Outside::of(folder);
    let mut all = servers(root, config, &outside);
    all.extend(services(root));
    all.extend(reading.demands.iter().cloned());
    all.extend(remembering(root, config));
    all.extend(discord(root, config));
    all.extend(outside.demands(root, config, reading));
    all.extend(texts(root, reading));
    all.extend(downloads(root));
    let mut once: Vec<Demand> = Vec::new();
    for demand in all {
        if !once.contains(&demand) {
            once.push(demand);
        }
    }
    once
}

/// Programs that are started, what they may reach, and servers elsewhere.
fn servers(root: &Node, config: &Config, outside: &Outside) -> Vec<Demand> {
    let written = Written::all(&Fields::new(root, &keys::app::FILE));
    let mut found = Vec::new();
    for (written, server) in written.iter().zip(&config.mcp.servers) {
        let (node, name) = (written.fields.node(), &*server.name);
        match &server.reach {
            Reach::Stdio { command, folder, sandbox, .. } => {
                found.push(programs::started(name, node, command, folder.as_deref()));
                found.extend(outside.opened(name, sandbox));
            }
            Reach::Http { .. } => found.extend(elsewhere(name, node)),
        }
    }
    found
}

/// Addresses of the server in `node`.
fn elsewhere(name: &str, node: &Node) -> Vec<Demand> {
    let destination = |&(path, gets): &(&[&str], &'static str)| {
        let url = node.inside(path).filter(|url| url.text().is_some())?;
        let sent = if path.len() == 1 { Some(node) } else { node.inside(&["auth"]) };
        let (place, sent) = (format!("server '{name}'"), sent.into_iter().collect());
        Some(Destination { place, gets, url: Some(url), home: "", sent })
    };
    let found = ADDRESSES.iter().filter_map(destination);
    found.flat_map(|destination| destination.demands()).collect()
}

/// Services under `providers`, the embedder, and who hears of calls that wait.
fn services(root: &Node) -> Vec<Demand> {
    let providers = root.inside(&["providers"]).map(Node::entries).unwrap_or_default().iter();
    let listed = providers.flat_map(|entry| {
        let place = format!("providers.{}", entry.key);
        members(&entry.node).iter().map(move |node| (place.clone(), node))
    });
    let embedder = root.inside(&["tools", "selection", "embedder"]);
    let embedder = embedder.map(|node| ("tools.selection.embedder".to_owned(), node));
    let mut found: Vec<Demand> = listed
        .chain(embedder)
        .filter(|(_, node)| matches!(node.value, Value::Map(_)))
        .flat_map(|(place, node)| service(place, node).demands())
        .collect();
    if let Some(url) = root.inside(&["tools", "approvals", "notify", "url"]) {
        let place = "tools.approvals.notify".to_owned();
        let gets = "word of calls that wait";
        let notified = Destination { place, gets, url: Some(url), home: "", sent: vec![url] };
        found.extend(notified.demands());
    }
    found
}

/// The receiver that the settings in `node` describe.
fn service(place: String, node: &Node) -> Destination<'_> {
    let text = |key| node.inside(&[key]).and_then(Node::text);
    let name = text("service").or_else(|| text("name")).unwrap_or_default();
    let url = node.inside(&["base_url"]).filter(|url| url.text().is_some());
    Destination { place, gets: TALK, url, home: home_of(name), sent: vec![node] }
}

/// A database on another machine.
fn remembering(root: &Node, config: &Config) -> Vec<Demand> {
    let MemoryPlace::Server(address) = &config.memory.place else { return Vec::new() };
    let Some(receiver) = address.elsewhere() else { return Vec::new() };
    let line = format!("keep what is said and remembered in {receiver} (memory.url)");
    let url = root.inside(&["memory", "url"]).filter(|url| !is_one_variable(url));
    let names = url.map(variables).unwrap_or_default();
    let lines = [Some(line), to_receiver(&names, &receiver, "memory.url")];
    lines.into_iter().flatten().map(|line| Demand::new(Use::Remember, line)).collect()
}

/// A Discord that is not Discord, and a token that is not Discord's.
fn discord(root: &Node, config: &Config) -> Vec<Demand> {
    let token = root.inside(&["discord", "token"]);
    let sent = token.into_iter().collect();
    let place = "discord.token".to_owned();
    let api = root.inside(&["discord", "api_base"]);
    let found = match config.discord.api {
        Some(address) if address.ip().is_loopback() => Vec::new(),
        Some(_) => {
            let gets = "the bot's token and what is said on Discord";
            let place = "discord.api_base".to_owned();
            Destination { place, gets, url: api, home: "", sent }.demands()
        }
        None => Destination { place, gets: TALK, url: None, home: "discord.com", sent }.demands(),
    };
    found.into_iter().map(|demand| demand.done_by(Use::Discord)).collect()
}

/// Variables in texts that NPCs know, and may say.
fn texts(root: &Node, reading: &Reading) -> Vec<Demand> {
    let own = TEXTS.iter().filter_map(|path| Some((path.join("."), root.inside(path)?)));
    let own = own.map(|(place, node)| (place, variables(node)));
    let files = reading.filled.iter();
    let files = files.map(|(path, names)| (path.display().to_string(), names.clone()));
    let lines = own
        .chain(files)
        .filter_map(|(place, names)| to_receiver(&names, "the NPCs, who may say it", &place));
    lines.map(|line| Demand::new(Use::Play, line)).collect()
}

/// Variables in addresses of model files.
fn downloads(root: &Node) -> Vec<Demand> {
    let entries = root.inside(&["models"]).map(Node::entries).unwrap_or_default();
    let sources = entries.iter().filter(|it| !matches!(it.key.as_str(), "dir" | "shared_dir"));
    let names: BTreeSet<String> = sources.flat_map(|it| in_addresses(&it.node)).collect();
    let line = to_receiver(&names, "where model files come from", "models");
    line.map(|line| Demand::new(Use::Download, line)).into_iter().collect()
}

/// Variables that are only a part of a text in `node`.
fn in_addresses(node: &Node) -> BTreeSet<String> {
    match &node.value {
        Value::Map(entries) => entries.iter().flat_map(|it| in_addresses(&it.node)).collect(),
        Value::List(items) => items.iter().flat_map(in_addresses).collect(),
        Value::Scalar(_) if is_one_variable(node) => BTreeSet::new(),
        Value::Scalar(_) | Value::Broken => variables(node),
    }
}

/// The members of a list; anything else stands for a list of itself.
fn members(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

#[cfg(test)]
mod tests;
