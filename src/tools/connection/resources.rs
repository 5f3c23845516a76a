//! Reads a server's resources into values by key. One failing resource does not stop the others.

use std::collections::BTreeMap;

use serde_json::Value;

use super::client::Client;
use crate::domain::one_line;

/// Most resources read of one server.
const MOST: usize = 100;
/// Longest resource, in bytes.
const LONGEST: usize = 1024 * 1024;

/// Longest key, in characters.
const LONGEST_KEY: usize = 128;
/// Most bytes of all resources of one server.
pub const KEPT: usize = 8 * 1024 * 1024;

#[derive(Default)]
pub struct ReadResources {
    pub all: BTreeMap<String, Value>,
    /// Total bytes of text.
    pub bytes: usize,
}

/// Reads all resources of `client`; fills URI templates from `vars`.
pub async fn read_all(
    client: &Client,
    server: &str,
    vars: &BTreeMap<String, String>,
) -> ReadResources {
    let listed = match client.resources().await {
        Ok(listed) => listed,
        Err(error) => {
            tracing::warn!(server, %error, "cannot list a server's resources");
            return ReadResources::default();
        }
    };
    let filled = listed.templates.iter().map(|(name, template)| {
        let (uri, missing) = fill(template, vars);
        if !missing.is_empty() {
            tracing::warn!(
                server,
                template,
                missing = missing.join(", "),
                "a resource's template has variables without a value (set resource_vars)"
            );
        }
        (name.clone(), uri)
    });
    let mut read = ReadResources::default();
    for (name, uri) in listed.listed.iter().cloned().chain(filled).take(MOST) {
        match client.read(&uri).await {
            Ok(text) if text.len() > LONGEST => {
                tracing::warn!(server, uri, bytes = text.len(), "a resource is too long to keep");
            }
            Ok(text) if read.bytes + text.len() > KEPT => {
                tracing::warn!(server, most = KEPT, "too many resources, so the rest is skipped");
                break;
            }
            Ok(text) => {
                read.bytes += text.len();
                read.all.insert(key(&name, &uri), value(text));
            }
            Err(error) => tracing::warn!(server, uri, %error, "a resource cannot be read"),
        }
    }
    read
}

/// The filled template, and the missing variables, which stay as written.
fn fill<'t>(template: &'t str, vars: &BTreeMap<String, String>) -> (String, Vec<&'t str>) {
    let (mut filled, mut rest, mut missing) = (String::new(), template, Vec::new());
    while let Some((before, from)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((written, after)) = from.split_once('}') else {
            rest = &rest[before.len()..];
            break;
        };
        rest = after;
        // Reserved expansion (`+`) keeps characters that simple expansion encodes.
        let (name, reserved) = match written.strip_prefix('+') {
            Some(name) => (name, true),
            None => (written, false),
        };
        let Some(value) = vars.get(name) else {
            filled.push_str(&format!("{{{written}}}"));
            missing.push(name);
            continue;
        };
        for byte in value.bytes() {
            let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            match plain || (reserved && b":/?#[]@!$&'()*+,;=%".contains(&byte)) {
                true => filled.push(char::from(byte)),
                false => filled.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    filled.push_str(rest);
    (filled, missing)
}

/// The resource's name, else the last segment of its URI.
fn key(name: &str, uri: &str) -> String {
    if !name.trim().is_empty() {
        return one_line(name.trim(), LONGEST_KEY);
    }
    let path = uri.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    one_line(path.rsplit(['/', ':']).next().unwrap_or_default(), LONGEST_KEY)
}

/// Parsed JSON, or text.
fn value(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_template_variables_are_left_in_place() {
        let vars = [("town".to_owned(), "Black Hollow/ü".to_owned())].into();
        let (filled, missing) = fill("map://{town}/{+town}", &vars);
        assert_eq!(filled, "map://Black%20Hollow%2F%C3%BC/Black%20Hollow/%C3%BC");
        assert!(missing.is_empty());
        let (filled, missing) = fill("map://{country}/{town}{?a,b}", &vars);
        assert_eq!(filled, "map://{country}/Black%20Hollow%2F%C3%BC{?a,b}");
        assert_eq!(missing, ["country", "?a,b"]);
        assert_eq!(fill("map://a{town", &vars), ("map://a{town".to_owned(), Vec::new()));
    }

    #[test]
    fn keys_and_values() {
        assert_eq!(key(" towns ", "x://y"), "towns");
        assert_eq!(key("", "file:///data/towns.json?x=1"), "towns.json");
        assert_eq!(value("{\"a\": [1]}".into()), json!({"a": [1]}));
        assert_eq!(value("plain words".into()), json!("plain words"));
    }
}
