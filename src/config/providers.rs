//! Services, and their connections.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value as Json};

use super::{
    deepgram, keys,
    listed::{entries, name_of, refuse_empty, service_of},
    prices::{PaidBy, check_price, price},
    reading::Notes,
    services::Home,
    streamed_voices::{check_elevenlabs, streamed},
    wyoming::wyoming,
};
use crate::{
    domain::Secret,
    logic::budget::Price,
    provider::{
        BaseUrl, EntryList, HereOptions, KokoroOptions, ModelEntry, ModelService, NamedEntry,
        PiperOptions, RecogniserEntry, SLOWEST, SpeechService, VoiceEntry, VoiceList, VoiceService,
        anthropic, base_url,
        openai::{self, Options, SoundFormat, VoiceOptions},
    },
    yaml::{Fields, quoted},
};

pub struct Providers {
    /// In order of preference.
    pub recognisers: EntryList<RecogniserEntry>,
    /// In order of preference.
    pub models: EntryList<ModelEntry>,
    /// True if every model's name is valid.
    pub names_models: bool,
    /// In order of preference.
    pub voices: VoiceList,
    /// Slowest voice model: seconds per second of speech.
    pub slowest_voice: f32,
    /// Prices set by the entries themselves.
    pub prices: BTreeMap<String, Price>,
}

/// Reads `providers`, whose models cost `prices`; `here` are the recognisers of this machine.
pub fn providers(
    file: &Fields,
    here: &HereOptions,
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) -> Providers {
    let all = file.map("providers", &keys::providers::PROVIDERS);
    #[expect(clippy::cast_possible_truncation, reason = "bounded to 10 by its key")]
    let slowest = all.and_then(|all| all.number("slowest_voice")).map(|number| number as f32);
    let mut clients = Clients::new(prices, notes);
    let models = all.map(|all| clients.models(&all)).unwrap_or_default();
    let recognisers = all.map(|all| clients.recognisers(&all, here));
    let voices = all.map(|all| clients.voices(&all, &here.language));
    Providers {
        models,
        slowest_voice: slowest.unwrap_or(SLOWEST),
        recognisers: recognisers.unwrap_or_else(|| EntryList::here(here.clone())),
        voices: voices.unwrap_or_default(),
        names_models: !file.is_broken("providers") && all.is_none_or(|all| names_models(&all)),
        prices: clients.own,
    }
}

fn llm_entries<'a>(all: &Fields<'a>) -> impl Iterator<Item = Fields<'a>> + use<'a> {
    entries(all, "llm", &keys::providers::LLM)
}

/// True if each of them names its model.
fn names_models(all: &Fields) -> bool {
    let is_whole = llm_entries(all).count() == all.items("llm").len() && !all.is_broken("llm");
    is_whole && llm_entries(all).all(|fields| !fields.is_broken("as") && !fields.is_broken("model"))
}

/// The embedding service under `name`; it must be free.
pub fn embedder(
    fields: &Fields,
    name: &str,
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) -> Options {
    let mut clients = Clients::new(prices, notes);
    let options = clients.options(fields, name, PaidBy::Tokens, Home::OPENAI);
    if options.priced_as.is_some() {
        let message = format!("the cost of '{name}' would not count against the budget");
        let way_out = "use a server of your own, or a model without a price and `free: true`";
        notes.problems.add(fields.place("model"), message, way_out);
    }
    options
}

const ANTHROPIC: Home =
    Home { base_url: anthropic::BASE_URL, variable: "ANTHROPIC_API_KEY", ..Home::OPENAI };

pub struct Clients<'a> {
    prices: &'a BTreeMap<String, Price>,
    /// Prices set by the entries themselves.
    pub own: BTreeMap<String, Price>,
    pub notes: &'a mut Notes,
}

impl<'a> Clients<'a> {
    /// Uses the model prices `prices`.
    pub fn new(prices: &'a BTreeMap<String, Price>, notes: &'a mut Notes) -> Self {
        Self { prices, own: BTreeMap::new(), notes }
    }

