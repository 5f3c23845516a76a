//! Figures of what happens at tables. Entry function: [`count_event`], the only place that feeds them.

use std::time::Duration;

use crate::{
    figures::{Figures, ToolCallFigure, TurnLabels},
    session::{Outcome, TableEvent, ToolLine, TurnLine},
    tools::NamedBy,
};

/// Label of what a line does not have.
const NONE: &str = "none";
/// Label of all tools that a model made up: their names are its words.
const UNKNOWN: &str = "unknown";
/// Label of all tools of servers that game masters added: their names are for them alone.
const ADDED: &str = "added";

/// Counts `event` of a table.
pub fn count_event(figures: &Figures, event: &TableEvent) {
    match event {
        TableEvent::Line(line) => count_line(figures, line),
        TableEvent::Halted { .. } => figures.interruption("x_card"),
        TableEvent::Missed(missed) => figures.events_missed(*missed),
        TableEvent::Notice(_)
        | TableEvent::Private(_)
        | TableEvent::Said(_)
        | TableEvent::Asked(_)
        | TableEvent::Forgotten(_)
        | TableEvent::State(_)
        | TableEvent::Stands(_)
        | TableEvent::Conversed(_)
        | TableEvent::Mark(_) => {}
    }
}

fn count_line(figures: &Figures, line: &TurnLine) {
    line.tools.iter().for_each(|call| figures.tool_call(tool_call(call)));
    // The game master's own words and late results answer no utterance.
    if line.understood.is_empty() && line.npc.is_some() {
        return;
    }
    let of = TurnLabels {
        outcome: outcome(line.outcome),
        tier: line.tier.as_ref().map_or(NONE, |tier| tier.effective.name()),
        engine: line.made_by.as_ref().map_or(NONE, |made| made.engine),
    };
    figures.turn(of);
    // A turn that an X-card or an opt-out took back names no NPC.
    if line.outcome == Outcome::Interrupted && line.npc.is_some() {
        figures.interruption("barge_in");
    }
    if line.audio_ms > 0 {
        count_times(figures, line, of);
    }
}

/// Counts the times of an answer that sounded. Typed lines have no speech that ends.
fn count_times(figures: &Figures, line: &TurnLine, of: TurnLabels) {
    let ms = line.ms;
    if line.stt != TurnLine::TYPED {
        if ms.speech_end_to_first_audio > 0.0 {
            figures.first_audio(of, millis(ms.speech_end_to_first_audio));
        }
        figures.stage("stt", millis(ms.speech_end_to_final));
    }
    figures.stage("llm_first_token", millis(ms.final_to_first_text));
    figures.stage("tts_first_audio", millis(ms.first_text_to_first_audio));
    if !line.tools.is_empty() {
        figures.stage("tools", millis(line.tools.iter().map(|call| call.ms).sum()));
    }
}

fn tool_call(call: &ToolLine) -> ToolCallFigure<'_> {
    ToolCallFigure {
        tool: match call.named_by {
            NamedBy::Operator => &call.tool,
            NamedBy::Owner => ADDED,
            NamedBy::Model => UNKNOWN,
        },
        tier: call.tier.map_or(NONE, |tier| tier.name()),
        outcome: match (call.pending, call.ok) {
            (true, _) => "pending",
            (false, true) => "ok",
            (false, false) => "failed",
        },
        took: (call.attempts > 0 && !call.pending && !call.cached).then(|| millis(call.ms)),
    }
}

