//! NPCs whose speech a voice model makes, through the real program, against counterparts of both services
//! on this machine: what is not of one protocol alone runs on both.

/// Runs these tests on both services.
macro_rules! on_both {
    ($($test:ident),+ $(,)?) => {
        mod openai {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::support::voice_models::Service::OpenAi);
                }
            )+
        }
        mod gemini {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::support::voice_models::Service::Gemini);
                }
            )+
        }
    };
}

mod aimock;
mod both;
mod engines;
mod faults;
mod gemini;
mod money;
mod routing;
mod sdk;
mod talking;
mod tools;

use serde_json::Value;

use crate::support::{
    answers::text,
    program::{Place, Ran},
    voice_models::{Prices, Seen, Service, VoiceServer},
};

/// The key that counterparts want.
const KEY: &str = "sk-realtime-key-of-tests";
/// Longest wait for a session, in milliseconds: a busy machine is not waited for in vain.
const WAIT: u32 = 60_000;
/// Reply of the cascade.
const CASCADE: &str = "The cascade says so.";
/// Line of a player.
const HELLO: &str = "Bartok, hello";
/// Answer of a service.
const WELCOME: &str = "Welcome to the Tankard.";
/// Prices of the tests, which tell all kinds of tokens apart.
const PRICES: Prices = Prices {
    input: 4.0,
    cached_input: 0.4,
    output: 24.0,
    audio_input: 32.0,
    audio_cached: 0.5,
    audio_output: 64.0,
};

/// A table with Bartok, who speaks by the service at `base_url`, and Mira, who does not.
struct Setting {
    service: Service,
    base_url: String,
    prices: Prices,
    /// Longest wait for a session, in milliseconds.
    wait: u32,
    /// Tools of Bartok.
    tools: &'static str,
    /// Further lines of `providers`.
    providers: String,
    /// Further keys of the configuration.
    more: &'static str,
}

impl Setting {
    fn new(server: &VoiceServer) -> Self {
        Self::at(server.service(), server.base_url())
    }

    fn at(service: Service, base_url: String) -> Self {
        let providers = String::new();
        let (prices, wait, tools) = (PRICES, WAIT, "dice-roller.roll");
        Self { service, base_url, prices, wait, tools, providers, more: "" }
    }

    fn config(&self) -> String {
        let price = self.prices.entry();
        let (name, model, voice) =
            (self.service.name(), self.service.model(), self.service.voice());
        let Self { base_url, wait, tools, providers, more, .. } = self;
        format!(
            r#"providers:
  speech_to_speech: {{ name: {name}, model: {model}, api_key: {KEY}, base_url: "{base_url}", first_byte_timeout_ms: {wait}, price: {price} }}
{providers}{more}
npcs:
  - name: Bartok
    engine: s2s
    s2s: {{ voice: {voice} }}
    personality: A gruff innkeeper who counts in herrings.
    budget_tier: standard
    tools: [{tools}]
    voice: {{ provider: flite, voice_id: rms }}
    lines: [{{ say: "{CASCADE}" }}]
  - name: Mira
    voice: {{ provider: flite, voice_id: slt }}
    lines: [{{ say: "What is it to you?" }}]
"#
        )
    }

    fn place(&self) -> Place {
        Place::with_config(&self.config())
    }
}

/// Says lines at a place, one after the other; the key is shown nowhere.
#[track_caller]
fn say_at(place: &Place, said: &[&str]) -> Ran {
    let lines = said.iter().flat_map(|line| ["--text", line]);
    let arguments: Vec<&str> =
        ["ask", "--json", "--out", "out.wav"].into_iter().chain(lines).collect();
    let ran = place.run(&arguments);
    assert!(!format!("{ran:?}").contains(KEY), "the key is shown: {ran:#?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    ran
}

/// Says lines to the table of `server`.
#[track_caller]
fn say(server: &VoiceServer, said: &[&str]) -> Ran {
    say_at(&Setting::new(server).place(), said)
}

/// The answer after the end of the session that said [`WELCOME`], once the program knows of the end.
#[track_caller]
fn asked_again_after_the_end(server: &VoiceServer) -> Value {
    let place = Setting::new(server).place();
    let mut live = place.start(&["ask", "--json", "--silent"]);
    let mut asked = |turn: u32, said: &str| -> Value {
        live.types(said);
        serde_json::from_str(&live.says(&format!("\"turn\":{turn},"))).expect("a line")
    };
    assert_by_service(&asked(1, HELLO), WELCOME);
    // The line comes before the end of the session.
    server.until(|seen| seen.iter().any(|it| it.ended.is_some()));
    let mut line = asked(2, "Bartok, and?");
    if line["made_by"]["engine"] == "cascaded" {
        // The end was noticed in the turn.
        line = asked(3, "Bartok, and?");
    }
    assert_eq!(live.leave(), 0);
    line
}

/// Sessions of the service once all have ended; it refused nothing.
#[track_caller]
fn seen(server: &VoiceServer) -> Vec<Seen> {
    let seen = server.ended();
    let mistakes: Vec<&String> = seen.iter().flat_map(|it| &it.mistakes).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
    seen
}

/// The only session in which an answer was begun.
#[track_caller]
fn talk(server: &VoiceServer) -> Seen {
    let seen = seen(server).into_iter().filter(|it| it.answers > 0).collect::<Vec<_>>();
    let [seen] = <[Seen; 1]>::try_from(seen).expect("one session");
    seen
}

/// Answers that were begun, in all sessions.
fn answers(server: &VoiceServer) -> usize {
    server.seen().iter().map(|it| it.answers).sum()
}

/// The service has answered aloud with this.
#[track_caller]
fn assert_by_service(line: &Value, reply: &str) {
    assert_eq!((&line["outcome"], &line["reply"]), (&"spoken".into(), &reply.into()), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(300), "{line:#}");
    assert_eq!(line["made_by"]["engine"], "speech_to_speech", "{line:#}");
    assert_eq!(line["made_by"]["because"], Value::Null, "{line:#}");
}

/// The cascade has answered aloud instead, and the line says why.
#[track_caller]
fn assert_by_cascade(line: &Value) {
    assert_eq!((&line["outcome"], &line["reply"]), (&"spoken".into(), &CASCADE.into()), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(300), "{line:#}");
    assert_eq!(line["made_by"]["engine"], "cascaded", "{line:#}");
    assert!(!because(line).is_empty(), "{line:#}");
}

/// Reason why the NPC's own engine did not answer.
#[track_caller]
fn because(line: &Value) -> &str {
    text(&line["made_by"], "because")
}

/// Number of notices to the game master that the service fails Bartok.
fn told(ran: &Ran) -> usize {
    const NEWS: &str = "voice model of Bartok";
    let details = ran.lines().into_iter();
    let in_details = details.filter(|it| it["detail"].as_str().is_some_and(|it| it.contains(NEWS)));
    ran.stderr.matches(NEWS).count() + in_details.count()
}
