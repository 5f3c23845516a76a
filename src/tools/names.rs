//! Identities of servers and tools, model-facing names, and lists that match them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::SourceKind;
use crate::domain::{Owner, fnv1a};

/// Longest model-facing name in bytes; all known services accept it.
const LONGEST: usize = 64;
/// Most names remembered of removed tools, far more than a table has.
const REMEMBERED: usize = 10_000;

/// Alternative identities of built-in tools; another tool has the first one's bare name.
const ALIASES: &[(&str, &str)] =
    &[("session-manager.get_summary", "session-manager.get_session_summary")];

/// Resolves an alias; other names are returned unchanged.
pub fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |&(_, identity)| identity)
}

pub fn identity(server: &str, tool: &str) -> String {
    format!("{server}.{tool}")
}

pub fn bare(identity: &str) -> &str {
    identity.split_once('.').map_or(identity, |(_, bare)| bare)
}

/// Model-facing names. Once a model has seen them, each stays with its tool while the program runs,
/// so a later server cannot take or change one.
#[derive(Clone, Debug, Default)]
pub struct ModelNames {
    given: HashMap<String, Arc<str>>,
    taken: HashSet<Arc<str>>,
}

impl ModelNames {
    /// Unique names by identity: letters, digits, `_` and `-`, at most 64 bytes, independent of the
    /// order of new tools. A unique bare name is used as is; a built-in takes precedence over
    /// outside tools.
    pub fn of<'a>(&mut self, tools: &[(&'a str, SourceKind)]) -> HashMap<&'a str, Arc<str>> {
        if self.given.len() > REMEMBERED {
            // Too many removed tools: only current ones keep their names.
            self.given.retain(|identity, _| tools.iter().any(|(it, _)| *it == identity.as_str()));
            self.taken = self.given.values().cloned().collect();
        }
        let is_new = |identity: &&str| !self.given.contains_key(*identity);
        let mut claims: HashMap<String, (usize, usize)> = HashMap::new();
        for (identity, kind) in tools.iter().filter(|(identity, _)| is_new(identity)) {
            let claim = claims.entry(plain(bare(identity))).or_default();
            claim.0 += 1;
            claim.1 += usize::from(*kind == SourceKind::BuiltIn);
        }
        let mut ordered: Vec<_> = tools.iter().filter(|(it, _)| is_new(it)).copied().collect();
        // Built-ins first, then by identity, so that a later tool never takes an earlier one's
        // name.
        ordered.sort_by_key(|(identity, kind)| (*kind != SourceKind::BuiltIn, *identity));
        for (identity, kind) in ordered {
            let short = plain(bare(identity));
            let alone = match claims.get(&short) {
                Some((_, 1)) => kind == SourceKind::BuiltIn,
                Some((1, 0)) => true,
                _ => false,
            };
            let is_free = |name: &str| {
                !name.is_empty() && name.len() <= LONGEST && !self.taken.contains(name)
            };
            let long = plain(identity);
            let name: Arc<str> = match alone && is_free(&short) {
                true => Arc::from(short),
                false if is_free(&long) => Arc::from(long),
                false => Arc::from(hashed(if alone { &short } else { &long }, identity)),
            };
            self.taken.insert(Arc::clone(&name));
            self.given.insert(identity.to_owned(), name);
        }
        let given = |identity: &'a str| Some((identity, Arc::clone(self.given.get(identity)?)));
        tools.iter().filter_map(|(identity, _)| given(identity)).collect()
    }
}

/// Replaces anything but letters, digits, `_` and `-` by `_`.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

/// `name` cut short, with eight hash digits of `identity`.
fn hashed(name: &str, identity: &str) -> String {
    let kept: String = name.chars().take(LONGEST - 9).collect();
    format!("{kept}_{:08x}", fnv1a(identity.bytes()) >> 32)
}

#[derive(Debug, Default)]
pub struct Entries {
    exact: HashSet<String>,
    prefixes: Vec<String>,
}