fn millis(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Spoken => "spoken",
        Outcome::Interrupted => "interrupted",
        Outcome::CutShort => "cut_short",
        Outcome::NobodyAddressed => "nobody_addressed",
        Outcome::EmptyTranscript => "empty_transcript",
        Outcome::HearingError => "hearing_error",
        Outcome::ModelError => "model_error",
        Outcome::VoiceError => "voice_error",
        Outcome::EmptyReply => "empty_reply",
        Outcome::OverBudget => "over_budget",
        Outcome::PutOff => "put_off",
        Outcome::Timeout => "timeout",
        Outcome::Cancelled => "cancelled",
        Outcome::Stopped => "stopped",
        Outcome::Command => "command",
        Outcome::Granted => "granted",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        domain::Tier,
        session::{MadeBy, TierLine, Timings},
    };

    /// A spoken line with unusual words.
    fn line(tools: Vec<ToolLine>) -> TurnLine {
        let detail = String::new();
        TurnLine {
            understood: "zyxwort to Quorbluth".to_owned(),
            npc: Some("Quorbluth".to_owned()),
            tier: Some(TierLine {
                selected: Tier::Deep,
                effective: Tier::Fast,
                reason: "zyxwort".to_owned(),
            }),
            tools,
            outcome: Outcome::Interrupted,
            audio_ms: 900,
            ms: Timings {
                speech_end_to_final: 200.0,
                final_to_first_text: 300.0,
                first_text_to_first_audio: 150.0,
                speech_end_to_first_audio: 650.0,
            },
            made_by: Some(MadeBy {
                understood: "zyxwort".to_owned(),
                thought: Vec::new(),
                spoke: "zyxwort".to_owned(),
                engine: "cascaded",
                because: None,
            }),
            stt: "whisper".to_owned(),
            ..TurnLine::without_speech(7, "Ymborg", detail)
        }
    }

    fn call(tool: &str, tier: Option<Tier>, ok: bool) -> ToolLine {
        ToolLine {
            tool: tool.to_owned(),
            named_by: if tier.is_some() { NamedBy::Operator } else { NamedBy::Model },
            server: None,
            arguments: json!({ "of": "zyxwort" }),
            result: Value::Null,
            ok,
            ms: 40.0,
            tier,
            attempts: 1,
            cached: false,
            pending: false,
        }
    }

    fn rendered(lines: Vec<TurnLine>) -> String {
        let figures = Figures::default();
        lines.into_iter().for_each(|line| count_event(&figures, &TableEvent::Line(Arc::new(line))));
        figures.render()
    }

    #[track_caller]
    fn assert_has(text: &str, line: &str) {
        assert!(text.lines().any(|it| it == line), "{line}:\n{text}");
    }

    #[test]
    fn spoken_turn_counts_once_with_its_stages() {
        let text = rendered(vec![line(Vec::new())]);
        let of = "tier=\"fast\",engine=\"cascaded\"";
        assert_has(&text, &format!("glyphoxa_turns_total{{outcome=\"interrupted\",{of}}} 1"));
        assert_has(&text, &format!("glyphoxa_turn_first_audio_seconds_sum{{{of}}} 0.65"));
        assert_has(&text, "glyphoxa_turn_stage_seconds_sum{stage=\"stt\"} 0.2");
        assert_has(&text, "glyphoxa_turn_stage_seconds_count{stage=\"llm_first_token\"} 1");
        assert_has(&text, "glyphoxa_interruptions_total{kind=\"barge_in\"} 1");
        assert!(!text.contains("stage=\"tools\""), "{text}");
    }

    #[test]
    fn turn_taken_back_is_no_barge_in() {
        let taken_back = TurnLine {
            outcome: Outcome::Interrupted,
            ..TurnLine::without_speech(0, "somebody", "taken back".to_owned())
        };
        let text = rendered(vec![taken_back]);
        assert_has(&text, "glyphoxa_interruptions_total{kind=\"barge_in\"} 0");
        let of = "outcome=\"interrupted\",tier=\"none\",engine=\"none\"";
        assert_has(&text, &format!("glyphoxa_turns_total{{{of}}} 1"));
    }

    #[test]
    fn typed_and_silent_turns_have_no_first_sound() {
        let typed = TurnLine { stt: TurnLine::TYPED.to_owned(), ..line(Vec::new()) };
        let silent = TurnLine { audio_ms: 0, outcome: Outcome::Timeout, ..line(Vec::new()) };
        let text = rendered(vec![typed, silent]);
        assert!(!text.contains("first_audio_seconds"), "{text}");
        assert!(!text.contains("stage=\"stt\""), "{text}");
        assert_has(&text, "glyphoxa_turn_stage_seconds_count{stage=\"tts_first_audio\"} 1");
        assert!(text.contains("outcome=\"timeout\""), "{text}");
    }

    #[test]
    fn words_names_and_invented_tools_are_not_shown() {
        let calls = vec![
            call("dice-roller.roll", Some(Tier::Fast), true),
            call("dice-roller.roll", Some(Tier::Fast), false),
            call("zyxwort", None, false),
            ToolLine { named_by: NamedBy::Owner, ..call("zyxwort.look", Some(Tier::Fast), true) },
            // A limit refused it.
            ToolLine {
                named_by: NamedBy::Operator,
                attempts: 0,
                ..call("dice-roller.roll", None, false)
            },
        ];
        // Late results answer no utterance, but their calls count.
        let late = TurnLine { understood: String::new(), ..line(calls.clone()) };
        let text = rendered(vec![line(calls), late]);
        for word in ["zyxwort", "Quorbluth", "Ymborg"] {
            assert!(!text.contains(word), "{word}:\n{text}");
        }
        let roll = "tool=\"dice-roller.roll\"";
        for outcome in ["ok", "failed"] {
            let of = format!("tier=\"fast\",outcome=\"{outcome}\",{roll}");
            assert_has(&text, &format!("glyphoxa_tool_calls_total{{{of}}} 2"));
        }
        let unknown = "tier=\"none\",outcome=\"failed\",tool=\"unknown\"";
        assert_has(&text, &format!("glyphoxa_tool_calls_total{{{unknown}}} 2"));
        let added = "tier=\"fast\",outcome=\"ok\",tool=\"added\"";
        assert_has(&text, &format!("glyphoxa_tool_calls_total{{{added}}} 2"));
        let refused = format!("tier=\"none\",outcome=\"failed\",{roll}");
        assert_has(&text, &format!("glyphoxa_tool_calls_total{{{refused}}} 2"));
        assert_has(&text, &format!("glyphoxa_tool_call_seconds_count{{{roll}}} 4"));
        let of = "outcome=\"interrupted\",tier=\"fast\",engine=\"cascaded\"";
        assert_has(&text, &format!("glyphoxa_turns_total{{{of}}} 1"));
    }
}
