//! Secrets of the configuration, which no output repeats. Entry type: [`Secrets`], of one reading.
//!
//! A value from the environment is secret unless its key is known to be public; a variable named
//! like a key is always secret. Credentials of a checked configuration are kept separately
//! ([`super::Config::keep_secrets`]).

use std::{borrow::Cow, collections::BTreeMap};

use crate::{domain::redact, yaml::Problem};

/// Shorter values would occur in ordinary words.
const SHORTEST: usize = 4;
/// Keys with public values.
const PUBLIC: &[&str] = &[
    "base_dir",
    "campaign",
    "data_dir",
    "dm_role",
    "edition",
    "environment",
    "folder",
    "guild_id",
    "language",
    "languages",
    "level",
    "manifests",
    "model",
    "name",
    "npc_dir",
    "path",
    "prefix",
    "table_dir",
];
/// Parts of names of secret variables.
const SECRET: &[&str] = &["AUTH", "CREDENTIAL", "KEY", "PASS", "PWD", "SECRET", "TOKEN"];
/// Keys with secret values, even literal ones.
const SECRET_KEYS: &[&str] = &["api_key", "client_secret", "password", "private_key", "token"];

/// Values and their replacements.
#[derive(Debug, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// Records that `variable` had this value and was used in the value of `key`.
    pub fn filled(&mut self, variable: &str, value: &str, key: &str) {
        let upper = variable.to_ascii_uppercase();
        let is_named_so = SECRET.iter().any(|part| upper.contains(part));
        if is_named_so || !PUBLIC.contains(&last(key)) {
            self.insert(value, format!("${{{variable}}}"));
        }
    }

    /// Records the literal `value` of `key`.
    pub fn written(&mut self, value: &str, key: &str) {
        if SECRET_KEYS.contains(&last(key)) {
            self.insert(value, redact::SECRET.to_owned());
        }
    }

    /// Adds those of another part of the same reading.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn insert(&mut self, value: &str, shown: String) {
        if value.trim().chars().count() >= SHORTEST {
            self.0.entry(value.trim().to_owned()).or_insert(shown);
        }
    }

    /// Removes the values from a problem.
    pub fn clean(&self, problem: &mut Problem) {
        problem.message = self.cleaned(&problem.message).into_owned();
        problem.way_out = self.cleaned(&problem.way_out).into_owned();
        if let Cow::Owned(file) = self.cleaned(&problem.file) {
            problem.file = file.into();
        }
    }

    /// Removes values from the environment. Literals stay: anything could be called a password.
    pub fn without_variables(&self, text: &str) -> String {
        self.replaced(text, |shown| shown != redact::SECRET).into_owned()
    }

    /// Redacts them in all output from now on.
    pub fn keep(self) {
        self.0.iter().for_each(|(value, shown)| redact::keep(value, shown));
    }

    fn cleaned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |_| true)
    }

    /// `text` without the values whose replacement is `chosen`.
    fn replaced<'a>(&self, text: &'a str, chosen: impl Fn(&str) -> bool) -> Cow<'a, str> {
        // The longest first: one may begin like another.
        let mut values: Vec<_> = self.0.iter().filter(|(_, shown)| chosen(shown)).collect();
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        values.into_iter().fold(Cow::Borrowed(text), |text, (value, shown)| {
            match redact::without(&text, value, shown) {
                Some(cleaned) => Cow::Owned(cleaned),
                None => text,
            }
        })
    }
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.filled("OPENAI_API_KEY", &format!("sk-{}", "x7".repeat(60)), "providers.llm.modle");
        secrets.filled("PEM", "-----BEGIN KEY-----\nabc\nxyz", "npcs.lines.say");
        secrets.filled("HOUSE", "hollow", "campaign");
        secrets.filled("BOT_TOKEN", "tok.en", "campaign");
        secrets.written("written down", "mcp.servers.auth.token");
        secrets.written("login", "mcp.servers.auth");
        secrets
    }

    #[test]
    fn value_is_recognised_shortened_and_escaped() {
        let secrets = secrets();
        let clean = |text: &str| secrets.cleaned(text).into_owned();
        let key = format!("sk-{}", "x7".repeat(60));
        assert_eq!(
            clean(&format!("'{key}' and {key}")),
            "'${OPENAI_API_KEY}' and ${OPENAI_API_KEY}"
        );
        assert_eq!(clean(&format!("'{}…'", &key[..60])), "'${OPENAI_API_KEY}…'");
        assert_eq!(clean("-----BEGIN KEY-----\\nabc\\nx…"), "${PEM}…");
        assert_eq!(clean("no 'written down'"), "no '<secret>'");
        assert_eq!(clean("auth: login"), "auth: login");
        assert_eq!(secrets.without_variables("written down: xyz"), "written down: xyz");
        assert_eq!(secrets.without_variables("written down: hollow"), "written down: hollow");
        assert_eq!(secrets.without_variables("written down: tok.en"), "written down: ${BOT_TOKEN}");
    }

    #[test]
    fn public_values_are_shown_unless_named_like_key() {
        let secrets = secrets();
        assert_eq!(secrets.cleaned("hollow.yaml: tok.en"), "hollow.yaml: ${BOT_TOKEN}");
    }
}
