//! The services that are used, and how they are reached.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value as Json};

use super::{keys, npc::language, reading::Notes};
use crate::{
    domain::Secret,
    logic::budget::Price,
    provider::{
        BaseUrl, HereOptions, ModelEntry, ModelService, PiperOptions, RecogniserEntry,
        RecogniserService, VoiceEntry, VoiceService, base_url,
        openai::{self, Options},
    },
    yaml::{Fields, Position, Problems, Shape, quoted},
};

/// What a service is paid by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PaidBy {
    /// Tokens read and written.
    Tokens,
    /// Minutes of sound heard.
    Minutes,
    /// Characters of what is spoken.
    Speech,
}

/// The services under `providers`, and the longest answer in tokens if it is set.
pub struct Providers {
    /// Turns speech into text.
    pub recogniser: RecogniserEntry,
    /// Answers for the NPCs.
    pub model: ModelEntry,
    /// Speaks for voices that name no provider.
    pub voice: VoiceEntry,
    /// Longest answer of the model, in tokens.
    pub max_tokens: Option<u32>,
}

/// The providers of a checked file whose models cost `prices`; `here` is heard on this machine.
pub fn providers(
    file: &Fields,
    here: &HereOptions,
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) -> Providers {
    let all = file.map("providers", &keys::providers::PROVIDERS);
    let service = |key, shape: &'static Shape| all.and_then(|all| all.map(key, shape));
    let (stt, llm) = (service("stt", &keys::providers::STT), service("llm", &keys::providers::LLM));
    let tts = service("tts", &keys::providers::TTS);
    let mut clients = Clients { prices, notes };
    Providers {
        recogniser: stt.map_or_else(
            || RecogniserEntry::Local(here.clone()),
            |it| clients.recogniser(&it, here),
        ),
        model: llm.map(|it| clients.model(&it)).unwrap_or_default(),
        voice: tts.map(|it| clients.voice(&it)).unwrap_or_default(),
        max_tokens: llm.and_then(|fields| fields.whole("max_tokens")),
    }
}

/// How the embedding service under `name` is reached; it has to be free.
pub fn embedder(
    fields: &Fields,
    name: &str,
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) -> Options {
    let options = Clients { prices, notes }.options(fields, name, PaidBy::Tokens);
    if options.priced_as.is_some() {
        let message = format!("'{name}' would cost money that no budget counts");
        let way_out = "use a server of your own, or a model without a price and `free: true`";
        notes.problems.add(fields.place("model"), message, way_out);
    }
    options
}

/// Reads settings of OpenAI-compatible services.
struct Clients<'a> {
    /// What models cost.
    prices: &'a BTreeMap<String, Price>,
    /// What was found.
    notes: &'a mut Notes,
}