    /// In order of preference.
    fn models(&mut self, all: &Fields) -> EntryList<ModelEntry> {
        let mut entries: Vec<NamedEntry<ModelEntry>> = Vec::new();
        for fields in llm_entries(all) {
            let entry = self.model(&fields);
            let name = name_of(&fields, ModelService::default().name());
            if entries.iter().any(|it| it.name == name) {
                let message = format!("two chat models are called {}", quoted(&name));
                let way_out = "give one of them another name: `as: fast`";
                self.notes.problems.add(fields.place("as"), message, way_out);
            }
            entries.push(NamedEntry { name, entry });
        }
        let way_out = "list a chat model, or remove the key to answer with the NPCs' lines";
        refuse_empty(all, "llm", way_out, self.notes);
        let hedge = all.map("hedge", &keys::providers::HEDGE);
        let is_hedged = hedge.and_then(|hedge| hedge.flag("llm")).unwrap_or_default();
        let is_short = entries.len() < 2 && !all.is_broken("llm");
        if let Some(hedge) = hedge.filter(|_| is_hedged && is_short) {
            let message = "'providers.hedge.llm' has no effect with one chat model";
            self.notes.problems.add(hedge.place("llm"), message, "remove it, or list another one");
        }
        match entries.is_empty() {
            true => EntryList::default(),
            false => EntryList { entries, hedge: is_hedged },
        }
    }

    fn model(&mut self, fields: &Fields) -> ModelEntry {
        const PATH: &str = "providers.llm";
        self.check_service(fields, PATH);
        let service = service_of(fields).and_then(ModelService::named).unwrap_or_default();
        match service {
            ModelService::Scripted => {
                self.refuse_settings(fields, PATH, service.name());
                ModelEntry::Scripted
            }
            ModelService::OpenAi => {
                let mut options = self.options(fields, PATH, PaidBy::Tokens, Home::OPENAI);
                self.model_settings(fields, &mut options, &openai::OWN_MEMBERS);
                self.refuse_thinking(fields, service.name());
                options.continues = fields.flag("continues").unwrap_or_default();
                ModelEntry::OpenAi(options)
            }
            ModelService::Anthropic => {
                let mut reach = self.options(fields, PATH, PaidBy::Tokens, ANTHROPIC);
                self.model_settings(fields, &mut reach, &anthropic::OWN_MEMBERS);
                // The service would refuse a request with one.
                let entry = Entry { path: PATH, service: service.name() };
                refuse(fields, entry, ["temperature", "continues"].into_iter(), self.notes);
                let thinking = fields.whole("thinking_budget");
                ModelEntry::Anthropic(anthropic::Options { reach, thinking })
            }
        }
    }

    /// In order of preference, without the voices in place of others. `language`: the table's.
    fn voices(&mut self, all: &Fields, language: &str) -> VoiceList {
        let mut listed: Vec<NamedEntry<VoiceEntry>> = Vec::new();
        for fields in entries(all, "tts", &keys::providers::TTS) {
            let entry = self.voice(&fields, language);
            let name = fields.text("as").map_or(entry.name(), str::trim).to_owned();
            if listed.iter().any(|it| it.name == name) {
                let message = format!("two voice services are called {}", quoted(&name));
                let way_out = "give one of them another name: `as: spare`";
                self.notes.problems.add(fields.place("as"), message, way_out);
            }
            if VoiceService::named(&name).is_some_and(|it| it != entry.service()) {
                let message = format!("{} is the name of another voice service", quoted(&name));
                self.notes.problems.add(fields.place("as"), message, "choose another name");
            }
            listed.push(NamedEntry { name, entry });
        }
        let way_out = "list a voice service, or remove the key to speak with flite";
        refuse_empty(all, "tts", way_out, self.notes);
        VoiceList::new(listed)
    }

    fn voice(&mut self, fields: &Fields, language: &str) -> VoiceEntry {
        const PATH: &str = "providers.tts";
        self.check_service(fields, PATH);
        let service = service_of(fields).and_then(VoiceService::named).unwrap_or_default();
        let entry = Entry { path: PATH, service: service.name() };
        let sound = keys::providers::OPENAI_SOUND.iter();
        match service {
            VoiceService::Flite | VoiceService::Espeak => {
                self.refuse_settings(fields, PATH, service.name());
                service.without_settings().unwrap_or_default()
            }
            VoiceService::Piper => {
                self.refuse_settings(fields, PATH, service.name());
                // Its folder comes from the whole configuration.
                VoiceEntry::Piper(PiperOptions::default())
            }
            VoiceService::Kokoro => {
                self.refuse_settings(fields, PATH, service.name());
                // Without models, but with the limit on its speed.
                VoiceEntry::Kokoro(KokoroOptions { models: Vec::new(), slowest: SLOWEST })
            }
            VoiceService::OpenAi => {
                refuse(fields, entry, ["max_streams"].into_iter(), self.notes);
                VoiceEntry::OpenAi(self.speech(fields, PATH))
            }
            VoiceService::Wyoming => {
                let without = ["api_key", "free", "model", "max_streams"].iter().chain(sound);
                refuse(fields, entry, without.copied(), self.notes);
                let such_as = "tcp://127.0.0.1:10200";
                VoiceEntry::Wyoming(wyoming(fields, PATH, such_as, self.notes))
            }
            VoiceService::ElevenLabs => {
                refuse(fields, entry, sound.copied(), self.notes);
                let common = self.options(fields, PATH, PaidBy::Speech, Home::ELEVENLABS);
                check_elevenlabs(fields, PATH, &common.model, self.notes);
                VoiceEntry::ElevenLabs(streamed(fields, common, language))
            }
            VoiceService::Deepgram => {
                refuse(fields, entry, ["model"].iter().chain(sound).copied(), self.notes);
                let common = self.options(fields, PATH, PaidBy::Speech, Home::DEEPGRAM_VOICES);
                VoiceEntry::Deepgram(deepgram::voices(fields, common))
            }
            VoiceService::Cartesia => {
                refuse(fields, entry, sound.copied(), self.notes);
                let common = self.options(fields, PATH, PaidBy::Speech, Home::CARTESIA);
                VoiceEntry::Cartesia(streamed(fields, common, language))
            }
        }
    }

