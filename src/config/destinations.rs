//! Receivers of a configuration's data, and which of them need the user's agreement: anything but a
//! known service or this machine, and variables that are not the receiver's own.
//!
//! Entry type: [`Destination`]; functions: [`variables`], [`host`]. **Never**: shows the value of a
//! variable, or resolves a host.

use std::{collections::BTreeSet, net::IpAddr};

use super::{
    demands::{Demand, Use},
    expand, services,
};
use crate::yaml::{Node, Scalar, Value};

/// A receiver and the data it gets.
#[derive(Default)]
pub struct Destination<'n> {
    /// Path of its keys, for the user.
    pub place: String,
    /// Its data, for the user.
    pub gets: &'static str,
    /// Its address as written; `None`: the default of its `kind`.
    pub url: Option<&'n Node>,
    /// Name of the service; empty: any address but this machine needs agreement.
    pub kind: &'n str,
    /// The service's own credential.
    pub key: Option<&'n Node>,
    /// Settings whose values are sent there.
    pub sent: Vec<&'n Node>,
}

impl Destination<'_> {
    pub fn demands(&self) -> Vec<Demand> {
        self.demands_with(BTreeSet::new())
    }

    /// Like [`Destination::demands`], with the additional variables `more`.
    pub fn demands_with(&self, more: BTreeSet<String>) -> Vec<Demand> {
        let (url, place) = (self.url.and_then(Node::scalar), &self.place);
        let home = services::home(self.kind);
        let Some(address) = url.map(|url| url.text.as_str()).or(home) else { return Vec::new() };
        let host = host(address);
        if is_here(&host) {
            return Vec::new();
        }
        let (mut lines, mut apart): (Vec<String>, Vec<&Node>) = (Vec::new(), Vec::new());
        if url.is_none() || services::is_known(self.kind, address) {
            if self.key.is_some_and(is_written_down) {
                let account = "an account of the folder's own";
                lines.push(format!("send {} to {account} at {host} ({place})", self.gets));
            }
            let is_own = |key: &&Node| {
                let names = variables(key);
                !names.is_empty() && names.iter().all(|it| services::is_own(it, self.kind, &host))
            };
            apart.extend(self.key.filter(is_own));
        } else if let Some(url) = url {
            let address = match &url.written {
                Some(written) => format!("{written} (now {host})"),
                None => url.text.clone(),
            };
            lines.push(format!("send {} to {address} ({place})", self.gets));
        }
        // An address that is one variable is no secret of its receiver's.
        apart.extend(self.url.filter(|url| is_one_variable(url)));
        let mut names = more;
        names.extend(self.sent.iter().flat_map(|node| variables_beside(node, &apart)));
        lines.extend(to_receiver(&names, &host, place));
        lines.into_iter().map(|line| Demand::new(Use::Play, line)).collect()
    }
}

/// True if the key in `node` is literal, as a whole, in part, or as a default.
fn is_written_down(node: &Node) -> bool {
    let is_default = |it: &str| it.split_once(":-").is_some_and(|(_, it)| it != "}");
    let Some(scalar) = node.scalar().filter(|it| !it.is_null() && !it.text.trim().is_empty())
    else {
        return false;
    };
    !is_one_variable(node) || scalar.written.as_deref().is_some_and(|it| is_default(it.trim()))
}

/// `None` without names.
pub fn to_receiver(names: &BTreeSet<String>, receiver: &str, place: &str) -> Option<String> {
    let listed = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let noun = if names.len() == 1 { "variable" } else { "variables" };
    (!names.is_empty()).then(|| format!("send your {noun} {listed} to {receiver} ({place})"))
}

/// Names of environment variables in `node`, without those filled in with each request.
pub fn variables(node: &Node) -> BTreeSet<String> {
    variables_beside(node, &[])
}

/// Like [`variables`], without those in the nodes `apart`.
pub fn variables_beside(node: &Node, apart: &[&Node]) -> BTreeSet<String> {
    if apart.iter().any(|it| std::ptr::eq(*it, node)) {
        return BTreeSet::new();
    }
    let inside = |node: &Node| variables_beside(node, apart);
    match &node.value {
        Value::Map(entries) => entries.iter().flat_map(|entry| inside(&entry.node)).collect(),
        Value::List(items) => items.iter().flat_map(inside).collect(),
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
        let inside = expand::as_variable(inside);
        let name = inside.split(":-").next().unwrap_or(&inside);
        // Names with dots are filled in with each request.
        if !name.contains('.') {
            found.insert(name.to_owned());
        }
    }
    found
}

/// Host of an address, in lower case.
pub fn host(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((host, _)) => host,
        None if authority.matches(':').count() > 1 => authority,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.to_ascii_lowercase()
}

pub fn is_here(host: &str) -> bool {
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
        let text =
            "a ${KEY} ${env:HOME_KEY:-x} $${NOT} ${session.id} ${input:my.api-key:-x} ${B:-${C}";
        let found: Vec<_> = names(text).into_iter().collect();
        assert_eq!(found, ["B", "HOME_KEY", "KEY", "MY_API_KEY"]);
    }
}
