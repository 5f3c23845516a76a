//! Query of a handshake, and why the real service would refuse it.

use super::{Asked, Refused};

/// Voices that this service has.
pub const VOICES: [&str; 5] =
    ["aura-2-thalia-en", "aura-2-zeus-en", "aura-2-fabian-de", "flux-haley-en", "flux-kit-en"];
const KNOWN: [&str; 6] = ["model", "encoding", "sample_rate", "speed", "mip_opt_out", "tag"];
const RATES: [&str; 5] = ["8000", "16000", "24000", "32000", "48000"];

/// Speed of the voice, if it is a number.
pub fn speed(asked: &Asked) -> Option<f64> {
    asked.value("speed").map_or(Some(1.0), |speed| speed.parse().ok())
}

pub fn is_flux(asked: &Asked) -> bool {
    asked.path == "/v2/speak"
}

/// Reason for refusing it, if any.
pub fn refused(asked: &Asked, key: &str) -> Option<Refused> {
    if asked.header("authorization") != Some(format!("Token {key}").as_str()) {
        return Some((401, "INVALID_AUTH", "Invalid credentials.".to_owned()));
    }
    if !["/v1/speak", "/v2/speak"].contains(&asked.path.as_str()) {
        return Some((404, "NOT_FOUND", "no such path".to_owned()));
    }
    wrong(asked).map(|message| (400, "Bad Request", message))
}

fn wrong(asked: &Asked) -> Option<String> {
    let model = asked.value("model").unwrap_or_default();
    let unknown = asked.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str()));
    let rate = asked.value("sample_rate").unwrap_or("24000");
    let is_family = model.starts_with("flux-") == is_flux(asked);
    match () {
        () if unknown.is_some() => unknown.map(|(key, _)| format!("unknown parameter {key}")),
        () if !is_family || !VOICES.contains(&model) => {
            Some("No such model/language/tier combination found.".to_owned())
        }
        () if asked.value("encoding").is_some_and(|it| it != "linear16") => {
            Some("this fake speaks linear16".to_owned())
        }
        () if !RATES.contains(&rate) => Some("sample_rate is not supported".to_owned()),
        () => wrong_speed(asked, model),
    }
}

fn wrong_speed(asked: &Asked, model: &str) -> Option<String> {
    let Some(speed) = speed(asked) else { return Some("speed is a number".to_owned()) };
    let steps = speed / 0.05;
    match () {
        () if asked.value("speed").is_none() => None,
        () if !is_flux(asked) && !model.ends_with("-en") && !model.ends_with("-es") => {
            Some("speed is not supported for this language".to_owned())
        }
        () if !is_flux(asked) && !(0.7..=1.5).contains(&speed) => {
            Some("'speed' must be between 0.7 and 1.5".to_owned())
        }
        () if is_flux(asked) && !(0.5..=1.5).contains(&speed) => {
            Some("'speed' must be between 0.5 and 1.5".to_owned())
        }
        () if is_flux(asked) && (steps - steps.round()).abs() > 1e-6 => {
            Some("'speed' must be provided in increments of 0.05".to_owned())
        }
        () => None,
    }
}
