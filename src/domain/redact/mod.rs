//! Redaction of secrets in call logs, child processes' output, shown messages and addresses.
//!
//! Entry functions: [`keep`], [`known`], [`text`], [`json`], [`shown`], [`members`], [`address`]. A
//! value is secret because of its key (whole words: `auth`, `pin`, `jwt`, …), because the
//! configuration holds it as a secret, or because it looks like one.

mod keys;
mod values;

use std::fmt;

use serde_json::{Map, Value};

use self::keys::is_session;
pub use self::{
    keys::is_secret,
    values::{keep, known, without},
};
use super::access::TOKEN_PREFIX;

pub const SECRET: &str = "<secret>";

/// Prefixes of well-known kinds of secrets.
const BEGINNINGS: [&str; 13] = [
    TOKEN_PREFIX,
    "sk-",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "eyJ",
    "AIza",
    "AKIA",
    "gsk_",
    "hf_",
];
/// Shorter values are not searched for alone: they occur in ordinary words.
const SHORTEST: usize = 6;
/// Shorter values of the configuration may be words of a conversation.
const LONG_CREDENTIAL: usize = 12;
/// A path segment this long, of letters and digits, is a key.
const LONG_SEGMENT: usize = 20;
/// Least length of a secret session id, and of the part with letters and digits that marks it as
/// one.
const LONG_SESSION: usize = 16;
const SESSION_PART: usize = 8;

/// Prints as `<secret>`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

/// Hides `value` from now on.
pub fn keep_secret(value: &str) {
    if value.trim().len() >= SHORTEST {
        keep(value, SECRET);
    }
}

/// `value` without secrets, at any depth.
pub fn json(value: &Value) -> Value {
    match value {
        Value::Object(all) => Value::Object(members(all)),
        Value::Array(items) => Value::Array(items.iter().map(json).collect()),
        Value::String(words) => Value::String(long_known(words)),
        other => other.clone(),
    }
}

pub fn members(members: &Map<String, Value>) -> Map<String, Value> {
    let redact = |(key, value): (&String, &Value)| {
        let value = match value {
            // These cannot hold a secret.
            Value::Null | Value::Bool(_) => value.clone(),
            _ if is_secret(key) => Value::from(SECRET),
            Value::String(id) if is_session(key) && is_opaque(id) => Value::from(SECRET),
            _ => json(value),
        };
        (key.clone(), value)
    };
    members.iter().map(redact).collect()
}

/// True if `text` contains a credential: a secret of the configuration, or a value with a
/// well-known prefix.
pub fn holds_credential(text: &str) -> bool {
    values::holds(LONG_CREDENTIAL, text) || text.split(is_border).any(looks_secret)
}

pub fn without_credentials(text: &str) -> String {
    let text = values::known_from(LONG_CREDENTIAL, text);
    let mut kept = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_border) {
        let word = piece.trim_end_matches(is_border);
        kept.push_str(if looks_secret(word) { SECRET } else { word });
        kept.push_str(&piece[word.len()..]);
    }
    kept
}

pub fn shown(value: &Value) -> Value {
    match value {
        Value::Object(all) => {
            Value::Object(all.iter().map(|(key, value)| (key.clone(), shown(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(shown).collect()),
        Value::String(words) => Value::String(without_credentials(words)),
        other => other.clone(),
    }
}

/// A line without secrets: known values, values of secret keys, bearer tokens, values of well-known
/// kinds, and passwords in addresses.
pub fn text(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let line = long_known(line);
    let mut rest = line.as_str();
    // Decides whether the next piece is hidden.
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
                After::Session => looks_secret(piece) || is_opaque(piece),
            };
            let scheme = ["bearer", "basic"].iter().any(|it| it.eq_ignore_ascii_case(piece));
            shown.push_str(if hides && !scheme { SECRET } else { piece });
            after = match border {
                _ if scheme => After::Named,
                Some('=') if is_secret(piece) => After::Assigned,
                Some(':' | '"' | '\'') if is_secret(piece) => After::Named,
                Some('=' | ':' | '"' | '\'') if is_session(piece) => After::Session,
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

/// Text before a piece of a line.
#[derive(Clone, Copy)]
enum After {
    Nothing,
    Assigned,
    /// `key:`, which may also end a clause.
    Named,
    /// `session=`, which may be one of ours.
    Session,
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || "=:\"'&;,()[]{}<>?/@".contains(c)
}

/// True if `piece` is no word: long, and not only letters, hyphens and dots.
fn is_no_word(piece: &str) -> bool {
    piece.len() >= SHORTEST && !piece.chars().all(|c| c.is_alphabetic() || c == '-' || c == '.')
}

fn looks_secret(piece: &str) -> bool {
    let begins = BEGINNINGS.iter().any(|start| piece.starts_with(start));
    begins && piece.len() >= LONG_SEGMENT
}

/// `text` without the configuration's secrets, except those that may be ordinary words.
fn long_known(text: &str) -> String {
    values::known_from(SHORTEST, text).into_owned()
}

/// True if `id` looks like a server's generated session id: ours are words and numbers.
fn is_opaque(id: &str) -> bool {
    let is_made_up = |part: &str| part.len() >= SESSION_PART && is_mixed(part);
    id.len() >= LONG_SESSION && id.split(['-', '_', '.']).any(is_made_up)
}

/// `text` without user and password in addresses.
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

/// An address without user, query, fragment, and keys in its path.
pub fn address(url: &str) -> String {
    let url = long_known(url.split(['?', '#']).next().unwrap_or_default());
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

/// True if a path segment looks random: long, with both letters and digits.
fn is_random(part: &str) -> bool {
    part.len() >= LONG_SEGMENT && is_mixed(part)
}

fn is_mixed(part: &str) -> bool {
    let has = |which: fn(&char) -> bool| part.chars().any(|c| which(&c));
    has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_in_a_conversation_are_known() {
        keep_secret("correct-horse-battery");
        for text in [
            "My key is sk-proj-0123456789abcdef, traveller.",
            "Authorization: Bearer glx_A-_0123456789abcdef",
            "It is correct-horse-battery!",
            "Say AIzaSyA0123456789abcdef thrice.",
        ] {
            assert!(holds_credential(text), "{text}");
            assert!(!holds_credential(&without_credentials(text)), "{text}");
        }
        let plain = "The key is under the mat: ask sk-eleton Bob; (pin 4711).";
        assert!(!holds_credential(plain));
        assert_eq!(without_credentials(plain), plain);
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
    fn foreign_sessions_are_hidden_and_own_shown() {
        let uuid = "0b5f2a90-7c1e-4d38-9a53-1f6e2b7c8d90";
        for key in ["session", "session_id", "sessionId", "Mcp-Session-Id", "PHPSESSID"] {
            assert_eq!(json(&json!({ key: uuid })), json!({ key: SECRET }), "{key}");
            assert_eq!(text(&format!("{key}={uuid}; x")), format!("{key}={SECRET}; x"));
            for ours in
                [json!(14), json!("discord-1234567890123-1790000000"), json!("the-mill-of-1347")]
            {
                assert_eq!(json(&json!({ key: ours })), json!({ key: ours }), "{key}: {ours}");
            }
        }
        for key in ["session_notes", "sessions", "session_number", "obsession"] {
            assert_eq!(json(&json!({ key: uuid })), json!({ key: uuid }), "{key}");
        }
        assert_eq!(
            text("session \"discord-77-1790000000\" is over"),
            "session \"discord-77-1790000000\" is over"
        );
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
    fn configured_secrets_are_hidden_everywhere() {
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
