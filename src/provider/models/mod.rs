//! The brains there are, and one of them with its settings.
//!
//! Entry types: [`ModelService`], [`ModelEntry`]; [`Models`] opens entries, and makes chains of them.
//! **Never**: opens a model twice; each NPC has its own script.

mod brains;
mod scripted;

use std::sync::Arc;

use self::scripted::{Script, Scripted};
use super::{
    Candidate, Chain, ChatModel, EntryList, Error, Kind, NamedEntry, anthropic, chain::Health,
    openai, pool::Pool, service::ServiceInfo,
};
use crate::domain::Npc;

/// The brains there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelService {
    /// The lines of the NPCs.
    #[default]
    Scripted,
    /// An OpenAI-compatible service.
    OpenAi,
    /// Anthropic's Messages API.
    Anthropic,
}

impl ModelService {
    /// All of them.
    const ALL: [Self; 3] = [Self::Scripted, Self::OpenAi, Self::Anthropic];
    /// Their names in files.
    pub const NAMES: &[&str] = &[scripted::NAME, openai::NAME, anthropic::NAME];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scripted => scripted::NAME,
            Self::OpenAi => openai::NAME,
            Self::Anthropic => anthropic::NAME,
        }
    }
}

/// A brain with its settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelEntry {
    /// The lines of the NPCs.
    #[default]
    Scripted,
    /// An OpenAI-compatible service.
    OpenAi(openai::Options),
    /// Anthropic's Messages API.
    Anthropic(anthropic::Options),
}

impl ModelEntry {
    /// Name of the service, and the address that the conversation goes to.
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Scripted => ServiceInfo::here("written lines"),
            Self::OpenAi(options) => options.info(),
            Self::Anthropic(options) => options.info(),
        }
    }

    /// True if it does what any prompt says; a brain of rules does not.
    pub const fn reads_prompts(&self) -> bool {
        match self {
            Self::Scripted => false,
            Self::OpenAi(_) | Self::Anthropic(_) => true,
        }
    }

    /// Tokens of a request and its answer together, at most; `None`: nothing is counted.
    pub const fn window(&self) -> Option<u32> {
        match self {
            Self::Scripted => None,
            Self::OpenAi(options) => Some(options.context_window),
            Self::Anthropic(options) => Some(options.reach.context_window),
        }
    }

    /// Longest answer in tokens, if its entry says so.
    const fn max_tokens(&self) -> Option<u32> {
        match self {
            Self::Scripted => None,
            Self::OpenAi(options) => options.max_tokens,
            Self::Anthropic(options) => options.reach.max_tokens,
        }
    }

    /// Checks that it can be used; one line for a report.
    ///
    /// # Errors
    /// It cannot be used; the error includes the fix.
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
    /// True if one of them does what any prompt says.
    pub fn reads_prompts(&self) -> bool {
        self.iter().any(ModelEntry::reads_prompts)
    }

    /// Tokens of a request and its answer together that each of them has room for; `None`: nothing is
    /// counted.
    pub fn window(&self) -> Option<u32> {
        self.iter().filter_map(ModelEntry::window).min()
    }

    /// Longest answer in tokens of an NPC that names `preferred`: of its models the first that says it
    /// counts.
    pub fn max_tokens(&self, preferred: Option<&str>) -> Option<u32> {
        self.asked(preferred).find_map(|named| named.entry.max_tokens())
    }

    /// True if an NPC that names `preferred` says written lines.
    pub fn says_lines(&self, preferred: Option<&str>) -> bool {
        self.preferring(preferred).next().is_some_and(|named| !named.entry.reads_prompts())
    }

    /// The models of an NPC that names `preferred`, in their order. Nothing follows written lines, which
    /// never fail.
    fn asked(&self, preferred: Option<&str>) -> impl Iterator<Item = &NamedEntry<ModelEntry>> {
        let mut is_over = false;
        self.preferring(preferred).take_while(move |named| {
            let is_asked = !is_over;
            is_over = !named.entry.reads_prompts();
            is_asked
        })
    }
}

/// Chat models that are open.
#[derive(Default)]
pub struct Models {
    opened: Pool<ModelEntry, Arc<dyn ChatModel>>,
    /// Recent answers of each service, shared by all callers.
    health: Pool<NamedEntry<ModelEntry>, Arc<Health>>,
}

impl Models {
    /// The brains of `npc`, the one it names first; `seed` picks among equal lines.
    ///
    /// # Errors
    /// An address or key that makes no request.
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
        let all = list.asked(npc.thinks_with()).map(open);
        let mut all = all.collect::<Result<Vec<_>, Error>>()?.into_iter();
        let first = all.next().ok_or_else(|| {
            Error::new(Kind::Missing, "no chat model is configured (set providers.llm)")
        })?;
        Ok(Chain::new(first, all.collect(), list.hedge))
    }

    fn open(&self, entry: &ModelEntry, npc: &Npc, seed: u64) -> Result<Arc<dyn ChatModel>, Error> {
        match entry {
            ModelEntry::Scripted => {
                let script = Arc::new(Script::new(&npc.lines, &npc.language));
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

    /// Lets go of all but `wanted`.
    pub fn retain(&self, wanted: &EntryList<ModelEntry>) {
        self.opened.retain(|entry| wanted.iter().any(|it| it == entry));
        self.health.retain(|named| wanted.entries.contains(named));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::remote;

    /// A list of models and the longest answers they say; `None`: written lines.
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
