//! Actions of a campaign folder beyond being read, which need the user's agreement.
//!
//! A game master takes a campaign folder for text, like a module. Anything more becomes a
//! [`Demand`]: programs it starts, paths outside the folder, addresses that receive talk of the
//! table, doors for programs of others, and variables that leave this machine. Entry functions:
//! [`demands`], [`code`]. **Never**: asks, or starts anything.

mod downloads;
mod listener;

use std::{borrow::Cow, collections::BTreeSet, path::Path};

use super::{
    checked::Config,
    code::Code,
    demands::{Demand, Use},
    destinations::{Destination, is_one_variable, to_receiver, variables},
    keys,
    mcp::Written,
    memory::MemoryPlace,
    outside::Outside,
    reading::Reading,
    services::DISCORD,
};
use crate::{
    campaign::ServedGuilds,
    launch::real,
    tools::connection::Reach,
    yaml::{Entry, Fields, Node, Scalar, Value},
};

const TALK: &str = "what is said at the table";
/// Keys whose texts NPCs know.
const TEXTS: [&[&str]; 5] =
    [&["npcs"], &["assistant"], &["lines_and_veils"], &["global_data"], &["tools", "tables"]];
/// Addresses of a server, and the data each gets.
const ADDRESSES: [(&[&str], &str); 4] = [
    (&["url"], "what NPCs ask of it"),
    (&["auth", "oauth", "issuer"], "its credentials"),
    (&["auth", "oauth", "token_url"], "its credentials"),
    (&["auth", "login", "issuer"], "your login"),
];

/// Unique demands of the checked file `root` in `folder`, read as `config`; programs last, so that
/// they stay on screen. `code` are the files that these may run.
pub fn demands(
    root: &Node,
    config: &Config,
    folder: &Path,
    (reading, code): (&Reading, Option<&Code>),
) -> Vec<Demand> {
    let outside = Outside::of(folder, config, reading);
    let mut all = services(root);
    all.extend(looked_up(root));
    all.extend(reading.demands.iter().cloned());
    all.extend(remembering(root, config));
    all.extend(discord(root, config));
    all.extend(listener::demands(config));
    all.extend(telemetry(root, config));
    all.extend(outside.demands(root, config, reading));
    all.extend(texts(root, reading));
    all.extend(downloads::demands(root, folder, &outside));
    all.extend(servers(root, config, &outside, code));
    let mut once: Vec<Demand> = Vec::new();
    for demand in all {
        if !once.contains(&demand) {
            once.push(demand);
        }
    }
    once
}

/// Files that programs of `config`, started in `folder`, may run.
pub fn code(config: &Config, folder: &Path) -> Option<Code> {
    let mut words = BTreeSet::new();
    for server in &config.mcp.servers {
        if let Reach::Stdio { command, env, .. } = &server.reach {
            words.extend(command.iter().cloned());
            words.extend(env.values().map(|value| value.0.clone()));
        }
    }
    let (folder, data_dir) = (real(folder), real(&config.data_dir));
    (!words.is_empty()).then_some(Code { folder, data_dir, words })
}

/// Remote servers first, then programs and the paths they may reach.
fn servers(root: &Node, config: &Config, outside: &Outside, code: Option<&Code>) -> Vec<Demand> {
    let written = Written::all(&Fields::new(root, &keys::app::FILE));
    let digest = code.map(Code::digest).unwrap_or_default();
    let data = root.inside(&["global_data"]).map(variables).unwrap_or_default();
    let (mut found, mut started) = (Vec::new(), Vec::new());
    for (written, server) in written.iter().zip(&config.mcp.servers) {
        let (node, name) = (written.fields.node(), &*server.name);
        match &server.reach {
            Reach::Stdio { command, sandbox, .. } => {
                started.push(program(name, node).about(&digest));
                let arguments = command.get(1..).unwrap_or_default();
                started.extend(outside.opened(name, sandbox, arguments));
            }
            Reach::Http { .. } => found.extend(elsewhere(name, node, &data)),
        }
    }
    found.extend(started);
    found
}

/// Addresses of a server; `data` are variables in `global_data`, which it gets if it names one.
fn elsewhere(name: &str, node: &Node, data: &BTreeSet<String>) -> Vec<Demand> {
    let none = BTreeSet::new();
    let data = if names_data(node) { data } else { &none };
    let demands = |&(path, gets): &(&[&str], &'static str)| {
        let url = node.inside(path).filter(|url| url.text().is_some())?;
        let (sent, more) = match path.len() {
            1 => (Some(node), data),
            _ => (node.inside(&["auth"]), &none),
        };
        let (place, sent) = (format!("server '{name}'"), sent.into_iter().collect());
        let destination =
            Destination { place, gets, url: Some(url), sent, ..Destination::default() };
        Some(destination.demands_with(more.clone()))
    };
    ADDRESSES.iter().filter_map(demands).flatten().collect()
}

/// True if a header or a resource variable names a value of `global_data`.
fn names_data(node: &Node) -> bool {
    let templates = ["headers", "resource_vars"].iter().filter_map(|key| node.inside(&[key]));
    let mut values = templates.flat_map(Node::entries).filter_map(|entry| entry.node.text());
    values.any(|value| value.contains("${data."))
}

