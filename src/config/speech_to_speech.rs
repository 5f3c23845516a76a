//! Settings of speech-to-speech services, which NPCs choose.

use std::{collections::BTreeMap, time::Duration};

use super::{
    keys,
    listed::{entries, refuse_empty, service_of},
    prices::PaidBy,
    providers::Clients,
    reading::Notes,
    services::Home,
};
use crate::{
    logic::budget::{BudgetOptions, Price},
    provider::{SPEECH_IDLE, SpeechOptions, SpeechService},
    yaml::{Fields, quoted},
};

const KEY: &str = "speech_to_speech";
/// Keys that name an entry, in order of priority.
const NAMED_BY: [&str; 3] = ["as", "service", "name"];
const PATH: &str = "providers.speech_to_speech";

/// The services, with unique names. Adds their own prices to `budget`.
pub fn speech_to_speech(
    file: &Fields,
    budget: &mut BudgetOptions,
    notes: &mut Notes,
) -> Vec<SpeechOptions> {
    let mut services: Vec<SpeechOptions> = Vec::new();
    let Some(all) = file.map("providers", &keys::providers::PROVIDERS) else { return services };
    for fields in entries(&all, KEY, &keys::providers::SPEECH_TO_SPEECH) {
        let entry = service(&fields, budget, notes);
        if !is_named(&fields) {
            continue;
        }
        if services.iter().any(|it| it.name == entry.name) {
            let message = format!("'{PATH}' lists {} twice", quoted(&entry.name));
            let way_out = "give one of them another name: `as: mini`";
            let named_by = NAMED_BY.into_iter().find(|key| fields.get(key).is_some());
            notes.problems.add(fields.place(named_by.unwrap_or("name")), message, way_out);
        }
        services.push(entry);
    }
    refuse_empty(&all, KEY, "list a service, or remove the key", notes);
    services
}

fn service(fields: &Fields, budget: &mut BudgetOptions, notes: &mut Notes) -> SpeechOptions {
    let service = service_of(fields).and_then(SpeechService::named).unwrap_or_default();
    let home = match service {
        SpeechService::OpenAi => Home::REALTIME,
        SpeechService::Gemini => Home::GEMINI,
    };
    let mut clients = Clients::new(&budget.prices, notes);
    clients.check_service(fields, PATH);
    let reach = clients.options(fields, PATH, PaidBy::Talk, home);
    let mut own = clients.own;
    budget.prices.append(&mut own);
    if let Some(model) = &reach.priced_as {
        warn_of_sound(fields, model, &budget.prices, notes);
    }
    SpeechOptions {
        name: fields.text("as").unwrap_or(service.name()).trim().to_owned(),
        service,
        base_url: reach.base_url,
        api_key: reach.api_key,
        model: reach.model,
        priced_as: reach.priced_as,
        first_byte_timeout: reach.first_byte_timeout,
        max_age: fields.whole("max_age_min").map_or(service.max_age(), Duration::from_mins),
        idle: fields.whole("idle_s").map_or(SPEECH_IDLE, Duration::from_secs),
    }
}

/// True if every service is valid; an invalid one has its own problem.
pub fn is_read(file: &Fields) -> bool {
    let Some(all) = file.map("providers", &keys::providers::PROVIDERS) else {
        return !file.is_broken("providers");
    };
    let entries = || entries(&all, KEY, &keys::providers::SPEECH_TO_SPEECH);
    let is_whole = entries().count() == all.items(KEY).len() && !all.is_broken(KEY);
    is_whole && entries().all(|fields| is_named(&fields))
}

/// True if the entry's name is valid.
fn is_named(fields: &Fields) -> bool {
    !NAMED_BY.into_iter().any(|key| fields.is_broken(key))
}

/// Warns of a price that books sound as text: services ask several times as much for it.
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
