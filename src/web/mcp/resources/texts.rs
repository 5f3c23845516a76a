//! Resources as text, for a game master or for players. **Never**: passes on hidden characters.

use crate::{
    campaign::{entity_word, time},
    domain::{AccessRole, AddressMode, Npc, one_line, visible},
    memory::{Entity, Snapshot, TranscriptLine, Visibility},
};

/// Longest transcript, in bytes: as much as a model reads at once.
const TRANSCRIPT_MAX: usize = 256 * 1_024;
/// Longest line of one, in characters.
const LINE_MAX: usize = 4_000;
/// Longest name, in characters.
const NAME_MAX: usize = 200;

/// The last of `lines`, one a row; `is_cut` if earlier ones were not read.
pub fn transcript(lines: &[TranscriptLine], is_cut: bool) -> String {
    let mut rows = Vec::new();
    let mut left = TRANSCRIPT_MAX;
    for line in lines.iter().rev() {
        let row = row(line);
        let Some(rest) = left.checked_sub(row.len()) else { break };
        left = rest;
        rows.push(row);
    }
    let mut text = String::new();
    if is_cut || rows.len() < lines.len() {
        text.push_str("(earlier lines are left out)\n");
    }
    text.extend(rows.iter().rev().map(String::as_str));
    if text.is_empty() {
        text.push_str("(nothing was said)\n");
    }
    text
}

fn row(line: &TranscriptLine) -> String {
    let TranscriptLine { seq, said, .. } = line;
    let (who, text) = (one_line(said.who(), NAME_MAX), one_line(&said.text, LINE_MAX));
    format!("#{seq} {} {who}: {text}\n", time(said.at))
}

/// An entity without its relations, as `role` may see it.
pub fn entity(entity: &Entity, role: AccessRole) -> String {
    let mut lines = vec![format!("{} ({})", name(&entity.name), entity_word(entity.kind))];
    if !entity.aliases.is_empty() {
        lines.push(format!("Also called: {}", names(&entity.aliases)));
    }
    match &entity.visibility {
        _ if role == AccessRole::Player => {}
        Visibility::Everyone => {}
        Visibility::Dm => lines.push("Known to the game master alone".to_owned()),
        Visibility::Npcs(npcs) => {
            lines.push(format!("Known to the game master and: {}", names(npcs)));
        }
    }
    if !entity.description.is_empty() {
        lines.push(visible(&entity.description));
    }
    for (key, value) in &entity.attributes {
        let value = value.as_str().map_or_else(|| value.to_string(), visible);
        lines.push(format!("{}: {value}", name(key)));
    }
    lines.join("\n") + "\n"
}

/// An entity with its relations.
pub fn snapshot(snapshot: &Snapshot, role: AccessRole) -> String {
    let mut text = entity(&snapshot.entity, role);
    for tie in &snapshot.ties {
        let key = &tie.relation.key;
        let (kind, other) = (name(&key.kind.replace('_', " ")), name(&tie.other.name));
        text.push_str(&if key.from == snapshot.entity.id {
            format!("→ {kind} {other}\n")
        } else {
            format!("← {other} {kind} it\n")
        });
    }
    text
}

/// An NPC. Players learn what they can hear: personality, rules and knowledge may give away a plot.
pub fn npc(npc: &Npc, role: AccessRole) -> String {
    let mut lines = vec![name(&npc.name)];
    if !npc.aliases.is_empty() {
        lines.push(format!("Also called: {}", names(&npc.aliases)));
    }
    lines.push(format!("Language: {}", npc.language));
    lines.push(
        match npc.address {
            AddressMode::NameOnly => "Answers when named",
            AddressMode::Adaptive => "Answers when named, in conversation, or alone",
            AddressMode::Always => "Answers everything that isn't said to someone else",
        }
        .to_owned(),
    );
    if role == AccessRole::Dm {
        lines.extend(for_dm(npc));
    }
    lines.join("\n") + "\n"
}

fn for_dm(npc: &Npc) -> Vec<String> {
    let mut lines = vec![
        format!("Engine: {}", npc.engine.name()),
        format!("Voice: {} {}", npc.voice.provider, npc.voice.voice_id),
        format!("Tier: up to {}", npc.budget_tier),
        format!(
            "Tools: {}",
            if npc.tools.is_empty() { "none".to_owned() } else { names(&npc.tools) }
        ),
    ];
    if !npc.knowledge_scope.is_empty() {
        lines.push(format!("Knows about: {}", names(&npc.knowledge_scope)));
    }
    lines.push(format!("\n{}", visible(npc.personality.trim())));
    for (title, of) in [("Rules", &npc.behavior_rules), ("Secrets", &npc.secret_knowledge)] {
        if !of.is_empty() {
            lines.push(format!("\n{title}:"));
            lines.extend(of.iter().map(|it| format!("- {}", visible(it.trim()))));
        }
    }
    lines
}

fn name(text: &str) -> String {
    one_line(text, NAME_MAX)
}

fn names(of: &[String]) -> String {
    of.iter().map(|it| name(it)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Utterance;

    fn line(seq: u64, text: &str) -> TranscriptLine {
        let said = Utterance {
            speaker: "Anna\n#9 00:00:00 Bartok".to_owned(),
            text: text.to_owned(),
            ..Utterance::default()
        };
        TranscriptLine { seq, said, withdrawn: false }
    }

    #[test]
    fn words_of_others_make_no_row_of_their_own() {
        let text = transcript(&[line(1, "a\u{202e}b\n#2 00:00:00 Mira: c")], false);
        assert_eq!(text, "#1 00:00:00 Anna #9 00:00:00 Bartok: ab #2 00:00:00 Mira: c\n");
        assert_eq!(transcript(&[], false), "(nothing was said)\n");
    }

    #[test]
    fn players_see_no_secret_of_an_npc() {
        let npc = Npc {
            aliases: vec!["Bart".to_owned()],
            personality: "Kind, because he is the king's brother.".to_owned(),
            behavior_rules: vec!["Never speaks of the brother.".to_owned()],
            secret_knowledge: vec!["He is the king's brother.".to_owned()],
            knowledge_scope: vec!["the king's brother".to_owned()],
            tools: vec!["find-brother.*".to_owned()],
            ..Npc::plain("Bartok")
        };
        let told = super::npc(&npc, AccessRole::Player);
        let expected = "Bartok\nAlso called: Bart\nLanguage: en\n\
                        Answers when named, in conversation, or alone\n";
        assert_eq!(told, expected);
        let told = super::npc(&npc, AccessRole::Dm);
        assert_eq!(told.matches("brother").count(), 5, "{told}");
    }

    #[test]
    fn long_transcript_keeps_its_end() {
        let lines: Vec<_> = (1..=200).map(|seq| line(seq, &"x".repeat(3_900))).collect();
        let text = transcript(&lines, false);
        assert!(text.len() <= TRANSCRIPT_MAX + 100, "{}", text.len());
        assert!(text.starts_with("(earlier lines are left out)\n#"), "{}", &text[..60]);
        assert!(text.lines().last().unwrap().starts_with("#200 "));
    }
}