/// Services under `providers`, the embedder, and the receiver of approvals.
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
        let gets = match root.inside(&["web", "listen"]) {
            // Its notifications then hold addresses at which the calls are decided.
            Some(_) => "word of calls that wait, and the right to decide them,",
            None => "word of calls that wait",
        };
        let (url, sent) = (Some(url), vec![url]);
        let notified = Destination { place, gets, url, sent, ..Destination::default() };
        found.extend(notified.demands());
    }
    found
}

fn service(place: String, node: &Node) -> Destination<'_> {
    let text = |key| node.inside(&[key]).and_then(Node::text);
    let kind = text("service").or_else(|| text("name")).unwrap_or_default();
    let url = node.inside(&["base_url"]).filter(|url| url.text().is_some());
    let key = node.inside(&["api_key"]);
    Destination { place, gets: TALK, url, kind, key, sent: vec![node] }
}

/// Hosts that NPCs may read without a search result; an address may contain words of the table.
fn looked_up(root: &Node) -> Vec<Demand> {
    let hosts = root.inside(&["search", "allow"]).map(members).unwrap_or_default().iter();
    let each = |host| {
        let (place, gets) = ("search.allow".to_owned(), "what NPCs look up");
        let sent = vec![host];
        Destination { place, gets, url: Some(host), sent, ..Destination::default() }.demands()
    };
    hosts.filter(|host| host.text().is_some()).flat_map(each).collect()
}

/// A collector of traces on another machine.
fn telemetry(root: &Node, config: &Config) -> Vec<Demand> {
    let Some(options) = &config.telemetry else { return Vec::new() };
    let gets = match options.content {
        true => "what is said at the table, prompts, and what tools are given,",
        false => "when NPCs answer, by which models and tools,",
    };
    let url = root.inside(&["telemetry", "otlp"]);
    let (place, sent) = ("telemetry.otlp".to_owned(), url.into_iter().collect());
    Destination { place, gets, url, sent, ..Destination::default() }.demands()
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

/// Another Discord API, a foreign token, and game masters who may start programs.
fn discord(root: &Node, config: &Config) -> Vec<Demand> {
    let token = root.inside(&["discord", "token"]);
    let sent = token.into_iter().collect();
    let api = root.inside(&["discord", "api_base"]);
    let mut found = match config.discord.api {
        Some(address) if address.ip().is_loopback() => Vec::new(),
        Some(_) => {
            let gets = "the bot's token and what is said on Discord";
            let place = "discord.api_base".to_owned();
            Destination { place, gets, url: api, sent, ..Destination::default() }.demands()
        }
        None => {
            let (place, gets) = ("discord.token".to_owned(), TALK);
            Destination { place, gets, url: None, kind: DISCORD, key: token, sent }.demands()
        }
    };
    found.extend(game_masters(config));
    found.into_iter().map(|demand| demand.done_by(Use::Discord)).collect()
}

/// Game masters who may start programs from Discord.
fn game_masters(config: &Config) -> Option<Demand> {
    let options = &config.discord;
    if !options.trust_dms {
        return None;
    }
    let (who, mut keys) = match options.everyone_is_dm {
        true => ("everybody", "trust_dms, everyone_is_dm".to_owned()),
        false => ("game masters", "trust_dms".to_owned()),
    };
    let mut place = "on Discord";
    if options.served == ServedGuilds::Any {
        place = "on any Discord server that has the bot";
        keys.push_str(", guilds");
    }
    let line = format!("let {who} {place} start programs on this machine (discord: {keys})");
    Some(Demand::new(Use::Discord, line))
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

/// The members of a list, or the single node.
fn members(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// The demand of the server `name`: it starts a program.
fn program(name: &str, node: &Node) -> Demand {
    let env = node.inside(&["env"]).map(Node::entries).unwrap_or_default();
    let mut line = format!("start the program `{}`", shown(node));
    if !env.is_empty() {
        let each = |entry: &Entry| format!("{}={}", entry.key, quoted(written(&entry.node)));
        line.push_str(&format!(" with {}", env.iter().map(each).collect::<Vec<_>>().join(" ")));
    }
    let said = ["command", "args", "env"].into_iter().filter_map(|key| node.inside(&[key]));
    let said: BTreeSet<String> = said.flat_map(variables).collect();
    let others: Vec<String> = variables(node).difference(&said).cloned().collect();
    if !others.is_empty() {
        line.push_str(&format!(" and the variables {}", others.join(", ")));
    }
    line.push_str(&format!(" (server '{name}')"));
    Demand::new(Use::Play, line)
}

/// Command line as written.
fn shown(node: &Node) -> String {
    let command = node.inside(&["command"]).map(written).unwrap_or_default().trim();
    let Some(args) = node.inside(&["args"]).filter(|it| !it.is_null()) else {
        return command.to_owned();
    };
    let args = if args.scalar().is_some() { std::slice::from_ref(args) } else { args.items() };
    let words = std::iter::once(command).chain(args.iter().map(written));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// The text of `node` without values of variables.
fn written(node: &Node) -> &str {
    let before = node.scalar().and_then(|scalar: &Scalar| scalar.written.as_deref());
    before.or_else(|| node.text()).unwrap_or_default()
}

/// `word`, quoted if needed.
fn quoted(word: &str) -> Cow<'_, str> {
    if !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"`".contains(c)) {
        return Cow::Borrowed(word);
    }
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

#[cfg(test)]
mod tests;
