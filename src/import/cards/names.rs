//! Names of cards, and the shorter ones that players say.
//!
//! Entry functions: [`clean`], [`short`], [`aliases`].

use crate::{domain::one_line, markup};

/// Longest name, in characters.
const NAME_MAX: usize = 80;
/// Most aliases; entries of lore have up to 60 keys.
const ALIASES_MAX: usize = 100;
/// Separators behind the name proper; authors append a description.
const ENDS: &[&str] = &["||", "|", " - ", " – ", " — ", "—", " ~ ", " // ", ": ", ", ", " (", " ["];
/// Titles as written -> as said.
const TITLES: &[(&str, &str)] = &[
    ("dr.", "Doctor"),
    ("prof.", "Professor"),
    ("mr.", "Mister"),
    ("mrs.", "Missus"),
    ("ms.", "Miss"),
    ("st.", "Saint"),
    ("capt.", "Captain"),
    ("sgt.", "Sergeant"),
    ("lt.", "Lieutenant"),
    ("gen.", "General"),
    ("col.", "Colonel"),
];

/// `name` on one line, without entities of HTML and invisible characters, and cut to its longest.
pub fn clean(name: &str) -> String {
    let plain = if name.contains('&') && name.contains(';') && !name.contains('<') {
        let cut: String = name.chars().take(NAME_MAX * 10).collect();
        markup::prose(&cut).open
    } else {
        name.to_owned()
    };
    let line = one_line(&plain.replace('\r', " "), NAME_MAX * 4);
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(NAME_MAX).collect::<String>().trim().to_owned()
}

/// The name proper: "Amanda" of "Amanda || Blunt Rogue". `name` is clean.
pub fn short(name: &str) -> &str {
    let cuts = ENDS.iter().filter_map(|end| name.find(end));
    let end = cuts.filter(|at| *at > 0).min().unwrap_or(name.len());
    let proper = name.get(..end).unwrap_or(name);
    // "Flux the Cat", but not "Lord of the Rings".
    let is_name = |before: &str| {
        before.split(' ').next_back().is_some_and(|it| it.starts_with(char::is_uppercase))
    };
    let proper = match proper.split_once(" the ") {
        Some((before, _)) if is_name(before) => before.trim(),
        _ => proper.trim(),
    };
    if proper.chars().any(char::is_alphanumeric) { proper } else { name }
}

/// Names that players say for `name`, a nickname first; without `name` itself.
pub fn aliases(name: &str, nickname: Option<&str>) -> Vec<String> {
    let proper = short(name);
    let mut found: Vec<String> = nickname.map(str::to_owned).into_iter().collect();
    let mut quoted = proper.split(['"', '“', '”']).map(str::trim);
    if let (Some(before), Some(inside), Some(after)) = (quoted.next(), quoted.next(), quoted.next())
    {
        found.push(inside.to_owned());
        found.push(format!("{before} {after}").trim().to_owned());
    } else {
        found.push(proper.to_owned());
    }
    if let Some((title, rest)) = proper.split_once(' ')
        && let Some((_, said)) = TITLES.iter().find(|(it, _)| title.eq_ignore_ascii_case(it))
    {
        found.push(format!("{said} {rest}"));
        // One word may be a common one, as in "Dr. Light".
        if rest.contains(' ') {
            found.push(rest.to_owned());
        }
    }
    distinct(name, found)
}

/// `found` without blank, equal and further ones than are kept, and without `name`.
pub fn distinct(name: &str, found: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for alias in found {
        let is_word = alias.chars().any(char::is_alphanumeric);
        let is_new = alias != name && !kept.contains(&alias);
        if is_word && is_new && kept.len() < ALIASES_MAX {
            kept.push(alias);
        }
    }
    kept
}
