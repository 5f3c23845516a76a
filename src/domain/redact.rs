//! What is secret, and text without it: the one filter of call logs, of what child processes print,
//! of messages that are shown, and of addresses.
//!
//! Entry functions: [`keep_secret`], [`text`], [`json`], [`members`], [`address`]. A value is secret
//! because of its key (whole words: `auth`, `pin`, `jwt`, …), because the configuration holds it as
//! a secret, or because it looks like one. **Never**: prints what it knows.

use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

/// What stands for a secret.
pub const SECRET: &str = "<secret>";

/// Words of keys whose values are secret.
const WORDS: [&str; 19] = [
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "jwt",
    "key",
    "otp",
    "pass",
    "passcode",
    "pin",
    "psk",
    "pwd",
    "sid",
    "signature",
    "totp",
    "token",
];
/// Parts of keys that are secret also without a border around them, as in `authtoken`.
const PARTS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "authorization",
    "credential",
    "privatekey",
    "cookie",
];
/// How values of well-known kinds begin.
const BEGINNINGS: [&str; 8] =
    ["sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "eyJ"];
/// Shorter values are not looked for: they stand in ordinary words.
const SHORTEST: usize = 6;
/// Most values that are known at once; far more than a configuration has.
const MOST: usize = 1_000;
/// A part of a path this long, of letters and digits, is a key.
const LONG_SEGMENT: usize = 20;

/// What the configuration holds as secret, the longest first.
static KNOWN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Has `value` never shown again.
pub fn keep_secret(value: &str) {
    let value = value.trim();
    if value.len() < SHORTEST {
        return;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for form in [value.to_owned(), encoded(value)] {
        if known.len() < MOST && !known.contains(&form) {
            known.push(form);
        }
    }
    known.sort_by_key(|it| std::cmp::Reverse(it.len()));
}

/// `value` as it stands in an address.
fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Whether a key marks its value as secret.
pub fn is_secret(key: &str) -> bool {
    let plain: String =
        key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    // "max_tokens" is a count, not a token.
    if plain.ends_with("tokens") {
        return false;
    }
    PARTS.iter().any(|part| plain.contains(part)) || words(key).any(|word| is_word(&word))
}

fn is_word(word: &str) -> bool {
    WORDS.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// The words of a key: `apiKey`, `API_KEY` and `api-key` are `api` and `key`.
fn words(key: &str) -> impl Iterator<Item = String> {
    let (mut words, mut word, mut was_lower) = (Vec::new(), String::new(), false);
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
        was_lower = c.is_lowercase();
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty())
}

/// `value` without secrets, at any depth.
pub fn json(value: &Value) -> Value {
    match value {
        Value::Object(all) => Value::Object(members(all)),
        Value::Array(items) => Value::Array(items.iter().map(json).collect()),
        Value::String(words) => Value::String(without_known(words)),
        other => other.clone(),
    }
}

/// The same for the members of an object.
pub fn members(members: &Map<String, Value>) -> Map<String, Value> {
    let redact = |(key, value): (&String, &Value)| {
        let value = match value {
            // Nothing is hidden by hiding nothing.
            Value::Null | Value::Bool(_) => value.clone(),
            _ if is_secret(key) => Value::from(SECRET),
            _ => json(value),
        };
        (key.clone(), value)
    };
    members.iter().map(redact).collect()
}

/// A line of text without secrets: known values, what stands after a secret key, bearer tokens,
/// values of well-known kinds, and passwords in addresses.
pub fn text(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let line = without_known(line);
    let mut rest = line.as_str();
    // What the next piece is worth hiding for.
    let mut after = After::Nothing;
    while !rest.is_empty() {
        let end = rest.find(is_border).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        let border = behind.chars().next();
        if !piece.is_empty() {
            let hides = match after {
                After::Nothing => looks_secret(piece),
                After::Assigned => true,
                After::Named => looks_secret(piece) || is_no_word(piece),
            };
            let scheme = ["bearer", "basic"].iter().any(|it| it.eq_ignore_ascii_case(piece));
            shown.push_str(if hides && !scheme { SECRET } else { piece });
            after = match border {
                _ if scheme => After::Named,
                Some('=') if is_secret(piece) => After::Assigned,
                Some(':' | '"' | '\'') if is_secret(piece) => After::Named,
                _ => After::Nothing,
            };
        } else if matches!(border, Some('&' | ';' | ',' | ')' | ']' | '}')) {
            after = After::Nothing;
        }
        let mut behind = behind.chars();
        shown.extend(behind.next());
        rest = behind.as_str();
    }
    without_passwords(&shown)
}

/// What came before a piece of a line.
#[derive(Clone, Copy)]
enum After {
    Nothing,
    /// `key=`
    Assigned,
    /// `key:`, which may also be the end of a clause.
    Named,
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || "=:\"'&;,()[]{}<>?/@".contains(c)
}

/// Whether it is more than a word of a sentence.
fn is_no_word(piece: &str) -> bool {
    piece.len() >= SHORTEST && !piece.chars().all(|c| c.is_alphabetic() || c == '-' || c == '.')
}

fn looks_secret(piece: &str) -> bool {
    let begins = BEGINNINGS.iter().any(|start| piece.starts_with(start));
    begins && piece.len() >= LONG_SEGMENT
}

/// `text` without the values that the configuration holds as secret.
fn without_known(text: &str) -> String {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut text = text.to_owned();
    for value in known.iter() {
        if text.contains(value.as_str()) {
            text = text.replace(value.as_str(), SECRET);
        }
    }
    text
}

/// `text` without what stands between `://` and `@`.
fn without_passwords(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let end = after.find(|c: char| c.is_whitespace() || "/?#\"'".contains(c));
        let authority = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
        rest = match authority.rfind('@') {
            Some(at) => {
                shown.push_str(SECRET);
                after.get(at..).unwrap_or_default()
            }
            None => after,
        };
    }
    shown.push_str(rest);
    shown
}

/// An address as it may be shown: without user, query and fragment, and without the parts of its
/// path that are keys.
pub fn address(url: &str) -> String {
    let url = without_known(url.split(['?', '#']).next().unwrap_or_default());
    let url = without_passwords(&url);
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let mut parts = rest.split('/');
    let mut shown = format!("{scheme}://{}", parts.next().unwrap_or_default());
    let mut named = false;
    for part in parts {
        let is_key = named || part == SECRET || looks_secret(part) || is_random(part);
        shown.push('/');
        shown.push_str(if is_key && !part.is_empty() { SECRET } else { part });
        named = !is_key && is_secret(part);
    }
    shown
}

/// Whether a part of a path is made of letters and digits as no word is.
fn is_random(part: &str) -> bool {
    let has = |which: fn(&char) -> bool| part.chars().any(|c| which(&c));
    part.len() >= LONG_SEGMENT && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_secret_by_whole_words() {
        for key in [
            "auth",
            "pwd",
            "jwt",
            "bearer",
            "key",
            "pin",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "Access-Token",
            "authtoken",
            "Authorization",
            "session_cookie",
            "clientSecret",
            "pass",
        ] {
            assert!(is_secret(key), "{key}");
        }
        for key in [
            "author",
            "spin",
            "keyboard",
            "monkey",
            "pinned",
            "compass",
            "max_tokens",
            "side",
            "tokens",
            "authority_name_of_nobody",
            "",
        ] {
            assert!(!is_secret(key), "{key}");
        }
    }

    #[test]
    fn members_are_replaced_at_any_depth() {
        let value = json!({"a": [{"api_key": "k", "b": {"Access-Token": {"x": 1}}}], "n": 1,
            "max_tokens": 5, "token": "t", "auth": true});
        let expected = json!({"a": [{"api_key": "<secret>", "b": {"Access-Token": "<secret>"}}],
            "n": 1, "max_tokens": 5, "token": "<secret>", "auth": true});
        assert_eq!(json(&value), expected);
    }

    #[test]
    fn lines_lose_what_is_secret_and_keep_the_rest() {
        for (line, expected) in [
            ("token=abc&x=1", "token=<secret>&x=1"),
            ("API_KEY=short end", "API_KEY=<secret> end"),
            ("Authorization: Bearer abc123def", "Authorization: Bearer <secret>"),
            (
                "{\"password\": \"h0rse-battery\", \"n\": 1}",
                "{\"password\": \"<secret>\", \"n\": 1}",
            ),
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.x", "got <secret>"),
            ("at http://me:pw@x.test/a", "at http://<secret>@x.test/a"),
            ("invalid token: expected a word", "invalid token: expected a word"),
            ("listening on 127.0.0.1:80, ok", "listening on 127.0.0.1:80, ok"),
            ("ümlaut: größer", "ümlaut: größer"),
        ] {
            assert_eq!(text(line), expected);
        }
    }

    #[test]
    fn what_the_configuration_holds_is_found_wherever_it_stands() {
        keep_secret("open/sesame-4711");
        assert_eq!(text("I said open/sesame-4711!"), "I said <secret>!");
        assert_eq!(address("https://x.test/open%2Fsesame-4711/mcp"), "https://x.test/<secret>/mcp");
        assert_eq!(json(&json!(["open/sesame-4711"])), json!(["<secret>"]));
        keep_secret("abc");
        assert_eq!(text("abc"), "abc", "too short to be told from words");
    }

    #[test]
    fn addresses_lose_their_keys() {
        for (url, expected) in [
            ("https://x.test/mcp?key=1#a", "https://x.test/mcp"),
            ("https://x.test/token/abc/mcp", "https://x.test/token/<secret>/mcp"),
            ("https://u:p@x.test:8/mcp", "https://<secret>@x.test:8/mcp"),
            ("https://x.test/s/a1b2c3d4e5f6a7b8c9d0e1f2/mcp", "https://x.test/s/<secret>/mcp"),
            ("http://127.0.0.1:3000/mcp", "http://127.0.0.1:3000/mcp"),
        ] {
            assert_eq!(address(url), expected);
        }
    }
}
