//! Identities of tools, the names a model sees, and lists that name them.
//!
//! Entry functions: [`model_names`], [`Entries::resolve`]. **Never**: knows what a tool does.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::SourceKind;
use crate::domain::fnv1a;

/// Longest model-facing name in bytes; what every known service takes.
const LONGEST: usize = 64;

/// `server.tool`.
pub fn identity(server: &str, tool: &str) -> String {
    format!("{server}.{tool}")
}

/// The tool's name without its server.
pub fn bare(identity: &str) -> &str {
    identity.split_once('.').map_or(identity, |(_, bare)| bare)
}

/// Model-facing names of all tools, by identity: letters, digits, `_` and `-`, at most 64 bytes,
/// unique, the same in every run that has the same tools. A bare name that only one tool has is
/// kept; a built-in keeps its own against anything from outside.
pub fn model_names<'a>(tools: &[(&'a str, SourceKind)]) -> HashMap<&'a str, Arc<str>> {
    let mut claims: HashMap<String, (usize, usize)> = HashMap::new();
    for (identity, kind) in tools {
        let claim = claims.entry(plain(bare(identity))).or_default();
        claim.0 += 1;
        claim.1 += usize::from(*kind == SourceKind::BuiltIn);
    }
    let mut ordered: Vec<_> = tools.to_vec();
    // Built-ins choose first, then identities in order, so that a later tool never takes a name
    // from an earlier one.
    ordered.sort_by_key(|(identity, kind)| (*kind != SourceKind::BuiltIn, *identity));
    let mut taken: HashSet<Arc<str>> = HashSet::new();
    let mut names = HashMap::new();
    for (identity, kind) in ordered {
        let short = plain(bare(identity));
        let alone = match claims.get(&short) {
            Some((_, 1)) => kind == SourceKind::BuiltIn,
            Some((1, 0)) => true,
            _ => false,
        };
        let wanted = if alone { short } else { plain(identity) };
        let fits = !wanted.is_empty() && wanted.len() <= LONGEST;
        let name: Arc<str> = if fits && !taken.contains(wanted.as_str()) {
            Arc::from(wanted)
        } else {
            Arc::from(hashed(&wanted, identity))
        };
        taken.insert(Arc::clone(&name));
        names.insert(identity, name);
    }
    names
}

/// Letters, digits, `_` and `-`; anything else becomes `_`.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

/// `name` cut short, with eight digits that belong to `identity` alone.
fn hashed(name: &str, identity: &str) -> String {
    let kept: String = name.chars().take(LONGEST - 9).collect();
    format!("{kept}_{:08x}", fnv1a(identity.bytes()) >> 32)
}

/// A whitelist or blocklist resolved against the existing tools.
#[derive(Debug, Default)]
pub struct Entries {
    exact: HashSet<String>,
    prefixes: Vec<String>,
}

impl Entries {
    /// Resolves `list` against `identities`: an identity, `server.*`, `server.prefix*`, or a bare
    /// name that one server has. A bare name that several servers have matches nothing, and comes
    /// back with its candidates.
    pub fn resolve<'a>(
        list: &[String],
        identities: impl Iterator<Item = &'a str> + Clone,
    ) -> (Self, Vec<(String, Vec<String>)>) {
        let (mut entries, mut ambiguous) = (Self::default(), Vec::new());
        for entry in list {
            if let Some(prefix) = entry.strip_suffix('*') {
                entries.prefixes.push(prefix.to_owned());
            } else if entry.contains('.') {
                entries.exact.insert(entry.clone());
            } else {
                let named = identities.clone().filter(|identity| bare(identity) == entry);
                let named: Vec<String> = named.map(str::to_owned).collect();
                match named.as_slice() {
                    [only] => _ = entries.exact.insert(only.clone()),
                    [] => {}
                    _ => ambiguous.push((entry.clone(), named)),
                }
            }
        }
        (entries, ambiguous)
    }

    /// Whether the list names `identity`.
    pub fn contains(&self, identity: &str) -> bool {
        self.exact.contains(identity)
            || self.prefixes.iter().any(|prefix| identity.starts_with(prefix.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use SourceKind::{BuiltIn, Server};

    use super::*;

    fn named(tools: &[(&str, SourceKind)]) -> Vec<String> {
        let names = model_names(tools);
        tools.iter().map(|(identity, _)| names[identity].to_string()).collect()
    }

    #[test]
    fn a_name_only_one_tool_has_is_kept() {
        let tools = [("dice-roller.roll", BuiltIn), ("home.set temperature!", Server)];
        assert_eq!(named(&tools), ["roll", "set_temperature_"]);
    }

    #[test]
    fn a_clash_is_told_apart_by_the_server_and_never_shadows_a_built_in() {
        let tools = [("dice-roller.roll", BuiltIn), ("evil.roll", Server), ("b.get", Server)];
        assert_eq!(named(&tools), ["roll", "evil_roll", "get"]);
        assert_eq!(named(&[("a.get", Server), ("b.get", Server)]), ["a_get", "b_get"]);
    }

    #[test]
    fn names_are_unique_short_and_plain_whatever_servers_call_their_tools() {
        let long = format!("server.{}", "x".repeat(200));
        let tools = [
            (long.as_str(), Server),
            ("a.b.c", Server),
            ("a.b_c", Server),
            ("a.b c", Server),
            ("d.b_c", Server),
            ("e.🎲", Server),
            ("f.", Server),
        ];
        let names = named(&tools);
        let unique: HashSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        for name in &names {
            assert!((1..=64).contains(&name.len()), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{name}");
        }
        assert_eq!(named(&tools), names, "stable");
    }

    #[test]
    fn a_list_names_identities_and_never_display_names() {
        let all = ["memory.query", "memory.find", "a.get", "b.get", "c.only"];
        let list = ["memory.*", "only", "get", "a.g*"].map(str::to_owned);
        let (entries, ambiguous) = Entries::resolve(&list, all.iter().copied());
        let named: Vec<_> = all.iter().filter(|it| entries.contains(it)).collect();
        assert_eq!(named, [&"memory.query", &"memory.find", &"a.get", &"c.only"]);
        assert_eq!(ambiguous, [("get".to_owned(), vec!["a.get".to_owned(), "b.get".to_owned()])]);
    }
}
