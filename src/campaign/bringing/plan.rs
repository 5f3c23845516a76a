//! An import as a plan: a preview, and what carries it out.
//!
//! Entry function: [`plan`].

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use tokio::task::{JoinError, spawn_blocking};

use super::{
    entities::{Brought, entities},
    npc_files::{NewFile, NewFiles, NotWritten, NpcFiles},
    people::{Cast, people, unseat},
    preview::{Item, Preview},
};
use crate::{
    campaign::{
        Scoped,
        world::{BROUGHT, Described, Plan, plan_entities, word},
    },
    import::draft::Drafts,
    memory::{self, Entity, EntityFilter, Viewer, Visibility},
};

/// Reason nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum BringError {
    /// More than a campaign may hold.
    #[error(
        "the campaign would have more than {} entities, or more than {} MB of text (import a part \
         of it)",
        ENTITIES_MAX,
        BYTES_MAX / 1_000_000
    )]
    Full,
    /// The folder of NPC files cannot be read.
    #[error("cannot read the folder of npcs: {0} (check npc_dir)")]
    Folder(io::Error),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] NotWritten),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
    #[error("the import was stopped: {0} (import again)")]
    Stopped(#[from] JoinError),
}

/// Most entities of a campaign that imports may lead to: each order about a world reads them all.
const ENTITIES_MAX: usize = 30_000;
/// Most bytes of their descriptions.
const BYTES_MAX: usize = 60_000_000;

/// An import that has been planned.
#[derive(Debug)]
pub struct Bringing {
    pub preview: Preview,
    files: Vec<NewFile>,
    plan: Plan,
}

impl Bringing {
    /// True if it changes something.
    pub fn is_new(&self) -> bool {
        let Preview { added, changed, relations, .. } = &self.preview;
        !added.is_empty() || !changed.is_empty() || *relations > 0
    }

    /// True if it writes files of NPCs.
    pub fn has_npcs(&self) -> bool {
        !self.files.is_empty()
    }

    /// Writes all files and entities, or none.
    pub async fn carry_out(&mut self, at: Scoped<'_>) -> Result<(), BringError> {
        // Each file waits for the disk.
        let files = std::mem::take(&mut self.files);
        let files = spawn_blocking(move || NewFiles::write(files)).await??;
        if let Err(error) = self.plan.carry_out(at).await {
            spawn_blocking(move || files.take_back()).await?;
            return Err(error.into());
        }
        Ok(())
    }
}

/// Changes after which the store and the folder of `cast` hold what is in `drafts`, which have no mistakes.
pub async fn plan(at: Scoped<'_>, drafts: Drafts, cast: Cast) -> Result<Bringing, BringError> {
    let before = at.store.entities(at.scope, EntityFilter::default(), Viewer::Dm).await?;
    // Thousands of drafts take a core for seconds.
    let compared = spawn_blocking(move || compared(drafts, &cast, before)).await??;
    let Compared { mut preview, files, brought, before } = compared;
    let by_id: BTreeMap<&str, &Entity> = before.iter().map(|it| (it.id.as_str(), it)).collect();
    let for_dm = hidden(&brought.entities, &before);
    let described =
        Described { entities: brought.entities, edges: &brought.edges, for_dm, source: BROUGHT };
    let plan = plan_entities(at, &by_id, described).await?;
    // The plan counts entities and relations; the preview lists entities and people.
    let of_entities = preview.added.len() + preview.changed.len() - files.len();
    let all = plan.added + plan.changed + plan.removed;
    preview.relations = all.saturating_sub(of_entities);
    Ok(Bringing { preview, files, plan })
}

/// Drafts compared with the entities `before`.
struct Compared {
    preview: Preview,
    files: Vec<NewFile>,
    brought: Brought,
    before: Vec<Entity>,
}

/// Compares `drafts` with the folder of `cast` and the entities `before`. Blocks.
fn compared(mut drafts: Drafts, cast: &Cast, before: Vec<Entity>) -> Result<Compared, BringError> {
    let mut preview = Preview {
        left_out: drafts.left_out.iter().map(Into::into).collect(),
        ..Preview::default()
    };
    let mut files = NpcFiles::read(&cast.folder).map_err(BringError::Folder)?;
    let people = people(&drafts, cast, &mut files, &mut preview);
    unseat(&mut drafts, &people, &mut preview);
    let brought = entities(&drafts, &before, &people, cast.knows_secrets, &mut preview);
    let by_id: BTreeMap<&str, &Entity> = before.iter().map(|it| (it.id.as_str(), it)).collect();
    for entity in &brought.entities {
        let item = || Item::new(&word(entity.kind), &entity.name, "");
        match by_id.get(entity.id.as_str()) {
            None => preview.added.push(item()),
            Some(old) if **old == *entity => preview.unchanged += 1,
            Some(_) => preview.changed.push(item()),
        }
    }
    let (mut all, mut bytes) = (0, 0);
    for entity in together(&brought.entities, &before) {
        (all, bytes) = (all + 1, bytes + entity.description.len());
    }
    match all > ENTITIES_MAX || bytes > BYTES_MAX {
        true => Err(BringError::Full),
        false => Ok(Compared { preview, files: people.files, brought, before }),
    }
}

/// Entities of the store once `brought` is stored beside those `before`.
fn together<'a>(brought: &'a [Entity], before: &'a [Entity]) -> impl Iterator<Item = &'a Entity> {
    let own: BTreeSet<&str> = brought.iter().map(|it| it.id.as_str()).collect();
    brought.iter().chain(before.iter().filter(move |it| !own.contains(it.id.as_str())))
}

/// Ids that only the game master sees once `brought` is stored beside those `before`.
fn hidden(brought: &[Entity], before: &[Entity]) -> BTreeSet<String> {
    let hidden = together(brought, before).filter(|it| it.visibility == Visibility::Dm);
    hidden.map(|it| it.id.clone()).collect()
}
