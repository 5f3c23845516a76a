//! A turn's trace: its root, and stages that share all of its time without gaps.
//!
//! Entry functions: [`finish`], [`logged`].

use tokio::time::Instant;

use super::line::{Outcome, TurnLine};
use crate::{
    domain::redact,
    traces::{Operation, Root, Stage, Trace, Value, names},
};

/// Moments of a turn; all but the first and the last may be missing.
pub struct Moments {
    pub speech_end: Instant,
    pub final_at: Option<Instant>,
    pub first_text: Option<Instant>,
    /// The first sound left.
    pub audible: Option<Instant>,
    pub ended: Instant,
}

/// Sends the trace of a turn whose line is published.
pub fn finish(trace: &Trace, moments: &Moments, line: &TurnLine) {
    if !trace.is_on() {
        return;
    }
    let outcome = outcome(line.outcome);
    trace.finish(Root {
        agent: line.npc.clone().unwrap_or_default(),
        began: moments.speech_end,
        ended: moments.ended,
        stages: stages(moments, &line.stt),
        attributes: attributes(trace, moments, line, &outcome),
        error: (!line.outcome.is_well()).then_some(outcome),
    });
}

/// Gives the log lines of a turn the id of its trace.
pub fn logged(trace: &Trace) -> tracing::Span {
    match trace.id() {
        Some(id) => tracing::info_span!("turn", trace = %id),
        None => tracing::Span::none(),
    }
}

fn outcome(outcome: Outcome) -> String {
    let name = serde_json::to_value(outcome).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

fn attributes(
    trace: &Trace,
    moments: &Moments,
    line: &TurnLine,
    outcome: &str,
) -> Vec<(&'static str, Value)> {
    let mut all: Vec<(&'static str, Value)> = vec![(names::OUTCOME, outcome.into())];
    if let Some(turn) = line.circumstances.turn {
        all.push((names::TURN, turn.0.into()));
    }
    if let Some(tier) = &line.tier {
        all.push((names::TIER, tier.effective.name().into()));
    }
    if let Some(made_by) = &line.made_by {
        all.push((names::ENGINE, made_by.engine.into()));
    }
    if let Some(audible) = moments.audible {
        let wait = audible.saturating_duration_since(moments.speech_end);
        all.push((names::FIRST_AUDIO, wait.as_secs_f64().into()));
    }
    match line.outcome {
        Outcome::Spoken => all.push((names::END_REASON, "completed".into())),
        Outcome::Interrupted => all.push((names::END_REASON, "interrupted".into())),
        _ => {}
    }
    if trace.has_content() {
        let words = |text: &str| Value::from(redact::without_credentials(text));
        all.push((names::UNDERSTOOD, words(&line.understood)));
        all.push((names::REPLY, words(&line.reply)));
    }
    all
}

/// Consecutive stages from the end of speech to the end of the turn. A stage that was ready early
/// takes no time.
fn stages(moments: &Moments, stt: &str) -> Vec<Stage> {
    let recogniser = (stt != TurnLine::TYPED).then(|| (Operation::SpeechToText, stt.to_owned()));
    let reached =
        [("hear", moments.final_at), ("think", moments.first_text), ("voice", moments.audible)];
    let mut from = moments.speech_end;
    let mut stages = Vec::new();
    // Where the turn ended.
    let mut last = "hear";
    for ((name, at), next) in reached.into_iter().zip(["think", "voice", "play"]) {
        let Some(at) = at else { continue };
        let by = if name == "hear" { recogniser.clone() } else { None };
        let to = at.max(from).min(moments.ended);
        stages.push(Stage { name, by, from, to });
        (from, last) = (to, next);
    }
    stages.push(Stage { name: last, by: None, from, to: moments.ended });
    stages
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(begin: Instant, ms: u64) -> Instant {
        begin + Duration::from_millis(ms)
    }

    /// Names and lengths in ms.
    fn lengths(moments: &Moments) -> Vec<(&'static str, u128)> {
        let stages = stages(moments, "ears");
        let whole = moments.ended - moments.speech_end;
        let sum: Duration = stages.iter().map(|it| it.to - it.from).sum();
        assert_eq!(sum, whole, "{stages:?}");
        stages.iter().map(|it| (it.name, (it.to - it.from).as_millis())).collect()
    }

    #[test]
    fn stages_share_the_whole_turn() {
        let begin = Instant::now();
        let spoken = Moments {
            speech_end: begin,
            final_at: Some(at(begin, 300)),
            first_text: Some(at(begin, 500)),
            audible: Some(at(begin, 800)),
            ended: at(begin, 3_000),
        };
        let all = [("hear", 300), ("think", 200), ("voice", 300), ("play", 2_200)];
        assert_eq!(lengths(&spoken), all);
        // A guess had its text before the final.
        let ahead = Moments { first_text: Some(at(begin, 100)), ..spoken };
        let all = [("hear", 300), ("think", 0), ("voice", 500), ("play", 2_200)];
        assert_eq!(lengths(&ahead), all);
        let silent = Moments { first_text: None, audible: None, ..ahead };
        assert_eq!(lengths(&silent), [("hear", 300), ("think", 2_700)]);
    }
}