impl Clients<'_> {
    /// The recogniser in `fields`.
    fn recogniser(&mut self, fields: &Fields, here: &HereOptions) -> RecogniserEntry {
        const PATH: &str = "providers.stt";
        let service = fields.text("name").and_then(RecogniserService::named).unwrap_or_default();
        match service {
            RecogniserService::Local => {
                self.refuse_settings(fields, PATH, service.name());
                RecogniserEntry::Local(here.clone())
            }
            RecogniserService::OpenAi => RecogniserEntry::OpenAi {
                options: self.options(fields, PATH, PaidBy::Minutes),
                language: language(fields, &mut self.notes.problems)
                    .unwrap_or(&here.language)
                    .to_owned(),
            },
        }
    }

    /// The model in `fields`.
    fn model(&mut self, fields: &Fields) -> ModelEntry {
        const PATH: &str = "providers.llm";
        let service = fields.text("name").and_then(ModelService::named).unwrap_or_default();
        match service {
            ModelService::Scripted => {
                self.refuse_settings(fields, PATH, service.name());
                ModelEntry::Scripted
            }
            ModelService::OpenAi => {
                let mut options = self.options(fields, PATH, PaidBy::Tokens);
                self.model_settings(fields, &mut options);
                ModelEntry::OpenAi(options)
            }
        }
    }

    /// The voice service in `fields`.
    fn voice(&mut self, fields: &Fields) -> VoiceEntry {
        const PATH: &str = "providers.tts";
        let service = fields.text("name").and_then(VoiceService::named).unwrap_or_default();
        match service {
            VoiceService::Flite | VoiceService::Espeak => {
                self.refuse_settings(fields, PATH, service.name());
                service.without_settings().unwrap_or_default()
            }
            VoiceService::Piper => {
                self.refuse_settings(fields, PATH, service.name());
                // Its folder is that of the whole configuration.
                VoiceEntry::Piper(PiperOptions::default())
            }
            VoiceService::OpenAi => VoiceEntry::OpenAi(self.options(fields, PATH, PaidBy::Speech)),
        }
    }

    /// Notes settings beside its name, which a service on this machine does not have.
    fn refuse_settings(&mut self, fields: &Fields, path: &str, service: &str) {
        let keys = fields.shape().keys.iter().map(|key| key.name).filter(|key| *key != "name");
        refuse(fields, Entry { path, service }, keys, self.notes);
    }

    /// How the service under `name` is reached.
    fn options(&mut self, fields: &Fields, name: &str, paid_by: PaidBy) -> Options {
        let wait = |key, default| Duration::from_millis(fields.whole(key).unwrap_or(default));
        let address = self.address(fields, name);
        let api_key = fields.text("api_key").map(str::trim).filter(|key| !key.is_empty());
        if let Some(address) = &address {
            self.check_key(fields, name, address, api_key.is_some());
        }
        let model = fields.text("model").unwrap_or_default();
        if model.is_empty() && !fields.is_broken("model") {
            let message = format!("missing key 'model' of '{name}'");
            self.notes.problems.add(fields.at(), message, "model: the service's name of it");
        }
        let private = address.as_ref().is_none_or(|address| address.private);
        Options {
            base_url: address.map(|address| address.text).unwrap_or_default(),
            api_key: api_key.map(|key| Secret(key.to_owned())),
            model: model.to_owned(),
            temperature: None,
            extra_body: Map::new(),
            first_byte_timeout: wait("first_byte_timeout_ms", 15_000),
            idle_timeout: wait("idle_timeout_ms", 10_000),
            context_window: openai::CONTEXT_WINDOW,
            priced_as: self.priced_as(fields, model, private, paid_by),
        }
    }

    /// Settings that only chat models have.
    fn model_settings(&mut self, fields: &Fields, options: &mut Options) {
        #[expect(clippy::cast_possible_truncation, reason = "bounded to 0 to 2 by its key")]
        let temperature = fields.number("temperature").map(|number| number as f32);
        options.temperature = temperature;
        options.context_window = fields.whole("context_window").unwrap_or(openai::CONTEXT_WINDOW);
        let Some(node) = fields.get("extra_body") else { return };
        for entry in node.entries() {
            if openai::OWN_MEMBERS.contains(&entry.key.as_str()) {
                let message = format!("extra_body cannot set {}", quoted(&entry.key));
                self.notes.problems.add(
                    entry.at,
                    message,
                    "it is part of every request; remove it",
                );
            }
        }
        if let Json::Object(members) = node.to_json() {
            options.extra_body = members;
        }
    }

    /// The address, unless it is wrong.
    fn address(&mut self, fields: &Fields, name: &str) -> Option<BaseUrl> {
        if fields.is_broken("base_url") {
            return None;
        }
        let text = fields.text("base_url").unwrap_or(openai::BASE_URL);
        base_url(text)
            .map_err(|expected| {
                let message = format!("'{name}.base_url' is {}", fields.shown("base_url"));
                self.notes.problems.add(fields.place("base_url"), message, expected);
            })
            .ok()
    }

    /// A key is there where it must be, and does not travel unencrypted.
    fn check_key(&mut self, fields: &Fields, name: &str, address: &BaseUrl, has_key: bool) {
        let at = fields.place("api_key");
        if !has_key && address.text == openai::BASE_URL && !fields.is_broken("api_key") {
            let message = format!("missing key 'api_key' of '{name}'");
            self.notes.problems.add(at, message, "api_key: ${OPENAI_API_KEY}, or another base_url");
        }
        if has_key && !address.private && !address.encrypted {
            let message = format!("'{name}.api_key' travels unencrypted to another network");
            self.notes.warnings.add(at, message, "use https://");
        }
    }

    /// The model's name in the price list, if calls cost something.
    fn priced_as(
        &mut self,
        fields: &Fields,
        model: &str,
        private: bool,
        paid_by: PaidBy,
    ) -> Option<String> {
        let at = fields.place("model");
        let problems = &mut self.notes.problems;
        if model.is_empty() {
            return None;
        }
        match (self.prices.get(model), fields.flag("free")) {
            (Some(_), Some(true)) => {
                let message = format!("model {} has a price and is called free", quoted(model));
                problems.add(at, message, "remove `free: true`, or its price");
            }
            (Some(price), _) => {
                check_price(*price, model, paid_by, at, problems);
                return Some(model.to_owned());
            }
            (None, Some(true)) => {}
            (None, None) if private => {}
            (None, _) => {
                let message = format!("no price for model {} under prices", quoted(model));
                problems.add(at, message, "add one, or `free: true` to the provider");
            }
        }
        None
    }
}

/// A service and where the file describes it.
pub struct Entry<'a> {
    /// The keys that lead there ("providers.stt").
    pub path: &'a str,
    /// The service's name.
    pub service: &'a str,
}

/// Notes the settings among `keys` that the service of `entry` does not have.
pub fn refuse(
    fields: &Fields,
    entry: Entry,
    keys: impl Iterator<Item = &'static str>,
    notes: &mut Notes,
) {
    if fields.is_broken("name") {
        return;
    }
    for key in keys.filter(|key| fields.get(key).is_some()) {
        let message = format!("'{}.{key}' has no effect on '{}'", entry.path, entry.service);
        let way_out = "remove it, or set the name to openai";
        notes.problems.add(fields.place(key), message, way_out);
    }
}

/// A price that would never count is no price.
fn check_price(price: Price, model: &str, by: PaidBy, at: Position, problems: &mut Problems) {
    let (counts, way_out) = match by {
        PaidBy::Tokens => (price.input > 0.0 || price.output > 0.0, "add input and output"),
        PaidBy::Minutes => (price.minute > 0.0, "add minute"),
        PaidBy::Speech => (price.characters > 0.0, "add characters"),
    };
    if !counts {
        let message = format!("the price of model {} does not fit its use", quoted(model));
        problems.add(at, message, format!("{way_out}, or `free: true` without a price"));
    }
}