    /// Settings of a server with OpenAI's speech address under `name`.
    fn speech(&mut self, fields: &Fields, name: &str) -> VoiceOptions {
        let format = fields.text("response_format").and_then(SoundFormat::named);
        VoiceOptions {
            reach: self.options(fields, name, PaidBy::Speech, Home::OPENAI),
            format: format.unwrap_or_default(),
            sample_rate: fields.whole("sample_rate").unwrap_or(openai::SAMPLE_RATE),
        }
    }

    /// Reports a service that is named twice.
    pub fn check_service(&mut self, fields: &Fields, path: &str) {
        if fields.get("service").is_some() && fields.get("name").is_some() {
            let message = format!("'{path}' has both 'service' and 'name'");
            self.notes.problems.add(fields.place("name"), message, "keep one of them");
        }
    }

    /// Reports settings that a service on this machine does not have.
    pub fn refuse_settings(&mut self, fields: &Fields, path: &str, service: &str) {
        let keys = fields.shape().keys.iter().map(|key| key.name);
        let keys =
            keys.filter(|key| !matches!(*key, "service" | "name" | "as" | "fallback_voices"));
        refuse(fields, Entry { path, service }, keys, self.notes);
    }

    /// Settings of the service under `name`, with the defaults of `home`.
    pub fn options(&mut self, fields: &Fields, name: &str, paid_by: PaidBy, home: Home) -> Options {
        let reach = Reach { fields, path: name, home };
        let address = self.address(reach);
        let wait = |key, default: Duration| {
            let written = fields.shape().key(key).and_then(|_| fields.whole(key));
            written.map_or(default, Duration::from_millis)
        };
        let api_key = fields.text("api_key").map(str::trim).filter(|key| !key.is_empty());
        if let Some(address) = &address {
            self.check_key(reach, address, api_key.is_some());
        }
        let model = fields.text("model").unwrap_or(home.model);
        if model.is_empty() && !fields.is_broken("model") {
            let message = format!("missing key 'model' of '{name}'");
            self.notes.problems.add(fields.at(), message, "add model: its name at the service");
        }
        let private = address.as_ref().is_none_or(|address| address.private);
        Options {
            base_url: address.map(|address| address.text).unwrap_or_default(),
            api_key: api_key.map(|key| Secret(key.to_owned())),
            model: model.to_owned(),
            temperature: None,
            extra_body: Map::new(),
            first_byte_timeout: wait("first_byte_timeout_ms", home.first_byte_timeout),
            idle_timeout: wait("idle_timeout_ms", home.idle_timeout),
            context_window: openai::CONTEXT_WINDOW,
            max_tokens: None,
            continues: false,
            priced_as: self.priced_as(reach, private, paid_by),
        }
    }

    /// Settings of chat models only.
    fn model_settings(&mut self, fields: &Fields, options: &mut Options, own: &[&str]) {
        #[expect(clippy::cast_possible_truncation, reason = "bounded to 0 to 2 by its key")]
        let temperature = fields.number("temperature").map(|number| number as f32);
        options.temperature = temperature;
        options.context_window = fields.whole("context_window").unwrap_or(openai::CONTEXT_WINDOW);
        options.max_tokens = fields.whole("max_tokens");
        let Some(node) = fields.get("extra_body") else { return };
        for entry in node.entries() {
            if own.contains(&entry.key.as_str()) {
                let message = format!("extra_body cannot set {}", quoted(&entry.key));
                let way_out = "it is part of every request; remove it";
                self.notes.problems.add(entry.at, message, way_out);
            }
        }
        if let Json::Object(members) = node.to_json() {
            options.extra_body = members;
        }
    }

