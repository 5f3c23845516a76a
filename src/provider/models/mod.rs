//! Kinds of brains, and their settings.
//!
//! Entry types: [`ModelService`], [`ModelEntry`]; [`Models`] opens entries and chains them.
//! **Never**: opens a model twice; scripts are per NPC.

mod scripted;

use std::sync::Arc;

use self::scripted::{Script, Scripted};
use super::{
    Candidate, Chain, ChatModel, EntryList, Error, Kind, NamedEntry, anthropic, chain::Health,
    entries::Pool, openai, service::ServiceInfo,
};
use crate::domain::Npc;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelService {
    #[default]
    Scripted,
    OpenAi,
    Anthropic,
}

impl ModelService {
    const ALL: [Self; 3] = [Self::Scripted, Self::OpenAi, Self::Anthropic];
    /// Names in the configuration.
    pub const NAMES: &[&str] = &[scripted::NAME, openai::NAME, anthropic::NAME];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Scripted => scripted::NAME,
            Self::OpenAi => openai::NAME,
            Self::Anthropic => anthropic::NAME,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelEntry {
    #[default]
    Scripted,
    OpenAi(openai::Options),
    Anthropic(anthropic::Options),
}

impl ModelEntry {
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Scripted => ServiceInfo::here("written lines"),
            Self::OpenAi(options) => options.info(),
            Self::Anthropic(options) => options.info(),
        }
    }

    pub const fn reads_prompts(&self) -> bool {
        match self {
            Self::Scripted => false,
            Self::OpenAi(_) | Self::Anthropic(_) => true,
        }
    }

    /// Most tokens of a request plus its answer; `None`: unlimited.
    pub const fn window(&self) -> Option<u32> {
        match self {
            Self::Scripted => None,
            Self::OpenAi(options) => Some(options.context_window),
            Self::Anthropic(options) => Some(options.reach.context_window),
        }
    }

    const fn max_tokens(&self) -> Option<u32> {
        match self {
            Self::Scripted => None,
            Self::OpenAi(options) => options.max_tokens,
            Self::Anthropic(options) => options.reach.max_tokens,
        }
    }

    pub async fn probe(&self) -> Result<String, Error> {
        match self {
            Self::Scripted => Ok("scripted: lines from the NPC files, no model".to_owned()),
            Self::OpenAi(options) => openai::probe(options.clone()).await,
            Self::Anthropic(options) => anthropic::probe(options).await,
        }
    }
}

impl Default for EntryList<ModelEntry> {
    fn default() -> Self {
        Self::of(scripted::NAME, ModelEntry::Scripted)
    }
}

impl EntryList<ModelEntry> {
    pub fn reads_prompts(&self) -> bool {
        self.iter().any(ModelEntry::reads_prompts)
    }

    /// Smallest context window; `None`: unlimited.
    pub fn window(&self) -> Option<u32> {
        self.iter().filter_map(ModelEntry::window).min()
    }

    /// Longest answer, in tokens: the first limit among the models.
    pub fn max_tokens(&self, preferred: Option<&str>) -> Option<u32> {
        self.asked(preferred).find_map(|named| named.entry.max_tokens())
    }

    pub fn says_lines(&self, preferred: Option<&str>) -> bool {
        self.preferring(preferred).next().is_some_and(|named| !named.entry.reads_prompts())
    }

    /// Models in order of preference, up to written lines, which never fail.
    fn asked(&self, preferred: Option<&str>) -> impl Iterator<Item = &NamedEntry<ModelEntry>> {
        let mut is_over = false;
        self.preferring(preferred).take_while(move |named| {
            let is_asked = !is_over;
            is_over = !named.entry.reads_prompts();
            is_asked
        })
    }
}

impl Chain<dyn ChatModel> {
    /// The service's name if there is one, else all names.
    pub fn called(&self) -> String {
        let all = self.iter();
        if self.is_alone() {
            return all.map(|it| it.service().name().to_owned()).collect();
        }
        all.map(|it| &**it.name()).collect::<Vec<_>>().join(", else ")
    }

    pub fn costs(&self) -> bool {
        self.iter().any(|it| it.service().priced_as().is_some())
    }

    /// True if one of them follows prompts.
    pub fn reads_prompts(&self) -> bool {
        self.iter().any(|it| it.service().reads_prompts())
    }

    /// True if each of them continues a begun answer.
    pub fn continues(&self) -> bool {
        self.iter().all(|it| it.service().continues())
    }

