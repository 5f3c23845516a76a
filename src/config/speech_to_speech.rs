//! How the service is reached that hears and speaks.
//!
//! Entry function: [`speech_to_speech`]. **Never**: says which NPCs it speaks for; they do.

use std::{collections::BTreeMap, time::Duration};

use super::{
    keys,
    prices::PaidBy,
    providers::{Clients, Home},
    reading::Notes,
};
use crate::{
    logic::budget::{BudgetOptions, Price},
    provider::{SPEECH_FIRST_BYTE, SPEECH_IDLE, SpeechOptions, SpeechService},
    yaml::{Fields, quoted},
};

/// The keys that lead there.
const PATH: &str = "providers.speech_to_speech";

/// The service of a checked file; what it costs by its own entry joins the prices of `budget`.
pub fn speech_to_speech(
    file: &Fields,
    budget: &mut BudgetOptions,
    notes: &mut Notes,
) -> Option<SpeechOptions> {
    let all = file.map("providers", &keys::providers::PROVIDERS)?;
    let fields = all.map("speech_to_speech", &keys::providers::SPEECH_TO_SPEECH)?;
    let service = named(&fields);
    let home = match service {
        SpeechService::OpenAi => Home::REALTIME,
        SpeechService::Gemini => Home::GEMINI,
    };
    let mut clients = Clients::new(&budget.prices, notes);
    let reach = clients.options(&fields, PATH, PaidBy::Talk, home);
    let mut own = clients.own;
    budget.prices.append(&mut own);
    if let Some(model) = &reach.priced_as {
        warn_of_sound(&fields, model, &budget.prices, notes);
    }
    Some(SpeechOptions {
        service,
        base_url: reach.base_url,
        api_key: reach.api_key,
        model: reach.model,
        priced_as: reach.priced_as,
        first_byte_timeout: fields
            .whole("first_byte_timeout_ms")
            .map_or(SPEECH_FIRST_BYTE, Duration::from_millis),
        max_age: fields.whole("max_age_min").map_or(service.max_age(), Duration::from_mins),
        idle: fields.whole("idle_s").map_or(SPEECH_IDLE, Duration::from_secs),
    })
}

/// The service of `file`, or the default one.
pub fn service(file: &Fields) -> SpeechService {
    let all = file.map("providers", &keys::providers::PROVIDERS);
    let fields = all.and_then(|all| {
        all.map("speech_to_speech", &keys::providers::SPEECH_TO_SPEECH).map(|it| named(&it))
    });
    fields.unwrap_or_default()
}

fn named(fields: &Fields) -> SpeechService {
    fields.text("name").and_then(SpeechService::named).unwrap_or_default()
}

/// Whether `file` has such a service, or says something about it that could not be read and has its
/// problem already.
pub fn is_there(file: &Fields) -> bool {
    let all = file.map("providers", &keys::providers::PROVIDERS);
    let of_all =
        |all: Fields| all.get("speech_to_speech").is_some() || all.is_broken("speech_to_speech");
    file.is_broken("providers") || all.is_some_and(of_all)
}

/// Notes a price that books sound as if it were text: services ask several times as much for it.
fn warn_of_sound(
    fields: &Fields,
    model: &str,
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) {
    let Some(price) = prices.get(model) else { return };
    let is_text = |sound: f64, text: f64| sound > 0.0 && (sound - text).abs() < f64::EPSILON;
    if is_text(price.audio_input, price.input) || is_text(price.audio_output, price.output) {
        let named = quoted(fields.text("model").unwrap_or(model));
        let message = format!("the price of model {named} charges sound like text");
        let at = fields.place(if fields.get("price").is_some() { "price" } else { "model" });
        notes.warnings.add(at, message, "add audio_input and audio_output");
    }
}
