//! Package lists of Python registries: the simple API, as JSON or HTML.
//!
//! Entry function: [`listed`].

use std::sync::LazyLock;

use regex::Regex;
use reqwest::Url;
use serde::Deserialize;

/// Value of Accept for a list.
pub const ACCEPTED: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.5";

#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    pub url: Url,
    /// `None`: the list has no hash.
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: Hashes,
}

#[derive(Default, Deserialize)]
struct Hashes {
    sha256: Option<String>,
}

pub fn normalised(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if spelled.ends_with('-') => {}
            '-' | '_' | '.' => spelled.push('-'),
            _ => spelled.push(c.to_ascii_lowercase()),
        }
    }
    spelled
}

/// Finds the file `name` in the list at `page`; fails if `text` is no list.
pub fn listed(text: &str, page: &Url, name: &str) -> Result<Option<Listed>, &'static str> {
    if text.trim_start().starts_with('{') {
        return in_json(text, page, name);
    }
    in_html(text, page, name)
}

fn in_json(text: &str, page: &Url, name: &str) -> Result<Option<Listed>, &'static str> {
    let read: Page = serde_json::from_str(text).map_err(|_| "its JSON has an unexpected shape")?;
    let Some(file) = read.files.into_iter().find(|file| file.filename == name) else {
        return Ok(None);
    };
    let url = page.join(&file.url).map_err(|_| "the file's address cannot be read")?;
    Ok(Some(Listed { sha256: file.hashes.sha256.or_else(|| fragment(&url)), url: bare(url) }))
}

fn in_html(text: &str, page: &Url, name: &str) -> Result<Option<Listed>, &'static str> {
    #[expect(clippy::expect_used, reason = "a test uses it")]
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?is)<a\s[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')"#).expect("a pattern")
    });
    let mut is_list = false;
    for link in LINK.captures_iter(text) {
        is_list = true;
        let Some(target) = link.get(1).or_else(|| link.get(2)) else { continue };
        let Ok(url) = page.join(&target.as_str().replace("&amp;", "&")) else { continue };
        let last = url.path_segments().and_then(|mut it| it.next_back()).unwrap_or_default();
        if percent_encoding::percent_decode_str(last).decode_utf8_lossy() == name {
            return Ok(Some(Listed { sha256: fragment(&url), url: bare(url) }));
        }
    }
    if is_list { Ok(None) } else { Err("the page has no links") }
}

fn fragment(url: &Url) -> Option<String> {
    let hash = url.fragment()?.strip_prefix("sha256=")?;
    Some(hash.split('&').next().unwrap_or_default().to_owned())
}

fn bare(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}
