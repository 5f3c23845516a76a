//! An import as a plan: a preview, and what carries it out.
//!
//! Entry function: [`plan`].

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::{
    entities::entities,
    npc_files::{NewFile, NewFiles, NotWritten, NpcFiles},
    people::{Cast, people},
    preview::{Item, Preview},
};
use crate::{
    campaign::{
        Scoped,
        world::{BROUGHT, Described, Plan, plan_entities},
    },
    import::draft::Drafts,
    memory::{self, Entity, EntityFilter, Viewer, Visibility},
};

/// Reason nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum BringError {
    /// The folder of NPC files cannot be read.
    #[error("cannot read the folder of npcs: {0} (check npc_dir)")]
    Folder(io::Error),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] NotWritten),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
}

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
        let files = NewFiles::write(std::mem::take(&mut self.files))?;
        if let Err(error) = self.plan.carry_out(at).await {
            files.take_back();
            return Err(error.into());
        }
        Ok(())
    }
}

/// Changes after which the store and the folder of `cast` hold what is in `drafts`, which have no mistakes.
pub async fn plan(
    at: Scoped<'_>,
    drafts: &Drafts,
    cast: &Cast<'_>,
) -> Result<Bringing, BringError> {
    let mut preview = Preview {
        left_out: drafts.left_out.iter().map(Into::into).collect(),
        ..Preview::default()
    };
    let mut files = NpcFiles::read(cast.folder).map_err(BringError::Folder)?;
    let people = people(drafts, cast, &mut files, &mut preview);
    let before = at.store.entities(at.scope, EntityFilter::default(), Viewer::Dm).await?;
    let brought = entities(drafts, &before, &people, cast.knows_secrets, &mut preview);
    let by_id: BTreeMap<&str, &Entity> = before.iter().map(|it| (it.id.as_str(), it)).collect();
    for entity in &brought.entities {
        let kind = serde_json::to_value(entity.kind).unwrap_or_default();
        let item = || Item::new(kind.as_str().unwrap_or_default(), &entity.name, "");
        match by_id.get(entity.id.as_str()) {
            None => preview.added.push(item()),
            Some(old) if **old == *entity => preview.unchanged += 1,
            Some(_) => preview.changed.push(item()),
        }
    }
    let for_dm = hidden(&brought.entities, &before);
    let described =
        Described { entities: brought.entities, edges: &brought.edges, for_dm, source: BROUGHT };
    let plan = plan_entities(at, &by_id, described).await?;
    // The plan counts entities and relations; the preview lists entities and people.
    let of_entities = preview.added.len() + preview.changed.len() - people.files.len();
    let all = plan.added + plan.changed + plan.removed;
    preview.relations = all.saturating_sub(of_entities);
    Ok(Bringing { preview, files: people.files, plan })
}

/// Ids that only the game master sees once `brought` is stored beside those `before`.
fn hidden(brought: &[Entity], before: &[Entity]) -> BTreeSet<String> {
    let own: BTreeSet<&str> = brought.iter().map(|it| it.id.as_str()).collect();
    let others = before.iter().filter(|it| !own.contains(it.id.as_str()));
    let hidden = brought.iter().chain(others).filter(|it| it.visibility == Visibility::Dm);
    hidden.map(|it| it.id.clone()).collect()
}
