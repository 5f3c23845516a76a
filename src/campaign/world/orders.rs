//! Carries out game masters' requests about the world. Entry type: [`WorldEdits`].
//! **Never**: removes an entity that the configured campaign file would restore.

use std::sync::Arc;

use super::{
    FileImport, ImportChoices, ImportStage, NewEntity, SentFile, WorldAnswer, WorldOrder,
    WorldRequest,
    entities::{IMPORT, PRONUNCIATION, is_of_campaign_file, kind, word},
    plan::{ImportError, plan, seed},
    seeded::SeededWorlds,
};
use crate::{
    campaign::{
        PlayedCampaign, Scoped, Settings, SharedSettings,
        bringing::{NotBrought, Opened, PreviewedFiles, opened},
        key_of,
    },
    domain::{Campaign, Npc, Scope},
    import::campaign::{World, campaign_file, hyphened},
    memory::{
        self, Change, Entity, EntityFilter, EntityKind, MemoryStore, Snapshot, Viewer, Visibility,
    },
    yaml::Problem,
};

/// Most problems shown; more are counted.
const PROBLEMS_MAX: usize = 20;

/// Why an order was not carried out, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    #[error("unknown entity '{0}' (/entity list shows all)")]
    Unknown(String),
    #[error("'{name}' is ambiguous (choose one of: {names})")]
    Several { name: String, names: String },
    /// The name makes no id.
    #[error("invalid name '{0}' (use letters or digits)")]
    NoName(String),
    /// The name exists already.
    #[error("'{name}' already exists: {by} (/entity show; to change it, remove it first)")]
    Taken { name: String, by: String },
    /// The file would restore it.
    #[error(
        "'{0}' is in the configured campaign file and would return at the next start (remove it \
         there)"
    )]
    OfFile(String),
    /// Removed or changed meanwhile.
    #[error("it was already removed")]
    Gone,
    /// The file names no campaign.
    #[error(
        "'{0}' has no campaign name (add campaign: {{ name: … }}, or use /entity import to add \
         it to the campaign that is played)"
    )]
    Nameless(String),
    #[error("{}", refused(.0))]
    File(Vec<Problem>),
    #[error(transparent)]
    NotBrought(#[from] NotBrought),
    #[error(transparent)]
    Store(#[from] memory::Error),
}

impl From<ImportError> for WorldError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Problems(problems) => Self::File(problems),
            ImportError::Store(error) => Self::Store(error),
        }
    }
}

/// The problems, at most [`PROBLEMS_MAX`].
fn refused(problems: &[Problem]) -> String {
    let mut lines: Vec<String> =
        problems.iter().take(PROBLEMS_MAX).map(ToString::to_string).collect();
    if let Some(more) = problems.len().checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) {
        lines.push(format!("and {more} more (glyphoxa import shows all)"));
    }
    lines.push("nothing was imported (fix the file and send it again)".to_owned());
    lines.join("\n")
}

/// Shows and changes worlds. Cloning shares it.
#[derive(Clone)]
pub struct WorldEdits {
    pub settings: SharedSettings,
    pub store: Arc<dyn MemoryStore>,
    /// Files whose import waits for a game master.
    pub previewed: PreviewedFiles,
    pub seeded: SeededWorlds,
}

impl WorldEdits {
    /// Carries out `request`.
    pub async fn carry_out(self, request: WorldRequest) -> Result<WorldAnswer, WorldError> {
        self.seed(&request.scope).await?;
        let Self { settings, store, previewed, .. } = &self;
        carry_out(&**store, &settings.load_full(), previewed, request).await
    }

    /// Brings the entities of the campaign's file, if it has one, into the store.
    pub async fn seed(&self, scope: &Scope) -> Result<(), ImportError> {
        let settings = self.settings.load_full();
        let Some(world) = settings.worlds.get(&scope.campaign) else { return Ok(()) };
        if self.seeded.has(scope, world) {
            return Ok(());
        }
        seed(Scoped::new(&*self.store, scope), world).await?;
        self.seeded.add(scope, world);
        Ok(())
    }
}

