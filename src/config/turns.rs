//! Settings of turns: silence, limits, words that give more time.

use std::time::Duration;

use super::keys;
use crate::{
    logic::{
        tier::Keywords,
        turn::{Detector, Patience},
    },
    session,
    yaml::Fields,
};

/// Settings of a table, whose `tools` are read; `max_tokens` limits a model's answer.
pub fn session(
    app: &Fields<'_>,
    tools: Option<Fields>,
    max_tokens: Option<u32>,
) -> session::Options {
    let default = session::Options::default();
    let turn = app.map("turn", &keys::app::TURN);
    let millis = |fields: Option<Fields>, key| {
        fields.and_then(|fields| fields.whole(key)).map(Duration::from_millis)
    };
    session::Options {
        patience: match turn.and_then(|turn| turn.text("patience")) {
            Some("snappy") => Patience::Snappy,
            Some("normal") => Patience::Normal,
            Some("patient") => Patience::Patient,
            _ => default.patience,
        },
        detector: turn
            .and_then(|turn| turn.text("detector"))
            .and_then(Detector::named)
            .unwrap_or(default.detector),
        preemptive: turn.and_then(|turn| turn.flag("preemptive")).unwrap_or(default.preemptive),
        filler_after: millis(tools, "filler_after_ms").unwrap_or(default.filler_after),
        max_tokens: max_tokens.unwrap_or(default.max_tokens),
        turn_timeout: millis(turn, "timeout_ms").unwrap_or(default.turn_timeout),
        recall_timeout: millis(turn, "recall_ms").unwrap_or(default.recall_timeout),
        limits: limits(app, default.limits),
        explains: default.explains,
    }
}

fn limits(app: &Fields<'_>, default: session::Limits) -> session::Limits {
    let limits = app.map("limits", &keys::app::LIMITS);
    let whole = |key| limits.and_then(|limits| limits.whole(key));
    session::Limits {
        paid_turns_per_minute: whole("paid_turns_per_minute")
            .unwrap_or(default.paid_turns_per_minute),
        waiting: whole("waiting").unwrap_or(default.waiting),
    }
}

/// Words that raise a turn's tier.
pub fn tiers(app: &Fields<'_>) -> Keywords {
    let tiers = app.map("tiers", &keys::app::TIERS);
    let languages = match tiers.and_then(|tiers| tiers.get("languages").and(Some(tiers))) {
        Some(tiers) => tiers.texts("languages"),
        None => vec!["en".to_owned(), "de".to_owned()],
    };
    let shipped = Keywords::shipped(languages.iter().map(String::as_str));
    let changed = |key, shipped: Vec<String>| {
        let Some(words) = tiers.and_then(|tiers| tiers.map(key, &keys::app::WORDS)) else {
            return shipped;
        };
        let replaced = words.texts("replace");
        let mut all = if replaced.is_empty() { shipped } else { replaced };
        all.extend(words.texts("add"));
        all
    };
    Keywords {
        deep: changed("deep", shipped.deep),
        standard: changed("standard", shipped.standard),
        shows: shipped.shows,
    }
}
