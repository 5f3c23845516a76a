//! Prompts for an NPC's model: the stable system prompt and each turn's message.
//!
//! Entry functions: [`system_prompt`], [`assistant_prompt`], [`turn_message`]; [`parts()`] shows
//! prompts to people. The system prompt depends only on files, so that providers can cache it. Text
//! of people is data: one line, without square brackets, at most 2,000 characters.
//! **Never**: shows an NPC another's secrets or the game master's knowledge, or puts the time or
//! anything random in the stable part.

mod parts;
mod said;
mod summary;

pub use parts::{PromptPart, parts};
pub use said::{
    FOLLOW_UP, GO_ON, HEARD_ITSELF, NOTHING_MORE, OPEN, Recalled, SideLine, go_on_after,
};
pub use summary::{extract, summary, summary_task, told};

use crate::domain::{Campaign, Entity, Npc};

use self::said::{LONGEST_FACT, LONGEST_NAME, LONGEST_TEXT, capped, one_line, said};
use super::{
    language::{Language, everything, is_any, kinds},
    words::{Words, fold},
};

/// System prompt; a section with an empty `{value}` is omitted.
const TEMPLATE: &str = include_str!("../../../assets/prompts/npc.md");

/// System prompt of the game master's assistant, likewise.
const ASSISTANT: &str = include_str!("../../../assets/prompts/assistant.md");

/// Most facts of the world in a prompt.
const MOST_FACTS: usize = 40;
const MOST_FACTS_FOR_THE_GAME_MASTER: usize = 100;

/// System prompt of `npc`: identity, knowledge, way of speaking.
pub fn system_prompt(npc: &Npc, campaign: &Campaign) -> String {
    let value = |key: &str| match key {
        "name" => one_line(&npc.name),
        "personality" => npc.personality.trim().to_owned(),
        "rules" => list(npc.behavior_rules.iter().map(|rule| one_line(rule))),
        "world" => world(campaign),
        "topics" => {
            let topics: Vec<_> = npc.knowledge_scope.iter().map(|topic| one_line(topic)).collect();
            topics.join(", ")
        }
        "facts" => facts(npc, campaign),
        "secrets" => list(npc.secret_knowledge.iter().map(|secret| one_line(secret))),
        "unwanted" => list(campaign.lines_and_veils.iter().map(|topic| one_line(topic))),
        "players" => list(campaign.players.iter().map(|player| one_line(&player.character))),
        "language" => language(&npc.language),
        "sentences" => match npc.max_sentences {
            0 | 1 => "one sentence".to_owned(),
            most => format!("{most} sentences"),
        },
        _ => String::new(),
    };
    let sections = TEMPLATE.trim().split("\n\n").filter_map(|section| filled(section, value));
    sections.collect::<Vec<_>>().join("\n\n")
}

/// System prompt of the game master's assistant, with the game master's knowledge.
pub fn assistant_prompt(assistant: &Npc, campaign: &Campaign) -> String {
    let value = |key: &str| match key {
        "name" => one_line(&assistant.name),
        "personality" => assistant.personality.trim().to_owned(),
        "rules" => list(assistant.behavior_rules.iter().map(|rule| one_line(rule))),
        "world" => world(campaign),
        "facts" => list(everything_of(campaign).take(MOST_FACTS_FOR_THE_GAME_MASTER).map(|it| {
            let secret = if it.dm_only { " Secret: the players do not know." } else { "" };
            format!("{}{secret}", fact(it))
        })),
        "unwanted" => list(campaign.lines_and_veils.iter().map(|topic| one_line(topic))),
        "players" => list(
            campaign.players.iter().map(|it| one_line(&format!("{}: {}", it.name, it.character))),
        ),
        "language" => language(&assistant.language),
        _ => String::new(),
    };
    let sections = ASSISTANT.trim().split("\n\n").filter_map(|section| filled(section, value));
    sections.collect::<Vec<_>>().join("\n\n")
}