    /// Reports a thinking budget, which OpenAI's API does not have.
    fn refuse_thinking(&mut self, fields: &Fields, service: &str) {
        if fields.get("thinking_budget").is_some() {
            let message = format!("'providers.llm.thinking_budget' has no effect on '{service}'");
            let way_out = "remove it, or use extra_body (reasoning_effort: low)";
            self.notes.problems.add(fields.place("thinking_budget"), message, way_out);
        }
    }

    /// The address, if valid. A socket's differs only in its scheme.
    pub fn address(&mut self, reach: Reach) -> Option<BaseUrl> {
        let Reach { fields, path, home } = reach;
        if fields.is_broken("base_url") {
            return None;
        }
        let text = fields.text("base_url").unwrap_or(home.base_url);
        let is_socket = home.has_sockets && text.starts_with("ws");
        let text = if is_socket { &text.replacen("ws", "http", 1) } else { text };
        base_url(text)
            .map_err(|expected| {
                let message = format!("'{path}.base_url' is {}", fields.shown("base_url"));
                self.notes.problems.add(fields.place("base_url"), message, expected);
            })
            .ok()
    }

    /// Requires a key where needed, and encryption for it.
    pub fn check_key(&mut self, reach: Reach, address: &BaseUrl, has_key: bool) {
        let Reach { fields, path, home } = reach;
        let at = fields.place("api_key");
        if !has_key && address.text == home.base_url && !fields.is_broken("api_key") {
            let message = format!("missing key 'api_key' of '{path}'");
            let way_out = format!("api_key: ${{{}}}, or another base_url", home.variable);
            self.notes.problems.add(at, message, way_out);
        }
        if has_key && !address.private && !address.encrypted {
            let message = format!("'{path}.api_key' is sent unencrypted to another network");
            self.notes.warnings.add(at, message, "use https://");
        }
    }

    /// The model's name in the price list, if calls cost money. Adds its own price to the list.
    fn priced_as(&mut self, reach: Reach, private: bool, paid_by: PaidBy) -> Option<String> {
        let Reach { fields, path: name, home } = reach;
        let model = fields.text("model").or((!fields.is_broken("model")).then_some(home.model));
        let model = model.filter(|model| !model.is_empty())?;
        let own = own_price(fields);
        let at = fields.place(if own.is_some() { "price" } else { "model" });
        let problems = &mut self.notes.problems;
        match (own.or_else(|| self.prices.get(model).copied()), fields.flag("free")) {
            (Some(_), Some(true)) => {
                let message = format!("model {} has a price and free: true", quoted(model));
                problems.add(at, message, "remove `free: true` or the price");
            }
            (Some(price), _) => {
                check_price(price, model, paid_by, at, problems);
                if own.is_none() {
                    return Some(model.to_owned());
                }
                let called = fields.shape().key("as").and_then(|_| fields.text("as"));
                // Two of these may have one model; their names differ.
                let service = || service_of(fields).unwrap_or(SpeechService::default().name());
                let called = called.or_else(|| (paid_by == PaidBy::Talk).then(service));
                let listed = format!("{name}.{}", called.unwrap_or(model).trim());
                self.own.insert(listed.clone(), price);
                return Some(listed);
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

/// Service and the place of its settings.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    pub fields: &'a Fields<'a>,
    /// Path of its keys.
    pub path: &'a str,
    pub home: Home,
}

/// The price in the entry itself.
pub fn own_price(fields: &Fields) -> Option<Price> {
    fields.shape().key("price")?;
    Some(price(&fields.map("price", &keys::providers::PRICE)?))
}

#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// Path of its keys ("providers.stt").
    pub path: &'a str,
    pub service: &'a str,
}

/// Reports settings among `keys` that the service does not have.
pub fn refuse(
    fields: &Fields,
    entry: Entry,
    keys: impl Iterator<Item = &'static str>,
    notes: &mut Notes,
) {
    let is_there = |key: &str| fields.shape().key(key).is_some();
    if ["service", "name"].into_iter().any(|key| is_there(key) && fields.is_broken(key)) {
        return;
    }
    for key in keys.filter(|key| fields.get(key).is_some()) {
        let message = format!("'{}.{key}' has no effect on '{}'", entry.path, entry.service);
        let is_deepgrams = keys::providers::DEEPGRAM_ONLY.contains(&key);
        let other = if is_deepgrams { VoiceService::Deepgram.name() } else { openai::NAME };
        let way_out = match entry.service == other {
            true => "remove it".to_owned(),
            false => format!("remove it, or set the name to {other}"),
        };
        notes.problems.add(fields.place(key), message, way_out);
    }
}
