//! Query of a handshake, and why the real service would refuse it.

use super::Asked;

/// Most terms; the real limit is in tokens.
pub const TERMS_MAX: usize = 100;

/// Status, code and message of a refusal.
pub type Refused = (u16, &'static str, String);

/// The number under `key`.
fn number(asked: &Asked, key: &str) -> Option<f64> {
    asked.value(key)?.parse().ok()
}

/// True if the model takes terms.
pub fn takes_terms(asked: &Asked) -> bool {
    let model = asked.value("model").unwrap_or_default();
    model.starts_with("nova-3") || model.starts_with("flux")
}

/// Reason for refusing it, if any.
pub fn refused(asked: &Asked, key: &str) -> Option<Refused> {
    if asked.header("authorization") != Some(format!("Token {key}").as_str()) {
        return Some((401, "INVALID_AUTH", "Invalid credentials.".to_owned()));
    }
    let wrong = match asked.path.as_str() {
        "/v1/listen" => common(asked).or_else(|| nova(asked)),
        "/v2/listen" => common(asked).or_else(|| flux(asked)),
        _ => return Some((404, "NOT_FOUND", "no such path".to_owned())),
    };
    wrong.map(|message| (400, "Bad Request", message))
}

fn common(asked: &Asked) -> Option<String> {
    let encoding = asked.value("encoding");
    let terms: Vec<&str> =
        asked.query.iter().filter(|(it, _)| it == "keyterm").map(|(_, it)| it.as_str()).collect();
    match () {
        () if asked.value("model").is_none() => Some("no model".to_owned()),
        () if encoding != Some("linear16") => Some("this fake hears linear16".to_owned()),
        () if asked.value("sample_rate") != Some("16000") => Some("16 kHz here".to_owned()),
        () if !terms.is_empty() && !takes_terms(asked) => {
            Some("keyterm is for nova-3 and flux".to_owned())
        }
        () if terms.len() > TERMS_MAX => Some("too many keyterms".to_owned()),
        () if terms.iter().any(|term| term.trim().is_empty() || term.contains(',')) => {
            Some("a keyterm is plain".to_owned())
        }
        () => None,
    }
}

fn nova(asked: &Asked) -> Option<String> {
    const KNOWN: &[&str] = &[
        "model",
        "encoding",
        "sample_rate",
        "channels",
        "language",
        "interim_results",
        "endpointing",
        "utterance_end_ms",
        "vad_events",
        "keyterm",
        "smart_format",
        "punctuate",
        "numerals",
        "tag",
    ];
    const FLAGS: &[&str] =
        &["interim_results", "vad_events", "smart_format", "punctuate", "numerals"];
    let is_flag = |value: &str| matches!(value, "true" | "false");
    let unknown = asked.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str()));
    let unset = FLAGS.iter().find(|key| asked.value(key).is_some_and(|it| !is_flag(it)));
    let ends = asked.value("endpointing").filter(|it| *it != "false");
    match () {
        () if !asked.value("model").unwrap_or_default().starts_with("nova") => {
            Some("no such model".to_owned())
        }
        () if unknown.is_some() => unknown.map(|(key, _)| format!("unknown parameter {key}")),
        () if unset.is_some() => unset.map(|key| format!("{key} is true or false")),
        () if ends.is_some_and(|it| it.parse::<u32>().is_err()) => {
            Some("endpointing is a number or false".to_owned())
        }
        () if asked.value("utterance_end_ms").is_some()
            && (asked.value("interim_results") != Some("true")
                || number(asked, "utterance_end_ms").is_none_or(|ms| ms < 1000.0)) =>
        {
            Some("utterance_end_ms wants interim_results, and 1000".to_owned())
        }
        () => None,
    }
}

fn flux(asked: &Asked) -> Option<String> {
    const KNOWN: &[&str] = &[
        "model",
        "encoding",
        "sample_rate",
        "eot_threshold",
        "eager_eot_threshold",
        "eot_timeout_ms",
        "keyterm",
        "language_hint",
        "tag",
    ];
    let model = asked.value("model").unwrap_or_default();
    let unknown = asked.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str()));
    let outside = |key: &str, least: f64, most: f64| {
        asked.value(key).is_some()
            && number(asked, key).is_none_or(|it| !(least..=most).contains(&it))
    };
    let end = number(asked, "eot_threshold").unwrap_or(0.7);
    match () {
        () if !matches!(model, "flux-general-en" | "flux-general-multi") => {
            Some("no such model".to_owned())
        }
        () if unknown.is_some() => unknown.map(|(key, _)| format!("unknown parameter {key}")),
        () if outside("eot_threshold", 0.5, 1.0)
            || outside("eager_eot_threshold", 0.3, 0.9)
            || outside("eot_timeout_ms", 500.0, 60_000.0) =>
        {
            Some("a threshold is out of range".to_owned())
        }
        () if number(asked, "eager_eot_threshold").is_some_and(|eager| eager > end) => {
            Some("eager_eot_threshold is above eot_threshold".to_owned())
        }
        () if asked.value("language_hint").is_some() && model != "flux-general-multi" => {
            Some("language_hint is for flux-general-multi".to_owned())
        }
        () => None,
    }
}
