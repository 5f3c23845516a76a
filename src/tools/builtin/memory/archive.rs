//! Memory of the table, seen through each NPC's knowledge, and search by meaning, or by spelling
//! without an embedder. Opens the store on first use.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use arc_swap::ArcSwap;
use futures::future::{BoxFuture, FutureExt, ready};
use tokio::sync::OnceCell;

use crate::{
    domain::{self, Npc},
    logic::{
        content_words::ContentWords,
        prompt,
        trigrams::{self, DIMENSION},
    },
    memory::{Entity, EntityKind, MemoryStore, Viewer, Visibility},
    provider::{Embedder, Error},
    tools::{CallContext, CallError, CallErrorKind},
};

pub type Opener =
    Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn MemoryStore>, String>> + Send + Sync>;

pub struct ArchiveParts {
    /// Opens the store on first use.
    pub open: Opener,
    /// Search by meaning.
    pub meaning: Meaning,
    /// Unix time in ms.
    pub now: fn() -> i64,
}

pub struct Archive {
    pub(super) parts: ArchiveParts,
    store: OnceCell<Arc<dyn MemoryStore>>,
    viewers: ArcSwap<HashMap<String, Viewer>>,
    /// The NPCs as entities, for those missing in the store.
    cast: ArcSwap<Vec<Entity>>,
}

impl Archive {
    pub fn new(parts: ArchiveParts) -> Self {
        Self {
            parts,
            store: OnceCell::new(),
            viewers: ArcSwap::default(),
            cast: ArcSwap::default(),
        }
    }

    /// Sets the viewers: `npcs` see what they know, `assistant` everything.
    pub fn set_cast(&self, npcs: &[Npc], assistant: &Npc) {
        let mut viewers: HashMap<String, Viewer> =
            npcs.iter().map(|npc| (npc.name.clone(), viewer(npc))).collect();
        viewers.entry(assistant.name.clone()).or_insert(Viewer::Dm);
        self.viewers.store(Arc::new(viewers));
        self.cast.store(Arc::new(npcs.iter().map(of_cast).collect()));
    }

    /// Opens the store now; a failure is reported by the call that needs it.
    pub async fn open(&self) {
        _ = self.store().await;
    }

    pub(super) fn viewer(&self, context: &CallContext) -> Viewer {
        let Some(caller) = context.authority.caller() else { return Viewer::Dm };
        let known = self.viewers.load().get(&*caller.npc).cloned();
        known.unwrap_or_else(|| Viewer::Npc { name: caller.npc.to_string(), knows: Vec::new() })
    }

    pub(super) fn cast(&self) -> Arc<Vec<Entity>> {
        self.cast.load_full()
    }

    pub(super) async fn store(&self) -> Result<&dyn MemoryStore, CallError> {
        let opened = self.store.get_or_try_init(|| (self.parts.open)()).await;
        opened.map(|store| &**store).map_err(|why| CallError::new(CallErrorKind::Tool, why))
    }
}

fn of_cast(npc: &Npc) -> Entity {
    let known = domain::Entity::from(npc);
    Entity {
        id: known.name.clone(),
        kind: EntityKind::Npc,
        name: known.name,
        aliases: known.aliases,
        description: known.description,
        attributes: BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: None,
    }
}

/// Viewer for `npc`: its name and the topics it knows.
pub fn viewer(npc: &Npc) -> Viewer {
    Viewer::Npc { name: npc.name.clone(), knows: prompt::topics(npc) }
}

/// Model name stored with vectors of spelling.
const SPELLING: &str = "spelling-1";

#[derive(Clone)]
pub struct Meaning {
    /// Model name stored with the vectors.
    pub model: String,
    pub embedder: Arc<dyn Embedder>,
}

impl Meaning {
    /// Also finds other forms of words, and misheard ones.
    pub fn by_spelling() -> Self {
        Self { model: SPELLING.to_owned(), embedder: Arc::new(Spelling) }
    }

    /// True if only spelling is compared; near results may be unrelated.
    pub fn is_spelling(&self) -> bool {
        self.model == SPELLING
    }
}

/// Makes vectors of letters.
struct Spelling;

impl Embedder for Spelling {
    fn name(&self) -> &str {
        SPELLING
    }

    fn dimension(&self) -> Option<usize> {
        Some(DIMENSION)
    }

    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>> {
        let vectors = texts.iter().map(|text| trigrams::vector(ContentWords::of(text).words()));
        ready(Ok(vectors.collect())).boxed()
    }
}
