//! Query of a handshake, and why the real service would refuse it.

use reqwest::Url;
use tokio_tungstenite::tungstenite::handshake::server::Request;

/// Most terms; the real limit is in tokens.
pub const TERMS_MAX: usize = 100;

/// A handshake.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub query: Vec<(String, String)>,
    authorization: String,
}

/// Status, code and message of a refusal.
pub type Refused = (u16, &'static str, String);

impl Asked {
    /// Reads a request.
    pub fn of(request: &Request) -> Self {
        let url = Url::parse(&format!("http://localhost{}", request.uri())).expect("an address");
        let authorization = request.headers().get("authorization");
        Self {
            path: url.path().to_owned(),
            query: url.query_pairs().map(|(key, it)| (key.into_owned(), it.into_owned())).collect(),
            authorization: authorization
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// The first value of `key`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The number under `key`.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.value(key)?.parse().ok()
    }

    /// True if the model takes terms.
    pub fn takes_terms(&self) -> bool {
        let model = self.value("model").unwrap_or_default();
        model.starts_with("nova-3") || model.starts_with("flux")
    }

    /// Reason for refusing it, if any.
    pub fn refused(&self, key: &str) -> Option<Refused> {
        if self.authorization != format!("Token {key}") {
            return Some((401, "INVALID_AUTH", "Invalid credentials.".to_owned()));
        }
        let wrong = match self.path.as_str() {
            "/v1/listen" => self.common().or_else(|| self.nova()),
            "/v2/listen" => self.common().or_else(|| self.flux()),
            _ => return Some((404, "NOT_FOUND", "no such path".to_owned())),
        };
        wrong.map(|message| (400, "Bad Request", message))
    }

    fn common(&self) -> Option<String> {
        let encoding = self.value("encoding");
        let terms: Vec<&str> = self
            .query
            .iter()
            .filter(|(it, _)| it == "keyterm")
            .map(|(_, it)| it.as_str())
            .collect();
        match () {
            () if self.value("model").is_none() => Some("no model".to_owned()),
            () if encoding != Some("linear16") => Some("this fake hears linear16".to_owned()),
            () if self.value("sample_rate") != Some("16000") => Some("16 kHz here".to_owned()),
            () if !terms.is_empty() && !self.takes_terms() => {
                Some("keyterm is for nova-3 and flux".to_owned())
            }
            () if terms.len() > TERMS_MAX => Some("too many keyterms".to_owned()),
            () if terms.iter().any(|term| term.trim().is_empty() || term.contains(',')) => {
                Some("a keyterm is plain".to_owned())
            }
            () => None,
        }
    }

    fn nova(&self) -> Option<String> {
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
        let unknown = self.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str()));
        let unset = FLAGS.iter().find(|key| self.value(key).is_some_and(|it| !is_flag(it)));
        let ends = self.value("endpointing").filter(|it| *it != "false");
        match () {
            () if !self.value("model").unwrap_or_default().starts_with("nova") => {
                Some("no such model".to_owned())
            }
            () if unknown.is_some() => unknown.map(|(key, _)| format!("unknown parameter {key}")),
            () if unset.is_some() => unset.map(|key| format!("{key} is true or false")),
            () if ends.is_some_and(|it| it.parse::<u32>().is_err()) => {
                Some("endpointing is a number or false".to_owned())
            }
            () if self.value("utterance_end_ms").is_some()
                && (self.value("interim_results") != Some("true")
                    || self.number("utterance_end_ms").is_none_or(|ms| ms < 1000.0)) =>
            {
                Some("utterance_end_ms wants interim_results, and 1000".to_owned())
            }
            () => None,
        }
    }

    fn flux(&self) -> Option<String> {
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
        let model = self.value("model").unwrap_or_default();
        let unknown = self.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str()));
        let outside = |key: &str, least: f64, most: f64| {
            self.value(key).is_some()
                && self.number(key).is_none_or(|it| !(least..=most).contains(&it))
        };
        let end = self.number("eot_threshold").unwrap_or(0.7);
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
            () if self.number("eager_eot_threshold").is_some_and(|eager| eager > end) => {
                Some("eager_eot_threshold is above eot_threshold".to_owned())
            }
            () if self.value("language_hint").is_some() && model != "flux-general-multi" => {
                Some("language_hint is for flux-general-multi".to_owned())
            }
            () => None,
        }
    }
}
