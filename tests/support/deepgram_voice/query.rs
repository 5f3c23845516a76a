//! Query of a handshake, and why the real service would refuse it.

use reqwest::Url;
use tokio_tungstenite::tungstenite::handshake::server::Request;

/// Voices that this service has.
pub const VOICES: [&str; 5] =
    ["aura-2-thalia-en", "aura-2-zeus-en", "aura-2-fabian-de", "flux-haley-en", "flux-kit-en"];
const KNOWN: [&str; 6] = ["model", "encoding", "sample_rate", "speed", "mip_opt_out", "tag"];
const RATES: [&str; 5] = ["8000", "16000", "24000", "32000", "48000"];

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

    /// Speed of the voice, if it is a number.
    pub fn speed(&self) -> Option<f64> {
        self.value("speed").map_or(Some(1.0), |speed| speed.parse().ok())
    }

    pub fn is_flux(&self) -> bool {
        self.path == "/v2/speak"
    }

    /// Reason for refusing it, if any.
    pub fn refused(&self, key: &str) -> Option<Refused> {
        if self.authorization != format!("Token {key}") {
            return Some((401, "INVALID_AUTH", "Invalid credentials.".to_owned()));
        }
        if !["/v1/speak", "/v2/speak"].contains(&self.path.as_str()) {
            return Some((404, "NOT_FOUND", "no such path".to_owned()));
        }
        self.wrong().map(|message| (400, "Bad Request", message))
    }

    fn wrong(&self) -> Option<String> {
        let model = self.value("model").unwrap_or_default();
        let unknown = self.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str()));
        let rate = self.value("sample_rate").unwrap_or("24000");
        let is_family = model.starts_with("flux-") == self.is_flux();
        match () {
            () if unknown.is_some() => unknown.map(|(key, _)| format!("unknown parameter {key}")),
            () if !is_family || !VOICES.contains(&model) => {
                Some("No such model/language/tier combination found.".to_owned())
            }
            () if self.value("encoding").is_some_and(|it| it != "linear16") => {
                Some("this fake speaks linear16".to_owned())
            }
            () if !RATES.contains(&rate) => Some("sample_rate is not supported".to_owned()),
            () => self.wrong_speed(model),
        }
    }

    fn wrong_speed(&self, model: &str) -> Option<String> {
        let Some(speed) = self.speed() else { return Some("speed is a number".to_owned()) };
        let steps = speed / 0.05;
        match () {
            () if self.value("speed").is_none() => None,
            () if !self.is_flux() && !model.ends_with("-en") && !model.ends_with("-es") => {
                Some("speed is not supported for this language".to_owned())
            }
            () if !self.is_flux() && !(0.7..=1.5).contains(&speed) => {
                Some("'speed' must be between 0.7 and 1.5".to_owned())
            }
            () if self.is_flux() && !(0.5..=1.5).contains(&speed) => {
                Some("'speed' must be between 0.5 and 1.5".to_owned())
            }
            () if self.is_flux() && (steps - steps.round()).abs() > 1e-6 => {
                Some("'speed' must be provided in increments of 0.05".to_owned())
            }
            () => None,
        }
    }
}
