//! What the configuration was given in confidence, and no message repeats.
//!
//! Entry types: [`Hidden`] (of one reading), and [`cleaned`] for whatever is printed after it. What came
//! from the environment is secret until its key is known to be public, and a variable that is named like
//! a key is secret wherever it stands. **Never**: forgets what it was told.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

use crate::yaml::Problem;

/// Shorter ones are no secrets, and would be found in ordinary words.
const SHORTEST: usize = 4;
/// So many characters of a value are recognised, whatever became of the rest: messages are shortened.
const RECOGNISED: usize = 12;
/// Keys whose values anybody may see.
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
/// Parts of the names of variables that hold secrets.
const SECRET: &[&str] = &["AUTH", "CREDENTIAL", "KEY", "PASS", "PWD", "SECRET", "TOKEN"];
/// Keys whose values are secret, also when they are written down.
const SECRET_KEYS: &[&str] = &["api_key", "client_secret", "password", "private_key", "token"];
/// What stands for a secret that no variable has brought.
const SHOWN: &str = "<secret>";

/// Values, each with what stands for it.
#[derive(Debug, Default)]
pub struct Hidden(BTreeMap<String, String>);

/// Of all readings of this process.
static KNOWN: RwLock<Hidden> = RwLock::new(Hidden(BTreeMap::new()));

impl Hidden {
    /// `variable` had this value, and was put into the value of `key`.
    pub fn filled(&mut self, variable: &str, value: &str, key: &str) {
        let upper = variable.to_ascii_uppercase();
        let is_named_so = SECRET.iter().any(|part| upper.contains(part));
        if is_named_so || !PUBLIC.contains(&last(key)) {
            self.insert(value, format!("${{{variable}}}"));
        }
    }

    /// `value` is written down at `key`.
    pub fn written(&mut self, value: &str, key: &str) {
        if SECRET_KEYS.contains(&last(key)) {
            self.insert(value, SHOWN.to_owned());
        }
    }

    /// Takes over what another part of the same reading was given.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn insert(&mut self, value: &str, shown: String) {
        let escaped: String = value.trim().chars().flat_map(escape).collect();
        for value in [value.trim(), &escaped] {
            if value.chars().count() >= SHORTEST {
                self.0.entry(value.to_owned()).or_insert_with(|| shown.clone());
            }
        }
    }

    /// Takes the values out of what is said about a file.
    pub fn clean(&self, problem: &mut Problem) {
        problem.message = self.cleaned(&problem.message).into_owned();
        problem.way_out = self.cleaned(&problem.way_out).into_owned();
        if let Cow::Owned(file) = self.cleaned(&problem.file) {
            problem.file = file.into();
        }
    }

    /// From now on [`cleaned`] knows them too.
    pub fn remember(self) {
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).0.extend(self.0);
    }

    fn cleaned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // The longest first: one may begin like another.
        let mut values: Vec<_> = self.0.iter().collect();
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        values.into_iter().fold(Cow::Borrowed(text), |text, (value, shown)| {
            match without(&text, value, shown) {
                Some(cleaned) => Cow::Owned(cleaned),
                None => text,
            }
        })
    }
}

/// `text` without any value that was given in confidence.
pub fn cleaned(text: &str) -> Cow<'_, str> {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).cleaned(text)
}

/// `text` with `shown` wherever `value` stands, or as much of it as is there; `None`: nowhere.
fn without(text: &str, value: &str, shown: &str) -> Option<String> {
    let begins = value.char_indices().nth(RECOGNISED).map_or(value, |(end, _)| &value[..end]);
    let mut cleaned = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(begins) {
        cleaned.push_str(before);
        cleaned.push_str(shown);
        let same = after.chars().zip(value[begins.len()..].chars()).take_while(|(a, b)| a == b);
        rest = &after[same.map(|(c, _)| c.len_utf8()).sum::<usize>()..];
    }
    if cleaned.is_empty() {
        return None;
    }
    cleaned.push_str(rest);
    Some(cleaned)
}

/// As messages show it.
fn escape(char: char) -> Vec<char> {
    if char.is_control() { char.escape_default().collect() } else { vec![char] }
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden() -> Hidden {
        let mut hidden = Hidden::default();
        hidden.filled("OPENAI_API_KEY", &format!("sk-{}", "x7".repeat(60)), "providers.llm.modle");
        hidden.filled("PEM", "-----BEGIN KEY-----\nabc\nxyz", "npcs.lines.say");
        hidden.filled("HOUSE", "hollow", "campaign");
        hidden.filled("BOT_TOKEN", "tok.en", "campaign");
        hidden.written("written down", "mcp.servers.auth.token");
        hidden
    }

    #[test]
    fn a_value_is_recognised_shortened_and_escaped() {
        let hidden = hidden();
        let clean = |text: &str| hidden.cleaned(text).into_owned();
        let key = format!("sk-{}", "x7".repeat(60));
        assert_eq!(
            clean(&format!("'{key}' and {key}")),
            "'${OPENAI_API_KEY}' and ${OPENAI_API_KEY}"
        );
        assert_eq!(clean(&format!("'{}…'", &key[..60])), "'${OPENAI_API_KEY}…'");
        assert_eq!(clean("-----BEGIN KEY-----\\nabc\\nx…"), "${PEM}…");
        assert_eq!(clean("no 'written down'"), "no '<secret>'");
    }

    #[test]
    fn what_is_public_is_shown_unless_its_variable_is_named_like_a_key() {
        let hidden = hidden();
        assert_eq!(hidden.cleaned("hollow.yaml: tok.en"), "hollow.yaml: ${BOT_TOKEN}");
    }
}
