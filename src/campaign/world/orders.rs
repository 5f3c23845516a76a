//! What game masters ask of the world, and have done to it, from a Discord server.
//!
//! Entry function: [`carry_out`]. **Never**: removes what the configured campaign file would bring back.

use super::{
    entities::{IMPORT, PRONUNCIATION, is_of_campaign_file, kind},
    order::{WorldAnswer, WorldOrder},
    plan::{ImportError, plan},
};
use crate::{
    campaign::{PlayedCampaign, key_of},
    domain::{Campaign, Npc},
    import::campaign::{World, campaign_file, hyphened},
    memory::{
        CampaignKey, Change, Entity, EntityFilter, EntityKind, Error, MemoryStore, Snapshot,
        Viewer, Visibility,
    },
};

/// Problems of a file that are shown; more are counted.
const PROBLEMS_MAX: usize = 20;

/// The store, and what is configured.
#[derive(Clone, Copy)]
pub struct WorldOf<'a> {
    /// Where the world is kept.
    pub store: &'a dyn MemoryStore,
    /// The configured campaign.
    pub campaign: &'a Campaign,
    /// The NPCs, whom campaign files may name.
    pub cast: &'a [Npc],
}

/// Does `order` in the campaign of `played`, or in the one that is configured.
///
/// # Errors
/// What is wrong with it, or with the store, with the way out.
pub async fn carry_out(
    world: WorldOf<'_>,
    played: Option<PlayedCampaign>,
    order: WorldOrder,
) -> Result<WorldAnswer, String> {
    let campaign = key_of(played.as_ref().map_or(&world.campaign.name, |it| &it.name));
    let store = world.store;
    let at = (store, &campaign);
    let mut answer = WorldAnswer::default();
    match order {
        WorldOrder::Add { name, kind, description, aliases, dm_only } => {
            let about = (name, description, aliases, dm_only);
            answer.text = add(at, self::kind(kind), about).await?;
        }
        WorldOrder::List(of) => answer.text = list(at, of.map(kind)).await?,
        WorldOrder::Show(name) => {
            let entity = find(at, &name).await?;
            let found = store.snapshot(&campaign, &entity.id, Viewer::Dm).await.map_err(away)?;
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
        WorldOrder::Import { file, bytes } => {
            answer.text = import(at, read(world.cast, &file, bytes)?, &file).await?;
        }
        WorldOrder::Load { file, bytes } => {
            return load(world, &file, bytes).await;
        }
        WorldOrder::Info => answer.text = info(at, world.campaign, played.as_ref()).await?,
    }
    answer.names = names(at).await?;
    Ok(answer)
}

/// A store and the campaign that is meant.
type At<'a> = (&'a dyn MemoryStore, &'a CampaignKey);

fn away(error: Error) -> String {
    error.to_string()
}

async fn all(at: At<'_>, filter: EntityFilter) -> Result<Vec<Entity>, String> {
    at.0.entities(at.1, filter, Viewer::Dm).await.map_err(away)
}

async fn names(at: At<'_>) -> Result<Vec<String>, String> {
    let found = all(at, EntityFilter::default()).await?;
    Ok(found.into_iter().map(|it| it.name).collect())
}

/// The only entity that goes by `name`.
async fn find(at: At<'_>, name: &str) -> Result<Entity, String> {
    let named = Some(name.to_owned());
    let mut found = all(at, EntityFilter { named, ..EntityFilter::default() }).await?;
    let by_name = found.iter().position(|it| it.name.to_lowercase() == name.to_lowercase());
    match (by_name, found.len()) {
        (_, 0) => Err(format!("nothing is known of '{name}' (/entity list shows what there is)")),
        (Some(at), _) => Ok(found.swap_remove(at)),
        (None, 1) => Ok(found.swap_remove(0)),
        (None, _) => {
            let names: Vec<String> = found.into_iter().map(|it| it.name).collect();
            Err(format!("several are called '{name}' (say which: {})", names.join(", ")))
        }
    }
}

async fn add(
    at: At<'_>,
    kind: EntityKind,
    (name, description, aliases, dm_only): (String, String, Vec<String>, bool),
) -> Result<String, String> {
    let id = hyphened(&name);
    if id.is_empty() {
        return Err(format!("'{name}' is no name (letters or digits are wanted)"));
    }
    let (ids, named) = (Some(vec![id.clone()]), Some(name.clone()));
    let same = all(at, EntityFilter { ids, ..EntityFilter::default() }).await?;
    let called = all(at, EntityFilter { named, ..EntityFilter::default() }).await?;
    if let Some(other) = same.first().or(called.first()) {
        return Err(format!(
            "'{name}' is there already: {} (/entity show; to change it, remove it first)",
            other.name
        ));
    }
    let secret = if dm_only { ", and only you know of it" } else { "" };
    let text =
        format!("**{name}** is there{secret}. Its name is listened for from the next session on.");
    let entity = Entity {
        id,
        kind,
        name,
        aliases,
        description,
        attributes: std::collections::BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: if dm_only { Visibility::Dm } else { Visibility::Everyone },
        source: None,
    };
    at.0.apply(at.1, vec![Change::Put(entity)]).await.map_err(away)?;
    Ok(text)
}

async fn list(at: At<'_>, kind: Option<EntityKind>) -> Result<String, String> {
    let found = all(at, EntityFilter { kind, ..EntityFilter::default() }).await?;
    if found.is_empty() {
        let text = "There is nothing yet (/entity add, or /entity import with a campaign file).";
        return Ok(text.to_owned());
    }
    let line = |it: &Entity| format!("**{}** · {}{}", it.name, word(it.kind), secret(it));
    Ok(found.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Who knows of it, where not everyone does.
fn secret(entity: &Entity) -> String {
    match &entity.visibility {
        Visibility::Everyone => String::new(),
        Visibility::Dm => " · only you know".to_owned(),
        Visibility::Npcs(npcs) => format!(" · only you and {} know", npcs.join(", ")),
    }
}

fn word(kind: EntityKind) -> String {
    let word = serde_json::to_value(kind).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
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

/// The file would bring it back.
fn refuse_of_file(entity: &Entity) -> Result<(), String> {
    if is_of_campaign_file(entity) {
        return Err(format!(
            "'{}' is in the configured campaign file and would be back at the next start (take it \
             out there)",
            entity.name
        ));
    }
    Ok(())
}

async fn remove(at: At<'_>, id: String) -> Result<String, String> {
    let ids = Some(vec![id.clone()]);
    let found = all(at, EntityFilter { ids, ..EntityFilter::default() }).await?.pop();
    let entity = found.ok_or("it is gone already")?;
    refuse_of_file(&entity)?;
    at.0.apply(at.1, vec![Change::Remove(id)]).await.map_err(away)?;
    Ok(format!("**{}** is forgotten.", entity.name))
}

fn read(cast: &[Npc], file: &str, bytes: Vec<u8>) -> Result<World, String> {
    let (world, problems) = campaign_file(file, bytes, cast);
    match world {
        Some(world) if problems.is_empty() => Ok(world),
        _ => Err(refused(&problems)),
    }
}

/// Every problem, or as many as anybody reads at once.
fn refused(problems: &[crate::yaml::Problem]) -> String {
    let mut lines: Vec<String> =
        problems.iter().take(PROBLEMS_MAX).map(ToString::to_string).collect();
    if let Some(more) = problems.len().checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) {
        lines.push(format!("and {more} more (glyphoxa import shows all)"));
    }
    lines.push("nothing was imported (mend the file, and send it again)".to_owned());
    lines.join("\n")
}

async fn import(at: At<'_>, world: World, file: &str) -> Result<String, String> {
    let unused = world.unused.join(" and ");
    let worlds = [world];
    let mut plan = plan(at.0, at.1, &worlds, IMPORT).await.map_err(|error| match error {
        ImportError::Problems(problems) => refused(&problems),
        ImportError::Store(error) => away(error),
    })?;
    plan.carry_out(at.0, at.1).await.map_err(away)?;
    let mut text = format!(
        "{} entities and {} relations in '{file}': {} added, {} changed, {} removed.",
        plan.entities, plan.relations, plan.added, plan.changed, plan.removed
    );
    if !unused.is_empty() {
        text.push_str(&format!(" Not used: {unused} (those of the configured campaign file are)."));
    }
    Ok(text)
}

/// Takes a file in as a campaign of its own.
async fn load(of: WorldOf<'_>, file: &str, bytes: Vec<u8>) -> Result<WorldAnswer, String> {
    let world = read(of.cast, file, bytes)?;
    if world.name.is_empty() {
        return Err(format!(
            "'{file}' does not say what its campaign is called (write campaign: {{ name: … }} into \
             it; /entity import takes it into the campaign that is played)"
        ));
    }
    let loaded = PlayedCampaign {
        name: world.name.clone(),
        description: world.description.clone(),
        system: world.system.clone(),
    };
    let campaign = key_of(&loaded.name);
    let at = (of.store, &campaign);
    let text = import(at, world, file).await?;
    Ok(WorldAnswer { text, campaign: Some(loaded), names: names(at).await?, entity: None })
}

async fn info(
    at: At<'_>,
    own: &Campaign,
    played: Option<&PlayedCampaign>,
) -> Result<String, String> {
    let own = (&own.description, &own.system);
    let (description, system) = played.map_or(own, |it| (&it.description, &it.system));
    let mut lines = Vec::new();
    if !system.is_empty() {
        lines.push(format!("Played with {system}."));
    }
    if !description.is_empty() {
        lines.push(description.clone());
    }
    let counts = at.0.counts(at.1).await.map_err(away)?;
    let kinds: Vec<String> =
        counts.entities.iter().map(|it| format!("{} {}", it.count, it.of)).collect();
    let kinds = if kinds.is_empty() { "nothing yet".to_owned() } else { kinds.join(", ") };
    lines.push(format!("Known: {kinds}; {} relations.", counts.relations));
    lines.push(format!("Remembered: {} sessions, {} lines.", counts.sessions, counts.lines));
    Ok(lines.join("\n"))
}
