//! `/why`: what an answer was made from. For faces whose table explains its answers.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand},
    face::Face,
    text::{Refusal, Text},
};
use crate::session::{Explanation, ToolLine};

/// More lines than an evening has.
const LINES_MAX: u32 = 1_000_000;
/// Longest arguments or result of a call, in characters.
const VALUE_MAX: usize = 500;

const NONE_YET: &str = "no NPC has answered yet (say something first)";

pub static COMMAND: Command = Command {
    name: "why",
    description: "Show why an NPC said that",
    subs: &[Subcommand::new(
        "why",
        "Show what an answer was made from: prompt, memories, calls",
        &[Parameter::new(
            "line",
            "Number of the answer's line (default: the last answer)",
            Kind::Count(LINES_MAX),
        )],
        why,
    )],
};

fn why(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let explanations = face.explanations()?;
    let explanation = match call.count("line", LINES_MAX)? {
        None => explanations.last().ok_or(NONE_YET)?,
        Some(line) => explanations.of(u64::from(line)).ok_or_else(|| unexplained(line))?,
    };
    let text = Text::lines(shown(&explanation));
    Ok(Reply { explanation: Some(explanation), ..Reply::private(text) }.into())
}

fn unexplained(line: u32) -> String {
    format!(
        "line {line} has no explanation (only the last answers have one, unless an X-card or a \
         deletion removed it)"
    )
}

/// Each part with a heading, and its lines indented, so that no text looks like a heading.
fn shown(explanation: &Explanation) -> Vec<Text> {
    let Explanation { turn, npc, reply, models, parts, recalled, tools } = explanation;
    let by = if models.is_empty() { String::new() } else { format!(" ({})", models.join(", ")) };
    let head = Text::from(format!("line {turn}, ")).strong(npc).plain(by).plain(": ");
    let mut lines = vec![head.others(one_line(reply))];
    if parts.is_empty() {
        lines.push("no model was asked".into());
    }
    for part in parts {
        add(&mut lines, &part.name, part.text.lines().map(str::to_owned));
    }
    add(&mut lines, "Remembered", recalled.iter().map(|line| one_line(line)));
    add(&mut lines, "Calls", tools.iter().map(called));
    lines
}

fn add(lines: &mut Vec<Text>, heading: &str, texts: impl Iterator<Item = String>) {
    let mut texts = texts.filter(|text| !text.trim().is_empty()).peekable();
    if texts.peek().is_some() {
        lines.push(Text::default().others(one_line(heading)).plain(":"));
        lines.extend(texts.map(|text| Text::from("  ").others(text)));
    }
}

fn called(ToolLine { tool, arguments, result, ms, .. }: &ToolLine) -> String {
    let [arguments, result] = [arguments, result].map(|value| shortened(&value.to_string()));
    format!("{tool} {arguments} -> {result} ({ms} ms)")
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(VALUE_MAX) {
        Some((at, _)) => format!("{}… ({} bytes)", &value[..at], value.len()),
        None => value.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{
        super::{call::Value, stand_in::Recorded, text::Piece},
        *,
    };
    use crate::{
        logic::prompt::PromptPart,
        session::{Explanations, Speaker, SpeakerId},
    };

    fn explanation(turn: u64) -> Explanation {
        Explanation {
            turn,
            npc: "Bartok".to_owned(),
            reply: "Well\nmet.".to_owned(),
            models: vec!["lines".to_owned()],
            parts: vec![PromptPart { name: "Role".to_owned(), text: "Be.\n\nCalls:".to_owned() }],
            recalled: vec!["Mira: a thief".to_owned()],
            tools: Vec::new(),
        }
    }

    /// The answer to `/why`, with or without the number of a line.
    fn asked(explanations: Option<Explanations>, line: Option<i64>) -> String {
        let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: true };
        let given = line.map(|line| ("line", Value::Number(line)));
        let mut table = Recorded::table();
        table.explanations = explanations;
        table.carries_out(&COMMAND.subs[0], &Call::new(speaker, given.into_iter().collect()))
    }

    #[test]
    fn answer_is_shown_with_its_parts() {
        let rendered = Text::lines(shown(&explanation(3))).rendered(|piece| match piece {
            Piece::Plain(words) | Piece::Strong(words) | Piece::Others(words) => words.clone(),
            other => panic!("{other:?}"),
        });
        let expected = "line 3, Bartok (lines): Well met.\nRole:\n  Be.\n  Calls:\n\
                        Remembered:\n  Mira: a thief";
        assert_eq!(rendered, expected);
        let silent = Explanation { parts: Vec::new(), ..explanation(3) };
        assert_eq!(shown(&silent)[1], Text::from("no model was asked"));
    }

    #[test]
    fn line_is_found_or_refused() {
        let explanations = Explanations::default();
        assert_eq!(asked(Some(explanations.clone()), None), NONE_YET);
        for turn in [2, 5] {
            explanations.add(explanation(turn));
        }
        assert!(asked(Some(explanations.clone()), None).contains("line 5, "));
        assert!(asked(Some(explanations.clone()), Some(2)).contains("line 2, "));
        assert_eq!(asked(Some(explanations), Some(3)), unexplained(3));
        assert!(asked(None, None).contains("not explained here"));
    }
}