    pub fn thinks(&self) -> u32 {
        self.iter().map(|it| it.service().thinks()).max().unwrap_or_default()
    }

    /// Smallest context window; `None`: unlimited.
    pub fn window(&self) -> Option<u32> {
        self.iter().filter_map(|it| it.service().window()).min()
    }
}

#[derive(Default)]
pub struct Models {
    opened: Pool<ModelEntry, Arc<dyn ChatModel>>,
    /// Shared by all callers.
    health: Pool<NamedEntry<ModelEntry>, Arc<Health>>,
}

impl Models {
    /// The brains of `npc`, the one it names first; `seed` picks among equal lines.
    pub fn chain(
        &self,
        list: &EntryList<ModelEntry>,
        npc: &Npc,
        seed: u64,
    ) -> Result<Chain<dyn ChatModel>, Error> {
        let open = |named: &NamedEntry<ModelEntry>| -> Result<_, Error> {
            let health = self.health.get(named, || Ok(Arc::default()))?;
            Ok(Candidate::new(&named.name, self.open(&named.entry, npc, seed)?, health))
        };
        let all = list.asked(npc.thinks_with()).map(open).collect::<Result<Vec<_>, Error>>()?;
        Chain::in_order(all, list.hedge).ok_or_else(|| {
            Error::new(Kind::Missing, "no chat model is configured (set providers.llm)")
        })
    }

    fn open(&self, entry: &ModelEntry, npc: &Npc, seed: u64) -> Result<Arc<dyn ChatModel>, Error> {
        match entry {
            ModelEntry::Scripted => {
                let script = Arc::new(Script::new(Arc::clone(&npc.lines), &npc.language));
                Ok(Arc::new(Scripted::new(&npc.name, script, seed)))
            }
            ModelEntry::OpenAi(options) => {
                self.opened.get(entry, || Ok(Arc::new(openai::Chat::new(options.clone())?)))
            }
            ModelEntry::Anthropic(options) => {
                self.opened.get(entry, || Ok(Arc::new(anthropic::Chat::new(options.clone())?)))
            }
        }
    }

    /// Configured models by name; true: left alone after failures.
    pub fn breakers(&self, list: &EntryList<ModelEntry>) -> Vec<(String, bool)> {
        self.health.breakers(&list.entries)
    }

    pub fn retain(&self, wanted: &EntryList<ModelEntry>) {
        self.opened.retain(|entry| wanted.iter().any(|it| it == entry));
        self.health.retain(|named| wanted.entries.contains(named));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::remote;

    /// Models with their longest answers; `None`: written lines.
    fn list(of: &[(&str, Option<Option<u32>>)]) -> EntryList<ModelEntry> {
        let entry = |longest: &Option<Option<u32>>| match *longest {
            None => ModelEntry::Scripted,
            Some(max_tokens) => {
                let options = remote::options("http://127.0.0.1:1/v1");
                ModelEntry::OpenAi(openai::Options { max_tokens, ..options })
            }
        };
        let named = |(name, longest): &(&str, _)| NamedEntry {
            name: (*name).to_owned(),
            entry: entry(longest),
        };
        EntryList { entries: of.iter().map(named).collect(), hedge: false }
    }

    #[test]
    fn models_after_written_lines_are_never_asked() {
        let list = list(&[("lines", None), ("fast", Some(None)), ("main", Some(None))]);
        let asked = |preferred| {
            let names = list.asked(preferred).map(|it| it.name.as_str());
            names.collect::<Vec<_>>()
        };
        assert_eq!(asked(None), ["lines"]);
        assert_eq!(asked(Some("lines")), ["lines"]);
        assert_eq!(asked(Some("main")), ["main", "lines"]);
        assert!(list.says_lines(None) && list.says_lines(Some("lines")));
        assert!(!list.says_lines(Some("fast")));
    }

    #[test]
    fn first_model_with_max_tokens_sets_limit() {
        let all = list(&[("a", Some(None)), ("b", Some(Some(40))), ("c", Some(Some(900)))]);
        assert_eq!(all.max_tokens(None), Some(40));
        assert_eq!(all.max_tokens(Some("a")), Some(40));
        assert_eq!(all.max_tokens(Some("c")), Some(900));
        assert_eq!(list(&[("lines", None), ("c", Some(Some(900)))]).max_tokens(None), None);
    }
}