impl Entries {
    /// Resolves `list` against `identities`: an identity, `server.*`, `server.prefix*`, or a unique
    /// bare name. An ambiguous bare name matches nothing and is returned with its candidates.
    pub fn resolve<'a>(
        list: &[String],
        identities: impl Iterator<Item = &'a str> + Clone,
    ) -> (Self, Vec<(String, Vec<String>)>) {
        let (mut entries, mut ambiguous) = (Self::default(), Vec::new());
        for entry in list {
            if let Some(prefix) = entry.strip_suffix('*') {
                entries.prefixes.push(prefix.to_owned());
            } else if entry.contains('.') {
                entries.exact.insert(canonical(entry).to_owned());
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

    /// True if the list matches `identity`.
    pub fn contains(&self, identity: &str) -> bool {
        self.exact.contains(identity)
            || self.prefixes.iter().any(|prefix| identity.starts_with(prefix.as_str()))
    }
}

/// Identity of a server: two guilds may use the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerKey {
    /// Its owner; `None`: installed for everyone.
    pub owner: Option<Owner>,
    /// Its name, or the prefix that replaces it in identities of its tools.
    pub name: String,
}

impl ServerKey {
    pub fn installed(name: &str) -> Self {
        Self { owner: None, name: name.to_owned() }
    }

    pub fn added(owner: Owner, name: &str) -> Self {
        Self { owner: Some(owner), name: name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use SourceKind::{BuiltIn, Server};

    use super::*;

    fn named(tools: &[(&str, SourceKind)]) -> Vec<String> {
        let names = ModelNames::default().of(tools);
        tools.iter().map(|(identity, _)| names[identity].to_string()).collect()
    }

    #[test]
    fn name_only_one_tool_has_is_kept() {
        let tools = [("dice-roller.roll", BuiltIn), ("home.set temperature!", Server)];
        assert_eq!(named(&tools), ["roll", "set_temperature_"]);
    }

    #[test]
    fn clashing_names_are_prefixed_except_built_ins() {
        let tools = [("dice-roller.roll", BuiltIn), ("evil.roll", Server), ("b.get", Server)];
        assert_eq!(named(&tools), ["roll", "evil_roll", "get"]);
        assert_eq!(named(&[("a.get", Server), ("b.get", Server)]), ["a_get", "b_get"]);
    }

    #[test]
    fn names_stay_and_are_not_handed_on() {
        let mut names = ModelNames::default();
        let mut named = |tools: &[(&'static str, SourceKind)]| {
            let given = names.of(tools);
            tools.iter().map(|(identity, _)| given[identity].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(named(&[("a.get", Server)]), ["get"]);
        assert_eq!(named(&[("a.get", Server), ("b.get", Server)]), ["get", "b_get"]);
        assert_eq!(named(&[("b.get", Server)]), ["b_get"]);
        assert_eq!(named(&[("b.get", Server), ("c.get", Server)]), ["b_get", "c_get"]);
        assert_eq!(named(&[("a.get", Server)]), ["get"], "it has come back");
    }

    #[test]
    fn model_names_are_unique_short_and_plain() {
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
    fn alias_of_built_in_is_known_by_identity_alone() {
        let all = ["memory.get_summary", "session-manager.get_session_summary"];
        let resolved = |entry: &str| {
            let (entries, _) = Entries::resolve(&[entry.to_owned()], all.into_iter());
            all.into_iter().filter(|it| entries.contains(it)).collect::<Vec<_>>()
        };
        assert_eq!(resolved("session-manager.get_summary"), [all[1]]);
        assert_eq!(resolved("get_summary"), [all[0]]);
    }

    #[test]
    fn tool_lists_match_identities_only() {
        let all = ["memory.query", "memory.find", "a.get", "b.get", "c.only"];
        let list = ["memory.*", "only", "get", "a.g*"].map(str::to_owned);
        let (entries, ambiguous) = Entries::resolve(&list, all.iter().copied());
        let named: Vec<_> = all.iter().filter(|it| entries.contains(it)).collect();
        assert_eq!(named, [&"memory.query", &"memory.find", &"a.get", &"c.only"]);
        assert_eq!(ambiguous, [("get".to_owned(), vec!["a.get".to_owned(), "b.get".to_owned()])]);
    }
}