/// Carries out `request` in `store`; campaign files may name the NPCs of `settings`.
pub async fn carry_out(
    store: &dyn MemoryStore,
    settings: &Settings,
    previewed: &PreviewedFiles,
    request: WorldRequest,
) -> Result<WorldAnswer, WorldError> {
    let WorldRequest { scope, played, order } = request;
    let at = Scoped::new(store, &scope);
    let mut answer = WorldAnswer::default();
    match order {
        WorldOrder::Add(new) => answer.text = add(at, new).await?,
        WorldOrder::List(of) => answer.text = list(at, of.map(kind)).await?,
        WorldOrder::Show(name) => {
            let entity = find(at, &name).await?;
            let found = store.snapshot(at.scope, &entity.id, Viewer::Dm).await?;
            answer.text = found.as_ref().map(described).unwrap_or_default();
        }
        WorldOrder::Find(name) => {
            let entity = find(at, &name).await?;
            refuse_of_file(&entity)?;
            answer.text =
                format!("Remove **{}** ({}) and its relations?", entity.name, word(entity.kind));
            answer.entity = Some(entity.id);
        }
        WorldOrder::Remove(id) => answer.text = remove(at, id).await?,
        WorldOrder::Import(request) => {
            (answer.text, answer.import) = take_in(at, settings, previewed, request).await?;
        }
        WorldOrder::ImportPreviewed { key, knows_secrets, has_own_cast } => {
            let _turn = previewed.turn().await;
            let FileImport { file, choices } =
                previewed.take(&scope, &key).ok_or(NotBrought::Gone)?;
            let choices = ImportChoices { knows_secrets, has_own_cast, confirmed: true, ..choices };
            let request = FileImport { file, choices };
            (answer.text, answer.import) = take_in(at, settings, previewed, request).await?;
        }
        WorldOrder::Load(file) => return load(store, scope, &settings.cast, file).await,
        WorldOrder::Info => answer.text = info(at, &settings.campaign, played.as_ref()).await?,
    }
    answer.names = names(at).await?;
    Ok(answer)
}

async fn all(at: Scoped<'_>, filter: EntityFilter) -> Result<Vec<Entity>, WorldError> {
    Ok(at.store.entities(at.scope, filter, Viewer::Dm).await?)
}

async fn names(at: Scoped<'_>) -> Result<Vec<String>, WorldError> {
    let found = all(at, EntityFilter::default()).await?;
    Ok(found.into_iter().map(|it| it.name).collect())
}

/// The only entity with this name.
async fn find(at: Scoped<'_>, name: &str) -> Result<Entity, WorldError> {
    let named = Some(name.to_owned());
    let mut found = all(at, EntityFilter { named, ..EntityFilter::default() }).await?;
    let by_name = found.iter().position(|it| it.name.to_lowercase() == name.to_lowercase());
    match (by_name, found.len()) {
        (_, 0) => Err(WorldError::Unknown(name.to_owned())),
        (Some(at), _) => Ok(found.swap_remove(at)),
        (None, 1) => Ok(found.swap_remove(0)),
        (None, _) => {
            let names: Vec<String> = found.into_iter().map(|it| it.name).collect();
            Err(WorldError::Several { name: name.to_owned(), names: names.join(", ") })
        }
    }
}

async fn add(at: Scoped<'_>, new: NewEntity) -> Result<String, WorldError> {
    let NewEntity { name, kind, description, aliases, dm_only } = new;
    let id = hyphened(&name);
    if id.is_empty() {
        return Err(WorldError::NoName(name));
    }
    let (ids, named) = (Some(vec![id.clone()]), Some(name.clone()));
    let same = all(at, EntityFilter { ids, ..EntityFilter::default() }).await?;
    let called = all(at, EntityFilter { named, ..EntityFilter::default() }).await?;
    if let Some(other) = same.first().or(called.first()) {
        return Err(WorldError::Taken { name, by: other.name.clone() });
    }
    let secret = if dm_only { ", visible only to you" } else { "" };
    let text = format!("Added **{name}**{secret}. I listen for its name from the next session on.");
    let entity = Entity {
        id,
        kind: self::kind(kind),
        name,
        aliases,
        description,
        attributes: std::collections::BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: if dm_only { Visibility::Dm } else { Visibility::Everyone },
        source: None,
    };
    at.store.apply(at.scope, vec![Change::Put(entity)]).await?;
    Ok(text)
}

