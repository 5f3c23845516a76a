//! Values that are never shown.
//!
//! Entry functions: [`keep`], [`known`].

use std::{
    borrow::Cow,
    sync::{PoisonError, RwLock},
};

/// Most known values; far more than a configuration has.
const MOST: usize = 1_000;
/// Characters by which a shortened value is recognised.
const RECOGNISED: usize = 12;

struct KeptValue {
    value: String,
    /// Replacement for the value.
    shown: String,
}

/// Longest first: one may begin like another.
static KNOWN: RwLock<Vec<KeptValue>> = RwLock::new(Vec::new());

pub fn keep(value: &str, shown: &str) {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for form in forms(value.trim()) {
        if !form.is_empty() && known.len() < MOST && !known.iter().any(|it| it.value == form) {
            known.push(KeptValue { value: form, shown: shown.to_owned() });
        }
    }
    known.sort_by_key(|it| std::cmp::Reverse(it.value.len()));
}

/// Forms of `value`, longest first: forms begin alike.
fn forms(value: &str) -> [String; 3] {
    [in_message(value), in_address(value), value.to_owned()]
}

fn in_message(value: &str) -> String {
    let escape = |char: char| match char.is_control() {
        true => char.escape_default().collect(),
        false => vec![char],
    };
    value.chars().flat_map(escape).collect()
}

fn in_address(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

pub fn known(text: &str) -> Cow<'_, str> {
    known_from(0, text)
}

/// `text` without known values of at least `shortest` bytes.
pub fn known_from(shortest: usize, text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let long = || known.iter().take_while(|it| it.value.len() >= shortest);
    let clean = |text, cleaned: Option<String>| cleaned.map_or(text, Cow::Owned);
    let text = long().fold(Cow::Borrowed(text), |text, it| {
        let cleaned = without_whole(&text, &it.value, &it.shown);
        clean(text, cleaned)
    });
    long().fold(text, |text, it| {
        let cleaned = replaced(&text, &it.value, &it.shown);
        clean(text, cleaned)
    })
}

/// True if `text` contains a known value of at least `shortest` bytes.
pub fn holds(shortest: usize, text: &str) -> bool {
    matches!(known_from(shortest, text), Cow::Owned(_))
}

/// `text` with `value`, in any form, replaced by `shown`; `None`: not found.
pub fn without(text: &str, value: &str, shown: &str) -> Option<String> {
    let forms = forms(value);
    [without_whole, replaced].into_iter().fold(None, |cleaned, step| {
        forms.iter().fold(cleaned, |cleaned, form| {
            let fresh = step(cleaned.as_deref().unwrap_or(text), form, shown);
            fresh.or(cleaned)
        })
    })
}

/// `text` with the whole `value` replaced by `shown`; `None`: not found. Runs before [`replaced`]:
/// a multi-line value's escaped form begins like the plain one and would pass for cut off.
fn without_whole(text: &str, value: &str, shown: &str) -> Option<String> {
    (!value.is_empty() && text.contains(value)).then(|| text.replace(value, shown))
}

/// `text` with `value`, or its beginning if cut off, replaced by `shown`; `None`: not found.
fn replaced(text: &str, value: &str, shown: &str) -> Option<String> {
    let begins = value.char_indices().nth(RECOGNISED).map_or(value, |(end, _)| &value[..end]);
    let (mut cleaned, mut found, mut rest) = (String::new(), false, text);
    while let Some((before, after)) = rest.split_once(begins) {
        cleaned.push_str(before);
        let behind = value[begins.len()..].chars();
        let same = after.chars().zip(behind).take_while(|(a, b)| a == b);
        let same: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let is_whole = begins.len() + same == value.len();
        let is_cut = || !after[same..].chars().next().is_some_and(char::is_alphanumeric);
        // Else it is another text that begins alike.
        let hides = is_whole || is_cut();
        found |= hides;
        cleaned.push_str(if hides { shown } else { begins });
        rest = if hides { &after[same..] } else { after };
    }
    cleaned.push_str(rest);
    found.then_some(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_prefix_alone_is_not_redacted() {
        let without = |text: &str| without(text, "http://127.0.0.1:80/key", "${URL}");
        assert_eq!(without("at http://127.0.0.1:80/key!"), Some("at ${URL}!".to_owned()));
        assert_eq!(without("at http://127.0.0.1:80/k…"), Some("at ${URL}…".to_owned()));
        assert_eq!(without("at http://127.0.0.1:81/key!"), None);
        let both = "http://127.0.0.2, http://127.0.0.1:80/key";
        assert_eq!(without(both), Some("http://127.0.0.2, ${URL}".to_owned()));
    }

    #[test]
    fn value_of_several_lines_is_hidden_whole() {
        let key = "-----BEGIN KEY-----\nMIIEvQ+/\n-----END KEY-----";
        for text in [key.to_owned(), in_message(key), in_address(key)] {
            let cleaned = without(&format!("x {text} y"), key, "<secret>");
            assert_eq!(cleaned.as_deref(), Some("x <secret> y"), "{text}");
        }
    }
}
