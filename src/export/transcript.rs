//! A play session as text for people, as subtitles, and for programs that train or cut.
//!
//! Entry functions: [`markdown`], [`web_vtt`], [`tagged_json`]. Words of others stay words: nothing of
//! them becomes markup or a cue. **Never**: leaves anything out; the caller chooses the lines.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::domain::{one_line, revealed_name};

/// Shortest cue, in ms: a typed line has no length.
const CUE_MIN: u64 = 1_000;
/// Longest text of a cue or name of a speaker, in characters.
const TEXT_MAX: usize = 20_000;

/// A play session, and the lines to hand out.
#[derive(Clone, Debug, Default)]
pub struct Evening {
    pub title: String,
    pub campaign: String,
    /// Date and time in UTC; empty: unknown.
    pub began: String,
    /// For players.
    pub summary: Option<String>,
    pub lines: Vec<SaidLine>,
}

#[derive(Clone, Debug, Default)]
pub struct SaidLine {
    /// Unix time in ms.
    pub at: i64,
    /// Time of day in UTC, as shown to people.
    pub clock: String,
    /// Length in ms; 0: unknown.
    pub length: u64,
    pub speaker: String,
    pub is_npc: bool,
    pub text: String,
}

/// One list item a line, with the time of day.
pub fn markdown(evening: &Evening) -> String {
    let mut text = format!("# {}\n\n", plain(&evening.title));
    let began = if evening.began.is_empty() { "" } else { ", " };
    let campaign = plain(&evening.campaign);
    // Writing to a string cannot fail.
    _ = writeln!(text, "{}{began}campaign {campaign}\n", evening.began);
    if let Some(summary) = &evening.summary {
        for paragraph in summary.lines().filter(|line| !line.trim().is_empty()) {
            _ = writeln!(text, "{}\n", plain(paragraph));
        }
    }
    for line in &evening.lines {
        let (who, said) = (plain(&line.speaker), plain(&line.text));
        _ = writeln!(text, "- {} **{who}**: {said}", line.clock);
    }
    text
}

/// Subtitles whose clock begins with the first line.
pub fn web_vtt(evening: &Evening) -> String {
    let mut text = format!("WEBVTT - {}\n", cue_text(&evening.title));
    for (index, line) in by_time(evening).enumerate() {
        let Timed { from, to, line } = line;
        let (who, said) = (cue_text(&line.speaker), cue_text(&line.text));
        // Writing to a string cannot fail.
        _ = write!(text, "\n{}\n{} --> {}\n", index + 1, stamp(from), stamp(to));
        _ = writeln!(text, "<v {who}>{said}</v>");
    }
    text
}

/// One object with speakers and lines, times in ms from the first line on.
pub fn tagged_json(evening: &Evening) -> Value {
    let mut speakers: Vec<Value> = Vec::new();
    for line in &evening.lines {
        let speaker = json!({ "name": line.speaker, "role": role(line) });
        if !speakers.contains(&speaker) {
            speakers.push(speaker);
        }
    }
    let lines: Vec<Value> = by_time(evening)
        .map(|Timed { from, to, line }| {
            json!({
                "start_ms": from, "end_ms": to, "speaker": line.speaker, "role": role(line),
                "text": line.text,
            })
        })
        .collect();
    let starts = evening.lines.iter().map(|line| line.at).min();
    json!({
        "title": evening.title, "campaign": evening.campaign, "started_ms": starts,
        "summary": evening.summary, "speakers": speakers, "lines": lines,
    })
}

const fn role(line: &SaidLine) -> &'static str {
    if line.is_npc { "npc" } else { "player" }
}

struct Timed<'a> {
    /// In ms from the first line on.
    from: u64,
    to: u64,
    line: &'a SaidLine,
}

/// The lines in the order of their starts, which cues must have.
fn by_time(evening: &Evening) -> impl Iterator<Item = Timed<'_>> {
    let mut lines: Vec<&SaidLine> = evening.lines.iter().collect();
    lines.sort_by_key(|line| line.at);
    let first = lines.first().map_or(0, |line| line.at);
    lines.into_iter().map(move |line| {
        let from = u64::try_from(line.at.saturating_sub(first)).unwrap_or_default();
        Timed { from, to: from.saturating_add(line.length.max(CUE_MIN)), line }
    })
}

/// As hh:mm:ss.mmm; hours may have more digits.
fn stamp(ms: u64) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    format!("{:02}:{:02}:{:02}.{ms:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// On one line, without markup of a cue.
fn cue_text(text: &str) -> String {
    let line = one_line(text, TEXT_MAX);
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").trim().to_owned()
}

/// On one line, with the characters escaped that are markup.
fn plain(text: &str) -> String {
    let line = revealed_name(&text.replace('\n', " "));
    let mut plain = String::with_capacity(line.len());
    for c in line.trim().chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#') {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at: i64, speaker: &str, text: &str) -> SaidLine {
        SaidLine {
            at,
            clock: "19:00:01".to_owned(),
            length: 2_500,
            speaker: speaker.to_owned(),
            is_npc: speaker == "Bartok",
            text: text.to_owned(),
        }
    }

    fn evening() -> Evening {
        Evening {
            title: "The mill".to_owned(),
            campaign: "saltmarsh".to_owned(),
            began: "2026-11-22 19:00".to_owned(),
            summary: Some("The mill burned.".to_owned()),
            lines: vec![
                line(1_000, "Rhea", "Who is there?"),
                line(3_661_500, "Bartok", "<b>Me</b> --> *now*\nGo!"),
            ],
        }
    }

    #[test]
    fn markdown_shows_words_as_they_are() {
        let text = markdown(&evening());
        let lines = "- 19:00:01 **Rhea**: Who is there?\n\
                     - 19:00:01 **Bartok**: \\<b\\>Me\\</b\\> --\\> \\*now\\* Go!\n";
        assert!(
            text.starts_with("# The mill\n\n2026-11-22 19:00, campaign saltmarsh\n\n"),
            "{text}"
        );
        assert!(text.ends_with(&format!("The mill burned.\n\n{lines}")), "{text}");
    }

    #[test]
    fn cues_have_times_and_no_markup_of_others() {
        let wanted = "WEBVTT - The mill\n\n\
                      1\n00:00:00.000 --> 00:00:02.500\n<v Rhea>Who is there?</v>\n\n\
                      2\n01:01:00.500 --> 01:01:03.000\n\
                      <v Bartok>&lt;b&gt;Me&lt;/b&gt; --&gt; *now* Go!</v>\n";
        assert_eq!(web_vtt(&evening()), wanted);
    }

    #[test]
    fn cues_follow_their_starts() {
        let late = vec![line(9_000, "Rhea", "b"), line(4_000, "Bartok", "a")];
        let value = tagged_json(&Evening { lines: late, ..evening() });
        assert_eq!(
            (&value["lines"][0]["text"], &value["lines"][1]["start_ms"]),
            (&json!("a"), &json!(5_000))
        );
        assert_eq!(value["lines"][0]["role"], "npc");
        assert_eq!(value["speakers"][0], json!({ "name": "Rhea", "role": "player" }));
    }
}
