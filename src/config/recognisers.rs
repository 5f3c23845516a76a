//! Recognisers under `providers.stt`: one, or a list in order of preference.

use super::{
    deepgram, keys,
    listed::{entries, name_of, refuse_empty, service_of},
    npc::language,
    prices::PaidBy,
    providers::{Clients, Entry, refuse},
    services::Home,
    wyoming::wyoming,
};
use crate::{
    provider::{EntryList, HereOptions, NamedEntry, RecogniserEntry, RecogniserService},
    yaml::{Fields, quoted},
};

const PATH: &str = "providers.stt";

impl Clients<'_> {
    /// In order of preference; without any, this machine hears (`here`).
    pub fn recognisers(&mut self, all: &Fields, here: &HereOptions) -> EntryList<RecogniserEntry> {
        let mut found: Vec<NamedEntry<RecogniserEntry>> = Vec::new();
        for fields in entries(all, "stt", &keys::providers::STT) {
            let entry = self.recogniser(&fields, here);
            let name = name_of(&fields, RecogniserService::default().name());
            if found.iter().any(|it| it.name == name) {
                let message = format!("two recognisers are called {}", quoted(&name));
                let way_out = "give one of them another name: `as: spare`";
                self.notes.problems.add(fields.place("as"), message, way_out);
            }
            found.push(NamedEntry { name, entry });
        }
        let way_out = "list a recogniser, or remove the key to hear on this machine";
        refuse_empty(all, "stt", way_out, self.notes);
        match found.is_empty() {
            true => EntryList::here(here.clone()),
            false => EntryList { entries: found, hedge: false },
        }
    }

    fn recogniser(&mut self, fields: &Fields, here: &HereOptions) -> RecogniserEntry {
        self.check_service(fields, PATH);
        let service = service_of(fields).and_then(RecogniserService::named).unwrap_or_default();
        let entry = Entry { path: PATH, service: service.name() };
        match service {
            RecogniserService::Local => {
                self.refuse_settings(fields, PATH, service.name());
                RecogniserEntry::Local(here.clone())
            }
            RecogniserService::OpenAi => {
                let without = keys::providers::DEEPGRAM_ONLY.iter().copied();
                refuse(fields, entry, without, self.notes);
                RecogniserEntry::OpenAi {
                    options: self.options(fields, PATH, PaidBy::Minutes, Home::OPENAI),
                    language: language(fields, &mut self.notes.problems)
                        .unwrap_or(&here.language)
                        .to_owned(),
                }
            }
            RecogniserService::Deepgram => {
                let common = self.options(fields, PATH, PaidBy::Minutes, Home::DEEPGRAM);
                let table = &here.language;
                let options = deepgram::recogniser(fields, PATH, common, table, self.notes);
                RecogniserEntry::Deepgram(options)
            }
            RecogniserService::Wyoming => {
                let without = ["api_key", "free"].iter().chain(keys::providers::DEEPGRAM_ONLY);
                refuse(fields, entry, without.copied(), self.notes);
                let language = language(fields, &mut self.notes.problems);
                RecogniserEntry::Wyoming {
                    language: language.unwrap_or(&here.language).to_owned(),
                    options: wyoming(fields, PATH, "tcp://127.0.0.1:10300", self.notes),
                }
            }
        }
    }
}