async fn list(at: Scoped<'_>, kind: Option<EntityKind>) -> Result<String, WorldError> {
    let found = all(at, EntityFilter { kind, ..EntityFilter::default() }).await?;
    if found.is_empty() {
        let text = "No entities yet (use /entity add, or /entity import with a campaign file).";
        return Ok(text.to_owned());
    }
    let line = |it: &Entity| format!("**{}** · {}{}", it.name, word(it.kind), secret(it));
    Ok(found.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// NPCs and people who know of it, unless everyone does.
fn secret(entity: &Entity) -> String {
    match &entity.visibility {
        Visibility::Everyone => String::new(),
        Visibility::Dm => " · only you know".to_owned(),
        Visibility::Npcs(npcs) => format!(" · only you and {} know", npcs.join(", ")),
    }
}

fn described(Snapshot { entity, ties }: &Snapshot) -> String {
    let mut lines = vec![format!("**{}** · {}{}", entity.name, word(entity.kind), secret(entity))];
    if !entity.aliases.is_empty() {
        lines.push(format!("also {}", entity.aliases.join(", ")));
    }
    if !entity.description.is_empty() {
        lines.push(entity.description.clone());
    }
    for (key, value) in &entity.attributes {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let key = if key == PRONUNCIATION { "said" } else { key };
        lines.push(format!("{key}: {value}"));
    }
    for tie in ties {
        let kind = tie.relation.key.kind.replace('_', " ");
        lines.push(if tie.relation.key.from == entity.id {
            format!("→ {kind} {}", tie.other.name)
        } else {
            format!("← {} {kind} it", tie.other.name)
        });
    }
    lines.join("\n")
}

/// Refuses entities of the configured campaign file, which would restore them.
fn refuse_of_file(entity: &Entity) -> Result<(), WorldError> {
    if is_of_campaign_file(entity) {
        return Err(WorldError::OfFile(entity.name.clone()));
    }
    Ok(())
}

async fn remove(at: Scoped<'_>, id: String) -> Result<String, WorldError> {
    let ids = Some(vec![id.clone()]);
    let found = all(at, EntityFilter { ids, ..EntityFilter::default() }).await?.pop();
    let entity = found.ok_or(WorldError::Gone)?;
    refuse_of_file(&entity)?;
    at.store.apply(at.scope, vec![Change::Remove(id)]).await?;
    Ok(format!("Removed **{}**.", entity.name))
}

fn read(cast: &[Arc<Npc>], file: SentFile) -> Result<World, WorldError> {
    let cast: Vec<Npc> = cast.iter().map(|npc| (**npc).clone()).collect();
    let (world, problems) = campaign_file(&file.name, file.bytes, &cast);
    match world {
        Some(world) if problems.is_empty() => Ok(world),
        _ => Err(WorldError::File(problems)),
    }
}

/// Imports a campaign file, or previews or imports a file of another program.
async fn take_in(
    at: Scoped<'_>,
    settings: &Settings,
    previewed: &PreviewedFiles,
    request: FileImport,
) -> Result<(String, Option<ImportStage>), WorldError> {
    match opened(request).await? {
        Opened::Ours(file) => {
            let name = file.name.clone();
            Ok((import(at, read(&settings.cast, file)?, &name).await?, None))
        }
        Opened::Others(file) => {
            let (text, stage) = file.bring(at, settings, previewed).await?;
            Ok((text, Some(stage)))
        }
    }
}

async fn import(at: Scoped<'_>, world: World, file: &str) -> Result<String, WorldError> {
    let unused = world.unused.join(" and ");
    let worlds = [world];
    let mut plan = plan(at, &worlds, IMPORT).await?;
    plan.carry_out(at).await?;
    let mut text = format!(
        "{} entities and {} relations in '{file}': {} added, {} changed, {} removed.",
        plan.entities, plan.relations, plan.added, plan.changed, plan.removed
    );
    if !unused.is_empty() {
        text.push_str(&format!(" Not used: {unused} (those of the configured campaign file are)."));
    }
    Ok(text)
}

/// Imports a file as a campaign of its own.
async fn load(
    store: &dyn MemoryStore,
    scope: Scope,
    cast: &[Arc<Npc>],
    file: SentFile,
) -> Result<WorldAnswer, WorldError> {
    let name = file.name.clone();
    let world = read(cast, file)?;
    if world.name.is_empty() {
        return Err(WorldError::Nameless(name));
    }
    let loaded = PlayedCampaign {
        name: world.name.clone(),
        description: world.description.clone(),
        system: world.system.clone(),
    };
    let scope = Scope { campaign: key_of(&loaded.name), ..scope };
    let at = Scoped::new(store, &scope);
    let text = import(at, world, &name).await?;
    let names = names(at).await?;
    Ok(WorldAnswer { text, campaign: Some(loaded), names, ..WorldAnswer::default() })
}

async fn info(
    at: Scoped<'_>,
    own: &Campaign,
    played: Option<&PlayedCampaign>,
) -> Result<String, WorldError> {
    let own = (&own.description, &own.system);
    let (description, system) = played.map_or(own, |it| (&it.description, &it.system));
    let mut lines = Vec::new();
    if !system.is_empty() {
        lines.push(format!("Played with {system}."));
    }
    if !description.is_empty() {
        lines.push(description.clone());
    }
    let counts = at.store.counts(at.scope).await?;
    let kinds: Vec<String> =
        counts.entities.iter().map(|it| format!("{} {}", it.count, it.of)).collect();
    let kinds = if kinds.is_empty() { "nothing yet".to_owned() } else { kinds.join(", ") };
    lines.push(format!("Known: {kinds}; {} relations.", counts.relations));
    lines.push(format!("Remembered: {} sessions, {} lines.", counts.sessions, counts.lines));
    Ok(lines.join("\n"))
}
