//! NPCs as their game master sees them. **Never**: shows a stage note or a secret.

use crate::{
    commands::text::Text,
    domain::{AddressMode, EngineKind, Npc},
    session::SeatStatus,
};

/// One line.
pub fn seat_line(seat: &SeatStatus) -> Text {
    let mut line = String::new();
    let mut add = |text: String| line.push_str(&format!(" · {text}"));
    if seat.engine == EngineKind::SpeechToSpeech {
        add("s2s, hears own voices".to_owned());
        if seat.replaced.is_some() {
            add("last answer by the cascade".to_owned());
        }
    }
    if let Some(voice) = &seat.other_voice {
        add(format!("in its second voice, {voice}"));
    }
    if seat.muted {
        add("muted".to_owned());
    }
    if !seat.present {
        add("not here".to_owned());
    }
    if seat.waiting > 0 {
        add(format!("{} waiting", seat.waiting));
    }
    if let Some((tier, left)) = seat.override_ {
        let left = left.map_or(String::new(), |it| format!(", {} s", it.as_secs()));
        add(format!("tier {tier} (yours{left})"));
    } else {
        add(format!("up to {}", seat.ceiling));
    }
    Text::of(&seat.name).plain(line)
}

/// Details for the game master, as configured and as at the table.
pub fn described(npc: &Npc, seat: Option<&SeatStatus>) -> Text {
    let mut lines = seat.map(at_table).unwrap_or_default();
    if !npc.aliases.is_empty() {
        lines.push(format!("Also called: {}", npc.aliases.join(", ")).into());
    }
    lines.push(
        match npc.address {
            AddressMode::NameOnly => "Answers when named",
            AddressMode::Adaptive => "Answers when named, in conversation, or alone",
            AddressMode::Always => "Answers everything that isn't said to someone else",
        }
        .into(),
    );
    lines.push(format!("Tier without an override: up to {}", npc.budget_tier).into());
    lines.extend(engine(npc, seat));
    let voice = &npc.voice;
    lines.push(
        format!("Voice: {} {} · language {}", voice.provider, voice.voice_id, npc.language).into(),
    );
    let tools = match npc.tools.as_slice() {
        [] => "none".to_owned(),
        tools => tools.join(", "),
    };
    lines.push(format!("Tools: {tools}").into());
    lines.push(format!("\n{}", npc.personality.trim()).into());
    Text::lines(lines)
}

fn at_table(seat: &SeatStatus) -> Vec<Text> {
    let mut lines = vec![seat_line(seat)];
    if !seat.pinned_by.is_empty() {
        lines.push(format!("Pinned: what {} says", seat.pinned_by.join(", ")).into());
    }
    match seat.note_turns_left {
        None => {}
        Some(None) => lines.push("Has a note, until you replace it".into()),
        Some(Some(1)) => lines.push("Has a note for one more turn".into()),
        Some(Some(turns)) => lines.push(format!("Has a note for {turns} more turns").into()),
    }
    lines.push(format!("Brain: {}", seat.brain).into());
    lines
}

/// An engine other than the default.
fn engine(npc: &Npc, seat: Option<&SeatStatus>) -> Vec<Text> {
    let mut lines = Vec::new();
    let engine = seat.map_or(npc.engine, |seat| seat.engine);
    if engine == EngineKind::SpeechToSpeech {
        let voice = npc.s2s.voice.as_deref().unwrap_or("the service's own");
        let named = npc.s2s.provider.as_deref().map(|it| format!(" of {it}")).unwrap_or_default();
        lines.push(
            format!("Engine: s2s, which hears the players' own voices · its voice: {voice}{named}")
                .into(),
        );
        if let Some(because) = seat.and_then(|seat| seat.replaced.as_deref()) {
            lines.push(Text::from("Last answer: by the cascade, because ").others(because));
        }
    }
    if let Some(models) = npc.cascade.as_ref().filter(|_| engine == EngineKind::SentenceCascade) {
        let line = Text::from("Engine: sentence_cascade · ").others(&models.opener);
        lines.push(line.plain(" opens, ").others(&models.strong).plain(" goes on"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{stand_in::seat, text::Piece};
    use crate::domain::S2s;

    fn words(text: &Text) -> String {
        text.rendered(|piece| match piece {
            Piece::Plain(text) | Piece::Others(text) | Piece::Marked(text) => text.clone(),
            Piece::Strong(text) => format!("<{text}>"),
            Piece::Person(id) => id.0.to_string(),
        })
    }

    #[test]
    fn npc_is_described_without_its_secrets() {
        let npc = Npc {
            aliases: vec!["Barkeep".to_owned()],
            personality: "Gruff, and kind to strays.\n".to_owned(),
            secret_knowledge: vec!["He has the key.".to_owned()],
            tools: vec!["dice-roller.*".to_owned()],
            ..Npc::plain("Bartok")
        };
        let sits = SeatStatus {
            muted: true,
            pinned_by: vec!["Mira".to_owned()],
            note_turns_left: Some(Some(2)),
            ..seat("Bartok")
        };
        expect_test::expect![[r#"
            <Bartok> · muted · up to standard
            Pinned: what Mira says
            Has a note for 2 more turns
            Brain: scripted
            Also called: Barkeep
            Answers when named, in conversation, or alone
            Tier without an override: up to fast
            Voice:  a · language en
            Tools: dice-roller.*

            Gruff, and kind to strays."#]]
        .assert_eq(&words(&described(&npc, Some(&sits))));
        let hears = SeatStatus { engine: EngineKind::SpeechToSpeech, ..sits };
        let shown = words(&described(&npc, Some(&hears)));
        assert!(shown.starts_with("<Bartok> · s2s, hears own voices · muted"), "{shown}");
        assert!(
            shown.contains("\nEngine: s2s, which hears the players' own voices · its"),
            "{shown}"
        );
        assert!(words(&described(&npc, None)).starts_with("Also called: Barkeep"));
        let (provider, voice) = (Some("gemini-live".to_owned()), Some("Kore".to_owned()));
        let npc = Npc { s2s: S2s { provider, voice, ..S2s::default() }, ..npc };
        let shown = words(&described(&npc, Some(&hears)));
        assert!(shown.contains("its voice: Kore of gemini-live\n"), "{shown}");
    }
}
