//! What happened, chosen from the lines themselves.
//!
//! Entry function: [`extract`]. **Never**: says what was not said.

use super::claim::Claim;
use crate::memory::{Entity, EntityKind, TranscriptLine};

/// Words of an extract at most: a minute's reading.
const WORDS: usize = 220;
/// Longest quotation, in characters.
const QUOTED: usize = 110;
/// The tool that throws dice.
const DICE: &str = "dice-roller.roll";

/// The places that were named, and the exchanges and throws of dice that weigh most, in their
/// order.
pub fn extract(lines: &[TranscriptLine], world: &[Entity]) -> Vec<Claim> {
    let names: Vec<String> = world.iter().map(|entity| entity.name.to_lowercase()).collect();
    let mut weighed: Vec<(u32, Claim)> = Vec::new();
    let mut rest = lines;
    while let [line, after @ ..] = rest {
        rest = after;
        if let Some(claim) = throws(line) {
            weighed.push((6, claim));
        }
        let reply = after.first().filter(|next| {
            let answers = next.said.turn == line.said.turn && next.said.speaker_id.is_none();
            line.said.speaker_id.is_some() && answers
        });
        let mut claim = Claim { text: said(line), lines: vec![line.seq] };
        if let Some(reply) = reply {
            claim.text = format!("{} {}", claim.text, said(reply));
            claim.lines.push(reply.seq);
            rest = after.get(1..).unwrap_or_default();
        }
        let told = claim.text.to_lowercase();
        let named = names.iter().filter(|name| told.contains(*name)).count().min(3);
        let weight = 2 * u32::try_from(named).unwrap_or_default()
            + if reply.is_some() { 2 } else { 0 }
            + u32::from(line.said.text.contains('?'));
        weighed.push((weight, claim));
    }
    let mut left = WORDS;
    let mut order: Vec<usize> = (0..weighed.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(weighed.get(*at).map(|(weight, _)| *weight)));
    let mut chosen: Vec<usize> = Vec::new();
    for at in order {
        let Some((_, claim)) = weighed.get(at) else { continue };
        let words = claim.text.split_whitespace().count();
        if words <= left {
            left -= words;
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    let told = chosen.into_iter().filter_map(|at| weighed.get(at).map(|(_, claim)| claim.clone()));
    places(lines, world).into_iter().chain(told).collect()
}

/// The places that were named.
fn places(lines: &[TranscriptLine], world: &[Entity]) -> Option<Claim> {
    let places = world.iter().filter(|entity| entity.kind == EntityKind::Location);
    let (mut named, mut proof) = (Vec::new(), Vec::new());
    for place in places {
        let name = place.name.to_lowercase();
        let first = lines.iter().find(|line| line.said.text.to_lowercase().contains(&name));
        if let Some(line) = first {
            named.push(place.name.as_str());
            proof.push(line.seq);
        }
    }
    (!named.is_empty())
        .then(|| Claim { text: format!("Places: {}.", named.join(", ")), lines: proof })
}

/// What a line threw.
fn throws(line: &TranscriptLine) -> Option<Claim> {
    let calls = line.said.tools.as_array()?;
    let throws = calls.iter().filter(|call| call["tool"] == DICE).filter_map(|call| {
        let total = call["result"]["total"].as_i64()?;
        let dice =
            call["arguments"]["expression"].as_str().map(str::trim).filter(|it| !it.is_empty());
        Some(format!("{}: {total}", dice.unwrap_or("dice")))
    });
    let throws: Vec<String> = throws.collect();
    let text = format!("{} rolled {}.", line.said.who(), throws.join(", "));
    (!throws.is_empty()).then(|| Claim { text, lines: vec![line.seq] })
}

/// Who said what to whom, quoted.
fn said(line: &TranscriptLine) -> String {
    let to = line.said.npc.as_ref().filter(|_| line.said.speaker_id.is_some());
    let to = to.map_or_else(String::new, |npc| format!(" to {npc}"));
    let mut text: String = line.said.text.chars().take(QUOTED).collect();
    if text.len() < line.said.text.len() {
        text.truncate(text.rfind(char::is_whitespace).unwrap_or(text.len()));
        text.push('…');
    }
    format!("{}{to}: “{text}”", line.said.who())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::memory::{Uid, Utterance};

    fn line(seq: u64, turn: u64, by: Option<&str>, text: &str) -> TranscriptLine {
        let said = Utterance {
            uid: Uid(seq.to_string()),
            turn,
            speaker_id: by.map(str::to_owned),
            speaker: by.unwrap_or("Bartok").to_owned(),
            npc: Some("Bartok".to_owned()),
            text: text.to_owned(),
            ..Utterance::default()
        };
        TranscriptLine { seq, said, withdrawn: false }
    }

    #[test]
    fn it_quotes_exchanges_and_dice_and_can_be_read_in_a_minute() {
        let mut lines = vec![
            line(1, 1, Some("Anna"), "Where is the silver key?"),
            line(2, 1, None, "Under the mill."),
        ];
        lines[0].said.tools = json!([{ "tool": DICE, "arguments": { "expression": "2d6" }, "result": { "total": 9 } }]);
        for seq in 3..500 {
            lines.push(line(seq, seq, Some("Ben"), "We talk about the weather of this long day."));
        }
        let claims = extract(&lines, &[]);
        assert_eq!(claims[0].text, "Anna rolled 2d6: 9.");
        assert_eq!(
            claims[1],
            Claim {
                text: "Anna to Bartok: “Where is the silver key?” Bartok: “Under the mill.”"
                    .to_owned(),
                lines: vec![1, 2],
            }
        );
        let words: usize = claims.iter().map(|it| it.text.split_whitespace().count()).sum();
        assert!(words <= WORDS && words > 150, "{words}");
        assert!(claims.is_sorted_by_key(|claim| claim.lines[0]));
        assert!(extract(&[], &[]).is_empty());
    }

    #[test]
    fn long_lines_are_cut_at_a_word() {
        let quoted = said(&line(1, 1, None, &"word ".repeat(80)));
        assert!(quoted.ends_with("word…”"), "{quoted}");
    }
}
