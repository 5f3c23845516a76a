//! Extract of a session, chosen from its lines. Entry functions: [`extract`], [`story`].

use std::collections::BTreeSet;

use super::model::{Claim, people};
use crate::{
    logic::{address::is_apart, evidence::People},
    memory::{Entity, EntityKind, TranscriptLine},
};

/// Longest extract: a minute's reading.
const WORDS: usize = 220;
/// Longest quotation, in characters.
const QUOTED: usize = 110;
/// Longest quotation of an exchange that must stay; more than one breath of speech.
const QUOTED_WHOLE: usize = 600;
/// Weight of an exchange that must stay.
const KEPT: u32 = u32::MAX;
/// Outcomes of orders to the table and granted wishes.
const ORDERS: [&str; 3] = ["stopped", "command", "granted"];
/// Outcome of a line that addressed no NPC.
const TO_NOBODY: &str = "nobody_addressed";
const DICE: &str = "dice-roller.roll";
/// Most lines from words to their answer: others talk while the NPC answers.
const ANSWERED_WITHIN: usize = 8;

/// Named places, and the weightiest exchanges and dice rolls, in order. Rewards, promises, names
/// and numbers always stay; orders are no events.
pub fn extract(lines: &[TranscriptLine], world: &[Entity]) -> Vec<Claim> {
    let weighed = weigh(lines, world);
    let mut left = WORDS;
    let mut order: Vec<usize> = (0..weighed.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(weighed.get(*at).map(|(weight, _)| *weight)));
    let mut chosen: Vec<usize> = Vec::new();
    for at in order {
        let Some((weight, claim)) = weighed.get(at) else { continue };
        let words = claim.text.split_whitespace().count();
        if words <= left || *weight == KEPT {
            left = left.saturating_sub(words);
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    let told = chosen.into_iter().filter_map(|at| weighed.get(at).map(|(_, claim)| claim.clone()));
    places(lines, world).into_iter().chain(told).collect()
}

/// Mandatory exchanges that `claims` do not cite, or without their numbers, names and promises.
pub fn left_out(lines: &[TranscriptLine], claims: &[Claim]) -> Vec<Claim> {
    let people = People::of(&people(lines));
    let is_covered = |seq: &u64| {
        let cite = |claim: &&Claim| claim.lines.contains(seq);
        let citing: Vec<&str> = claims.iter().filter(cite).map(|it| it.text.as_str()).collect();
        let line = lines.iter().find(|line| line.seq == *seq);
        line.is_none_or(|line| people.is_covered(&line.said.text, &citing))
    };
    weigh(lines, &[])
        .into_iter()
        .filter(|(weight, claim)| *weight == KEPT && !claim.lines.iter().all(is_covered))
        .map(|(_, claim)| claim)
        .collect()
}

/// Exchanges and dice rolls with their weights, in order.
fn weigh(lines: &[TranscriptLine], world: &[Entity]) -> Vec<(u32, Claim)> {
    let names: Vec<String> = world.iter().map(|entity| entity.name.to_lowercase()).collect();
    let mut weighed: Vec<(u32, Claim)> = Vec::new();
    let people = People::of(&people(lines));
    let lines: Vec<&TranscriptLine> = lines.iter().filter(|line| !is_order(line)).collect();
    let mut rest = lines.as_slice();
    let mut replies: BTreeSet<u64> = BTreeSet::new();
    while let [line, after @ ..] = rest {
        rest = after;
        if replies.contains(&line.seq) {
            continue;
        }
        if let Some(claim) = throws(line) {
            weighed.push((6, claim));
        }
        let reply = after.iter().take(ANSWERED_WITHIN).find(|next| {
            let answers = next.said.turn == line.said.turn && next.said.speaker_id.is_none();
            line.said.speaker_id.is_some() && answers
        });
        let keeps = |line: &TranscriptLine| people.matters(&line.said.text);
        let is_kept = keeps(line) || reply.is_some_and(|reply| keeps(reply));
        let quoted = |line| said(line, if keeps(line) { QUOTED_WHOLE } else { QUOTED });
        let mut claim = Claim { text: quoted(line), lines: vec![line.seq] };
        if let Some(reply) = reply {
            claim.text = format!("{} {}", claim.text, quoted(reply));
            claim.lines.push(reply.seq);
            replies.insert(reply.seq);
        }
        let told = claim.text.to_lowercase();
        let named = names.iter().filter(|name| told.contains(*name)).count().min(3);
        let weight = 2 * u32::try_from(named).unwrap_or_default()
            + if reply.is_some() { 2 } else { 0 }
            + u32::from(line.said.text.contains('?'));
        weighed.push((if is_kept { KEPT } else { weight }, claim));
    }
    weighed
}

/// Claim with the named places.
fn places(lines: &[TranscriptLine], world: &[Entity]) -> Option<Claim> {
    let places = world.iter().filter(|entity| entity.kind == EntityKind::Location);
    let (mut named, mut proof) = (Vec::new(), Vec::new());
    for place in places {
        let name = place.name.to_lowercase();
        let names_it = |line: &&TranscriptLine| {
            !is_order(line) && line.said.text.to_lowercase().contains(&name)
        };
        let first = lines.iter().find(names_it);
        if let Some(line) = first {
            named.push(place.name.as_str());
            proof.push(line.seq);
        }
    }
    (!named.is_empty())
        .then(|| Claim { text: format!("Places: {}.", named.join(", ")), lines: proof })
}

/// Claim with the dice rolls of a line.
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

/// Removes players' words to no NPC that were outside the game or whispered.
pub fn story(lines: Vec<TranscriptLine>) -> Vec<TranscriptLine> {
    let is_kept = |line: &TranscriptLine| {
        let said = &line.said;
        let is_to_nobody = said.speaker_id.is_some() && said.outcome == TO_NOBODY;
        !(is_to_nobody && is_apart(&said.text))
    };
    lines.into_iter().filter(is_kept).collect()
}

fn is_order(line: &TranscriptLine) -> bool {
    ORDERS.contains(&line.said.outcome.as_str()) && line.said.speaker_id.is_some()
}

/// The line with its speaker and listener, cut to `most` characters.
fn said(line: &TranscriptLine, most: usize) -> String {
    let to = line.said.npc.as_ref().filter(|_| line.said.speaker_id.is_some());
    let to = to.map_or_else(String::new, |npc| format!(" to {npc}"));
    let mut text: String = line.said.text.chars().take(most).collect();
    if text.len() < line.said.text.len() {
        text.truncate(text.rfind(char::is_whitespace).unwrap_or(text.len()));
        text.push('…');
    }
    format!("{}{to}: “{text}”", line.said.who()).replace('\n', " ")
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
    fn extract_quotes_exchanges_and_dice_briefly() {
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
    fn orders_are_no_events() {
        let mut lines = vec![line(1, 1, Some("Anna"), "Where is the mill?")];
        for (seq, text, outcome) in
            [(2, "stop", "stopped"), (3, "Mira, be quiet", "command"), (4, "Stop!", "stopped")]
        {
            let mut order = line(seq, seq, Some("Anna"), text);
            order.said.outcome = outcome.to_owned();
            lines.push(order);
        }
        let claims = extract(&lines, &[]);
        assert_eq!(claims.iter().map(|it| &it.lines[..]).collect::<Vec<_>>(), [[1].as_slice()]);
        assert!(left_out(&lines, &[]).is_empty());
    }

    #[test]
    fn answer_follows_words_said_meanwhile() {
        let lines = [
            line(1, 1, Some("Anna"), "Where is the mill?"),
            line(2, 2, Some("Ben"), "And the old bridge?"),
            line(3, 1, None, "The mill is up the river."),
            line(4, 2, None, "The bridge is down the river."),
        ];
        let claims = extract(&lines, &[]);
        let cited: Vec<&[u64]> = claims.iter().map(|it| &it.lines[..]).collect();
        assert_eq!(cited, [[1, 3], [2, 4]]);
    }

    #[test]
    fn asides_and_whispers_are_no_story() {
        let lines = [
            (1, "I whisper to Ben that Bartok lies", "nobody_addressed"),
            (2, "OOC: pizza?", "nobody_addressed"),
            (3, "I tell the others to wait", "nobody_addressed"),
            (4, "I whisper to Bartok that I am lost", "spoken"),
        ];
        let lines = lines.map(|(seq, text, outcome)| {
            let mut line = line(seq, seq, Some("Anna"), text);
            line.said.outcome = outcome.to_owned();
            line
        });
        let kept: Vec<u64> = story(lines.to_vec()).iter().map(|line| line.seq).collect();
        assert_eq!(kept, [3, 4]);
    }

    #[test]
    fn claim_without_its_number_does_not_cover_line() {
        let lines = [
            line(1, 1, Some("Anna"), "How many guards are there?"),
            line(2, 1, None, "The captain doubled the watch to eight men."),
        ];
        let claim = |text: &str| Claim { text: text.to_owned(), lines: vec![2] };
        let left = left_out(&lines, &[claim("The captain doubled the watch.")]);
        assert!(left[0].text.contains("eight men"), "{left:?}");
        assert!(left_out(&lines, &[claim("The captain doubled the watch to 8 men.")]).is_empty());
    }

    #[test]
    fn long_lines_are_cut_at_a_word() {
        let quoted = said(&line(1, 1, None, &"word ".repeat(80)), QUOTED);
        assert!(quoted.ends_with("word…”"), "{quoted}");
    }
}
