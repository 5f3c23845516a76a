//! An NPC as a character card of version 3, with its voice in `extensions.glyphoxa`.
//!
//! Entry function: [`card`]. Cards are passed on, so secrets stay here.

use serde_json::{Value, json};

use crate::domain::{LineWhen, Npc, ScriptedLine, Voice};

/// Most greetings, and most example exchanges; files of other programs grow beyond use.
const LINES_MAX: usize = 30;
/// Phrases of lines that greet, in the languages of the shipped words.
const GREETINGS: &[&str] = &["hello", "hi", "hallo", "greetings", "guten tag", "bonjour", "hola"];

/// The card of `npc`, without its `secret_knowledge`.
pub fn card(npc: &Npc) -> Value {
    let mut greetings = greetings(npc).into_iter();
    let first = greetings.next().unwrap_or_default();
    let mut data = json!({
        "name": npc.name,
        "description": npc.personality.trim(),
        "personality": "",
        "scenario": "",
        "first_mes": first,
        "mes_example": examples(npc),
        "creator_notes": "Exported from Glyphoxa, without the NPC's secrets.",
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": greetings.collect::<Vec<_>>(),
        "group_only_greetings": [],
        "tags": [],
        "creator": "",
        "character_version": "",
        "extensions": { "glyphoxa": of_glyphoxa(npc) },
    });
    if let (Some(alias), Some(data)) = (npc.aliases.first(), data.as_object_mut()) {
        data.insert("nickname".to_owned(), json!(alias));
    }
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data })
}

fn of_glyphoxa(npc: &Npc) -> Value {
    let respelled = |it: &crate::domain::Pronunciation| (it.word.clone(), json!(it.respelling));
    let pronunciation: serde_json::Map<String, Value> =
        npc.pronunciation.iter().map(respelled).collect();
    json!({
        "voice": voice(&npc.voice),
        "language": npc.language,
        "aliases": npc.aliases,
        "pronunciation": pronunciation,
        "behavior_rules": npc.behavior_rules,
        "max_sentences": npc.max_sentences,
    })
}

fn voice(voice: &Voice) -> Value {
    json!({
        "provider": voice.provider,
        "voice_id": voice.voice_id,
        "pitch_shift": rounded(voice.pitch_shift),
        "speed_factor": rounded(voice.speed_factor),
        "formant_shift": rounded(voice.formant_shift),
        "volume": rounded(voice.volume),
        "fallback": voice.fallback.as_deref().map(self::voice),
    })
}

/// The number as written; the wider type alone would show further digits.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1_000.0).round() / 1_000.0
}

/// Answers to a greeting, or else to anything.
fn greetings(npc: &Npc) -> Vec<&str> {
    let is_greeting = |line: &&ScriptedLine| {
        phrases(line).iter().any(|it| GREETINGS.contains(&it.to_lowercase().as_str()))
    };
    let greeting = npc.lines.iter().find(is_greeting);
    let otherwise = || npc.lines.iter().find(|line| line.when.is_none());
    greeting.or_else(otherwise).map(said).unwrap_or_default()
}

/// Exchanges as SillyTavern separates them.
fn examples(npc: &Npc) -> String {
    let mut text = String::new();
    let exchanges = npc.lines.iter().filter_map(|line| Some((phrases(line).first()?, said(line))));
    for (phrase, said) in exchanges.take(LINES_MAX) {
        if let Some(said) = said.first() {
            text.push_str(&format!("<START>\n{{{{user}}}}: {phrase}\n{{{{char}}}}: {said}\n"));
        }
    }
    text
}

fn phrases(line: &ScriptedLine) -> &[String] {
    match &line.when {
        Some(LineWhen::Phrases(phrases)) => phrases,
        _ => &[],
    }
}

/// Variants without a value that only a turn has.
fn said(line: &ScriptedLine) -> Vec<&str> {
    let texts = line.say.iter().map(String::as_str);
    texts.filter(|text| !text.contains(['{', '}'])).take(LINES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(when: &[&str], say: &[&str]) -> ScriptedLine {
        let owned = |of: &[&str]| of.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let when = Some(LineWhen::Phrases(owned(when))).filter(|_| !when.is_empty());
        ScriptedLine {
            when,
            language: None,
            say: owned(say),
            tool: None,
            otherwise: Vec::new(),
            once: false,
            weight: 1,
        }
    }

    #[test]
    fn card_holds_voice_and_lines_but_no_secret() {
        let voice = Voice { pitch_shift: -1.1, ..Voice::as_is("piper", "joe") };
        let npc = Npc {
            aliases: vec!["Bart".to_owned()],
            secret_knowledge: vec!["He is the king's brother.".to_owned()],
            voice: Voice { fallback: Some(Box::new(Voice::as_is("flite", "rms"))), ..voice },
            lines: [
                line(&["hello", "hi"], &["Welcome!", "You rolled {result}.", "Sit down."]),
                line(&["any beer"], &["Plenty."]),
                line(&[], &["Hm."]),
            ]
            .into(),
            ..Npc::plain("Bartok")
        };
        let card = card(&npc);
        assert!(!card.to_string().contains("brother"), "{card:#}");
        let data = &card["data"];
        assert_eq!((&card["spec"], &data["name"]), (&json!("chara_card_v3"), &json!("Bartok")));
        assert_eq!((&data["nickname"], &data["first_mes"]), (&json!("Bart"), &json!("Welcome!")));
        assert_eq!(data["alternate_greetings"], json!(["Sit down."]));
        let example = "<START>\n{{user}}: any beer\n{{char}}: Plenty.\n";
        assert!(data["mes_example"].as_str().unwrap().ends_with(example), "{data:#}");
        let voice = &data["extensions"]["glyphoxa"]["voice"];
        assert_eq!((&voice["voice_id"], &voice["pitch_shift"]), (&json!("joe"), &json!(-1.1)));
        assert_eq!(voice["fallback"]["voice_id"], "rms");
    }

    #[test]
    fn card_is_read_back_as_the_same_person() {
        let npc = Npc {
            aliases: vec!["Bart".to_owned(), "the barkeep".to_owned()],
            behavior_rules: vec!["Never laughs.".to_owned()],
            lines: [line(&["hello"], &["Welcome!"])].into(),
            ..Npc::plain("Bartok")
        };
        let bytes = card(&npc).to_string().into_bytes();
        let given =
            crate::import::Given { file: "b.json".to_owned(), inside: String::new(), bytes };
        let drafts = crate::import::read(vec![given]);
        assert!(drafts.mistakes.is_empty(), "{:?}", drafts.mistakes);
        let read = &drafts.npcs[0];
        assert_eq!((&read.name, &read.aliases), (&npc.name, &npc.aliases));
        assert!(read.for_dm.iter().any(|it| it.text == "Never laughs."), "{read:?}");
        assert_eq!(read.extension.as_ref().unwrap()["max_sentences"], npc.max_sentences);
        assert_eq!(drafts.npcs[0].greetings, ["Welcome!"]);
    }
}