/// Fills a section of the template, without expanding values; `None` if a value is empty.
fn filled(section: &str, value: impl Fn(&str) -> String) -> Option<String> {
    let mut text = String::with_capacity(section.len() * 2);
    let mut rest = section;
    while let Some((before, after)) = rest.split_once('{') {
        let (key, after) = after.split_once('}')?;
        let value = value(key);
        if value.is_empty() {
            return None;
        }
        text.push_str(before);
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn list(items: impl Iterator<Item = String>) -> String {
    let lines: Vec<_> =
        items.filter(|item| !item.is_empty()).map(|item| format!("- {item}")).collect();
    lines.join("\n")
}

fn world(campaign: &Campaign) -> String {
    let name = one_line(&campaign.name);
    let system = one_line(&campaign.system);
    let title = match (name.is_empty(), system.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("The campaign is called {name}."),
        (false, false) => format!("The campaign is called {name} and is played with {system}."),
    };
    [title.as_str(), campaign.description.trim()].join("\n").trim().to_owned()
}

/// Facts known to the NPC, a line each: those within its topics (all, without topics) unless
/// reserved for the game master, and those whose `known_to` names it.
fn facts(npc: &Npc, campaign: &Campaign) -> String {
    let scope: Vec<String> = npc.knowledge_scope.iter().map(|topic| fold(topic)).collect();
    let others = campaign.undescribed().filter(|other| other.name != npc.name);
    let known = campaign.entities.iter().chain(others).filter(|entity| {
        let is_told = entity.known_to.contains(&npc.name);
        is_told || !entity.dm_only && (scope.is_empty() || fits(entity, &scope))
    });
    list(known.take(MOST_FACTS).map(fact))
}

/// All entities, and the NPCs without an entity of their own.
fn everything_of(campaign: &Campaign) -> impl Iterator<Item = &Entity> {
    campaign.entities.iter().chain(campaign.undescribed())
}

fn fact(entity: &Entity) -> String {
    let aliases: Vec<_> = entity.aliases.iter().map(|alias| one_line(alias)).collect();
    let also =
        if aliases.is_empty() { String::new() } else { format!(", also {}", aliases.join(", ")) };
    let about = capped(&one_line(&entity.description), LONGEST_FACT);
    let kind = (Language::english().kind)(entity.kind).first().copied().unwrap_or_default();
    let about = if about.is_empty() { about } else { format!(": {about}") };
    format!("{} ({kind}{also}){about}", one_line(&entity.name))
}

/// True if a folded topic names the entity, a word of its name, or its kind.
fn fits(entity: &Entity, scope: &[String]) -> bool {
    let known_by = known_by(entity);
    scope.iter().flat_map(|topic| topic.split(' ')).any(|word| known_by.iter().any(|it| it == word))
}

/// Folded words, one of which must be in an NPC's topics for it to know the entity.
pub fn known_by(entity: &Entity) -> Vec<String> {
    let names = std::iter::once(&entity.name).chain(&entity.aliases);
    let names =
        names.flat_map(|name| Words::of(name).iter().map(str::to_owned).collect::<Vec<_>>());
    let kinds = kinds(entity.kind).map(str::to_owned);
    let all = everything().map(str::to_owned);
    let mut words: Vec<String> =
        all.chain(kinds).chain(names.filter(|it| is_telling(it))).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Folded words of an NPC's topics, for [`known_by`]; without topics it knows everything public.
pub fn topics(npc: &Npc) -> Vec<String> {
    if npc.knowledge_scope.is_empty() {
        return everything().map(str::to_owned).collect();
    }
    let words = npc.knowledge_scope.iter().map(|topic| fold(topic));
    let words: Vec<String> =
        words.flat_map(|topic| topic.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    words.into_iter().filter(|word| is_telling(word)).collect()
}

fn is_telling(word: &str) -> bool {
    word.chars().count() >= 3 && !is_any(|it| it.connecting, word)
}

/// English name of a language, by its ISO 639-1 code.
fn language(code: &str) -> String {
    let name = match code.trim().to_ascii_lowercase().split(['-', '_']).next().unwrap_or_default() {
        "" | "en" => "English",
        "de" => "German",
        "fr" => "French",
        "es" => "Spanish",
        "it" => "Italian",
        "nl" => "Dutch",
        "pt" => "Portuguese",
        "pl" => "Polish",
        "sv" => "Swedish",
        "da" => "Danish",
        "no" | "nb" => "Norwegian",
        "fi" => "Finnish",
        "cs" => "Czech",
        "uk" => "Ukrainian",
        "ru" => "Russian",
        "tr" => "Turkish",
        "ja" => "Japanese",
        "ko" => "Korean",
        "zh" => "Chinese",
        other => return format!("the language with the ISO 639-1 code \"{other}\""),
    };
    name.to_owned()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnMessage<'a> {
    /// Name that NPCs use for the speaker.
    pub speaker: &'a str,
    pub utterance: &'a str,
    /// The dice expression spoken, normalised ("2d6+3").
    pub dice: Option<&'a str>,
    /// Lines since the NPC's last one, oldest first; only the newest 2,000 characters are used.
    pub side_lines: &'a [SideLine],
    pub scene: Option<&'a str>,
    pub time_of_day: Option<&'a str>,
    pub recalled: Option<&'a Recalled>,
    pub note: Option<&'a str>,
    /// The turn reports an earlier call's result, not an utterance.
    pub is_follow_up: bool,
}

/// User message of one turn: facts in square brackets, one a line, then the utterance as the last
/// line.
pub fn turn_message(turn: &TurnMessage<'_>) -> String {
    let mut lines = Vec::new();
    if let Some(scene) = turn.scene {
        lines.push(format!("[Scene: {}]", said(scene, LONGEST_FACT)));
    }
    if let Some(time) = turn.time_of_day {
        lines.push(format!("[Time of day: {}]", said(time, LONGEST_NAME)));
    }
    lines.extend(turn.recalled.map(|it| it.lines(turn.side_lines)).unwrap_or_default());
    let side_lines = side_lines(turn.side_lines);
    if !side_lines.is_empty() {
        let is_marked = turn.side_lines.iter().any(|line| line.unanswered);
        let marked = if is_marked { " unless it says so" } else { "" };
        lines.push(format!("[Said at the table since you last spoke, not to you{marked}:]"));
        lines.extend(side_lines);
    }
    if let Some(dice) = turn.dice {
        let dice = said(dice, LONGEST_NAME);
        lines.push(format!(
            "[Dice spoken of: {dice}. If they are to be rolled, roll exactly that.]"
        ));
    }
    if let Some(note) = turn.note {
        let note = said(note, LONGEST_TEXT);
        lines.push(format!(
            "[From the game master to you alone; act on it, and never say that you were told: {note}]"
        ));
    }
    if turn.is_follow_up {
        lines.push(FOLLOW_UP.to_owned());
        return lines.join("\n");
    }
    if !lines.is_empty() {
        lines.push("[Said to you now:]".to_owned());
    }
    lines.push(format!("{}: {}", speaker(turn.speaker), said(turn.utterance, LONGEST_TEXT)));
    lines.join("\n")
}

fn side_lines(lines: &[SideLine]) -> Vec<String> {
    let mut left = LONGEST_TEXT;
    let line = |line: &SideLine| {
        let to_you = if line.unanswered { " [to you, and you have not answered]" } else { "" };
        let words = said(&line.text, LONGEST_TEXT);
        let text = format!("{}: {words}{to_you}", speaker(&line.speaker));
        left = left.checked_sub(text.chars().count())?;
        Some(text)
    };
    let mut newest: Vec<_> = lines.iter().rev().map_while(line).collect();
    newest.reverse();
    newest
}

/// A person's name on one line, without brackets and colons.
fn speaker(name: &str) -> String {
    let name = said(&name.replace([':', '：'], " "), LONGEST_NAME);
    if name.is_empty() { "Somebody".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
