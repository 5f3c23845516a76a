//! Example dialogues of cards as exchanges.
//!
//! Entry function: [`exchanges`].

/// Lines that begin a new conversation, or end one.
const BREAKS: &[&str] = &["<start>", "{{start}}", "<end>", "<end_of_dialog>"];
/// Labels of players' lines.
const PLAYERS: &[&str] = &["{{user}}", "<user>", "user", "you"];
/// Labels of the character's lines, besides its names.
const CHARACTERS: &[&str] = &["{{char}}", "<bot>", "<char>", "char", "bot"];

/// A line and its answer, with placeholders as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    pub player: String,
    pub npc: String,
}

/// Exchanges of `text`, which is tidy, by a character of these `names`. Text that no one says is dropped.
pub fn exchanges(text: &str, names: &[&str]) -> Vec<Raw> {
    let mut found = Vec::new();
    let mut current = Raw::default();
    let mut side: Option<Side> = None;
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = after_break(line) {
            end(&mut current, &mut found);
            side = None;
            line = rest;
        }
        if let Some((who, said)) = speaker(line, names) {
            if who == Side::Player && !current.npc.is_empty() {
                end(&mut current, &mut found);
            }
            side = Some(who);
            line = said;
        }
        let lines = match side {
            Some(Side::Player) => &mut current.player,
            Some(Side::Npc) => &mut current.npc,
            None => continue,
        };
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str(line);
    }
    end(&mut current, &mut found);
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Player,
    Npc,
}

/// Stores an exchange that has an answer.
fn end(current: &mut Raw, found: &mut Vec<Raw>) {
    let ended = std::mem::take(current);
    if !ended.npc.trim().is_empty() {
        found.push(ended);
    }
}

/// The rest of a line that begins with a break.
fn after_break(line: &str) -> Option<&str> {
    BREAKS.iter().find_map(|it| {
        let (start, rest) = line.split_at_checked(it.len())?;
        start.eq_ignore_ascii_case(it).then_some(rest.trim_start())
    })
}

/// Speaker and text of a line that begins with a name.
fn speaker<'t>(line: &'t str, names: &[&str]) -> Option<(Side, &'t str)> {
    let (who, said) = line.split_once(':')?;
    let who: String = who.chars().filter(|c| !c.is_whitespace() && *c != '*').collect();
    let who = who.to_lowercase();
    let is_name = |name: &&str| {
        let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        name.to_lowercase() == who
    };
    // "{{random_user_1}}" is a player of no name.
    if PLAYERS.contains(&who.as_str()) || who.starts_with("{{random_user") {
        return Some((Side::Player, said.trim_start()));
    }
    if CHARACTERS.contains(&who.as_str()) || names.iter().any(is_name) {
        return Some((Side::Npc, said.trim_start()));
    }
    None
}
