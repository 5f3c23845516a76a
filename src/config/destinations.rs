//! Where a configuration has things sent, and which of that needs the user's yes: anything but a known
//! service and this machine, and variables of the environment that are not the receiver's own.
//!
//! Entry types: [`Destination`]; entry functions: [`variables`], [`home_of`]. **Never**: says the value of
//! a variable, or looks a host up.

use std::{collections::BTreeSet, net::IpAddr};

use super::demands::{Demand, Use};
use crate::yaml::{Node, Scalar, Value};

/// Services that need no yes: a word in the names of their variables, and their host.
const SERVICES: &[(&str, &str)] = &[
    ("openai", "api.openai.com"),
    ("openai", "eu.api.openai.com"),
    ("anthropic", "api.anthropic.com"),
    ("gemini", "generativelanguage.googleapis.com"),
    ("google", "generativelanguage.googleapis.com"),
    ("groq", "api.groq.com"),
    ("mistral", "api.mistral.ai"),
    ("deepseek", "api.deepseek.com"),
    ("openrouter", "openrouter.ai"),
    ("together", "api.together.xyz"),
    ("cerebras", "api.cerebras.ai"),
    ("fireworks", "api.fireworks.ai"),
    ("xai", "api.x.ai"),
    ("deepgram", "api.deepgram.com"),
    ("deepgram", "api.eu.deepgram.com"),
    ("elevenlabs", "api.elevenlabs.io"),
    ("brave", "api.search.brave.com"),
    ("tavily", "api.tavily.com"),
    ("discord", "discord.com"),
];
/// Beginning of the names of Glyphoxa's own variables.
const OURS: &str = "GLYPHOXA_";

/// A receiver, and what it is sent.
pub struct Destination<'n> {
    /// Keys that lead there, for people.
    pub place: String,
    /// Things it gets, for people.
    pub gets: &'static str,
    /// Its address as written; `None`: at `home`.
    pub url: Option<&'n Node>,
    /// Host of the service's own.
    pub home: &'static str,
    /// Settings whose values are sent there.
    pub sent: Vec<&'n Node>,
}

impl Destination<'_> {
    /// What needs a yes about it.
    pub fn demands(&self) -> Vec<Demand> {
        self.demands_with(BTreeSet::new())
    }

    /// Like [`Destination::demands`], where the variables `more` are sent too.
    pub fn demands_with(&self, more: BTreeSet<String>) -> Vec<Demand> {
        let host = host(self.url.and_then(Node::text).unwrap_or(self.home));
        if is_here(&host) {
            return Vec::new();
        }
        let (place, mut found) = (&self.place, Vec::new());
        if let Some(url) = self.url.and_then(Node::scalar)
            && !SERVICES.iter().any(|(_, known)| *known == host)
        {
            let address = match &url.written {
                Some(written) => format!("{written} (now {host})"),
                None => url.text.clone(),
            };
            let line = format!("send {} to {address} ({place})", self.gets);
            found.push(Demand::new(Use::Play, line));
        }
        let mut names = more;
        names.extend(self.sent.iter().flat_map(|node| variables(node)));
        if let Some(url) = self.url.filter(|url| is_one_variable(url)) {
            let address = variables(url);
            names.retain(|name| !address.contains(name));
        }
        names.retain(|name| !is_own(name, &host));
        found.extend(to_receiver(&names, &host, place).map(|line| Demand::new(Use::Play, line)));
        found
    }
}

/// "send the variables A, B to RECEIVER (PLACE)"; `None` without names.
pub fn to_receiver(names: &BTreeSet<String>, receiver: &str, place: &str) -> Option<String> {
    let listed = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let noun = if names.len() == 1 { "variable" } else { "variables" };
    (!names.is_empty()).then(|| format!("send the {noun} {listed} to {receiver} ({place})"))
}

/// Host of the service called `name` where its settings have no address.
pub fn home_of(name: &str) -> &'static str {
    let named = SERVICES.iter().find(|(word, _)| name.starts_with(word));
    named.map_or("api.openai.com", |(_, host)| *host)
}

/// Names of the environment's variables in `node`; what is filled in with each request is none.
pub fn variables(node: &Node) -> BTreeSet<String> {
    match &node.value {
        Value::Map(entries) => entries.iter().flat_map(|entry| variables(&entry.node)).collect(),
        Value::List(items) => items.iter().flat_map(variables).collect(),
        Value::Scalar(scalar) => names(scalar.written.as_deref().unwrap_or_default()),
        Value::Broken => BTreeSet::new(),
    }
}

/// True if the text of `node` is one variable, with or without a default.
pub fn is_one_variable(node: &Node) -> bool {
    let written = node.scalar().and_then(|scalar: &Scalar| scalar.written.as_deref());
    let inside = written.and_then(|it| it.trim().strip_prefix("${")?.strip_suffix('}'));
    inside.is_some_and(|inside| !inside.contains(['$', '}']))
}

/// Names between `${` and `}`, without defaults.
fn names(text: &str) -> BTreeSet<String> {
    let (mut found, mut rest) = (BTreeSet::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        rest = after;
        if before.ends_with('$') {
            continue;
        }
        let Some((inside, behind)) = after.split_once('}') else { break };
        rest = behind;
        let name = inside.split(":-").next().unwrap_or(inside);
        let name = name.strip_prefix("env:").unwrap_or(name);
        if !name.contains('.') {
            found.insert(name.to_owned());
        }
    }
    found
}

/// True if `variable` belongs to the service at `host`, or to Glyphoxa.
fn is_own(variable: &str, host: &str) -> bool {
    let lower = variable.to_ascii_lowercase();
    let belongs = |(word, own): &(&str, &str)| *own == host && lower.contains(word);
    variable.starts_with(OURS) || SERVICES.iter().any(belongs)
}

/// Host of an address, in small letters.
fn host(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((host, _)) => host,
        None if authority.matches(':').count() > 1 => authority,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.to_ascii_lowercase()
}

/// True if `host` is this machine.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_this_machine() {
        for here in ["http://127.0.0.1:1/v1", "ws://[::1]:80", "tcp://localhost:1", "127.9.9.9"] {
            assert!(is_here(&host(here)), "{here}");
        }
        let elsewhere = ["http://192.168.0.2", "http://127.0.0.1.evil", "http://a@127.0.0.1", ""];
        for there in elsewhere.into_iter().chain(["http://localhost.lan", "http://0.0.0.0"]) {
            assert!(!is_here(&host(there)), "{there}");
        }
    }

    #[test]
    fn names_are_those_of_the_environment_alone() {
        let text = "a ${KEY} ${env:HOME_KEY:-x} $${NOT} ${session.id} ${B:-${C}";
        let found: Vec<_> = names(text).into_iter().collect();
        assert_eq!(found, ["B", "HOME_KEY", "KEY"]);
    }

    #[test]
    fn variable_belongs_to_the_host_it_names() {
        assert!(is_own("OPENAI_API_KEY", "api.openai.com"));
        assert!(is_own("MY_DISCORD_TOKEN", "discord.com"));
        assert!(!is_own("OPENAI_API_KEY", "api.groq.com"));
        assert!(!is_own("AWS_SECRET_ACCESS_KEY", "api.openai.com"));
        assert!(!is_own("OPENAI_API_KEY", "openai.example"));
    }
}
