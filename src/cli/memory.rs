//! `glyphoxa memory`: shows and edits the memory. Entry function: [`run`].

use std::{collections::BTreeMap, io::Write};

use clap::{Args, Subcommand};

use super::{DONE, Failure, block_on, forget, session::said, stdout, whose::Whose, within};
use crate::{
    app,
    campaign::{self, Scoped, Verdict},
    config::Config,
    domain::{Npc, revealed_name},
    memory::{
        Around, Entity, EntityFilter, LineQuery, MemoryStore, MonthSpent, PATH_MAX, RelationKey,
        Snapshot, Viewer,
    },
    tools::builtin::viewer,
};

/// Most neighbours listed.
const NEAR_MAX: usize = 100;

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa memory search 'silver key'
  glyphoxa memory search mill --npc 'Bartok the Barkeep'
  glyphoxa memory entity Saltmarsh
  glyphoxa memory facts
  glyphoxa memory facts --accept fact-0123456789abcdef
  glyphoxa memory forget 123456789 --guild 987654321
  glyphoxa memory stats")]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Searches the transcripts, best match first.
    Search {
        /// Words to find; one match is enough.
        text: String,
        /// Search only this session.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Search only lines of this player, character or NPC.
        #[arg(long, value_name = "NAME")]
        speaker: Option<String>,
        /// Search only lines heard by this NPC.
        #[arg(long, value_name = "NAME")]
        npc: Option<String>,
        /// Print at most N lines.
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Describes a person, place or thing.
    Entity {
        /// A name or an alias.
        name: String,
        /// List its relations up to this depth instead, 1 to 3.
        #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u32).range(1..=3))]
        near: Option<u32>,
        /// Show its connection to another one instead.
        #[arg(long, value_name = "NAME", conflicts_with = "near")]
        way_to: Option<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Lists facts proposed by models; a fact counts once you accept it.
    Facts {
        /// Accept this fact; may be repeated.
        #[arg(long, value_name = "ID")]
        accept: Vec<String>,
        /// Reject this fact for good; may be repeated.
        #[arg(long, value_name = "ID")]
        reject: Vec<String>,
        /// Accept this fact in your own words.
        #[arg(long, value_name = "ID", requires = "text")]
        edit: Option<String>,
        /// The new wording for --edit.
        #[arg(long, value_name = "TEXT", requires = "edit")]
        text: Option<String>,
        /// Include facts already accepted or rejected.
        #[arg(long)]
        all: bool,
        /// Print one JSON object per fact.
        #[arg(long)]
        json: bool,
    },
    /// Deletes one person's lines, NPCs' answers to them, everything derived from either, and records of
    /// conversations and tool calls under names only they used. Without --yes it only lists them.
    Forget {
        /// The person: on Discord their user id, in `ask` the name given.
        player: String,
        /// Delete for good.
        #[arg(long)]
        yes: bool,
    },
    /// Creates or upgrades the store; every other command does this at its start.
    Migrate,
    /// Prints the store's contents, location and costs.
    Stats {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config).await?;
        let scope = arguments.whose.scope(config);
        let at = Scoped::new(&*store, &scope);
        match arguments.action {
            Action::Search { text, session, speaker, npc, limit, json } => {
                let viewer = match npc {
                    None => Viewer::Dm,
                    Some(name) => {
                        let (_, npc) =
                            app::find_npc(&config.npcs, &name).map_err(Failure::usage)?;
                        viewer(npc)
                    }
                };
                let query = LineQuery { text, session, speaker, limit, ..LineQuery::default() };
                search(at, query, viewer, json).await
            }
            Action::Entity { name, near, way_to, json } => match (near, way_to) {
                (Some(depth), _) => neighbours(at, &name, depth, json).await,
                (_, Some(other)) => way(at, &Ends { from: &name, to: &other }, json).await,
                (None, None) => match app::find_npc(&config.npcs, &name) {
                    // An NPC of the cast need not be in the campaign.
                    Ok((_, npc)) if !is_known(at, &name).await? => of_the_cast(npc, json),
                    _ => entity(at, &name, json).await,
                },
            },
            Action::Facts { accept, reject, edit, text, all, json } => {
                let verdicts = accept
                    .into_iter()
                    .map(|id| (id, Verdict::Accept))
                    .chain(reject.into_iter().map(|id| (id, Verdict::Reject)))
                    .chain(edit.zip(text).map(|(id, text)| (id, Verdict::Edit(text))));
                facts(at, verdicts.collect(), Listing { all, json }).await
            }
            Action::Forget { player, yes } => forget::run(config, at, &player, yes).await,
            Action::Migrate => migrated(&*store).await,
            Action::Stats { json } => stats(at, json).await,
        }
    })
}

async fn search(
    at: Scoped<'_>,
    query: LineQuery,
    viewer: Viewer,
    json: bool,
) -> Result<u8, Failure> {
    let hits = at.store.search(at.scope, query, viewer).await?;
    let mut out = stdout();
    for hit in &hits {
        if json {
            writeln!(out, "{}", serde_json::to_string(hit)?)?;
        } else {
            let session = &hit.line.said.session;
            writeln!(out, "{session} #{} {}", hit.line.seq, said(&hit.line))?;
        }
    }
    if hits.is_empty() && !json {
        writeln!(out, "no line mentions it")?;
    }
    Ok(DONE)
}

/// The entity with this name.
async fn find(at: Scoped<'_>, name: &str) -> Result<Entity, Failure> {
    let named = Some(name.to_owned());
    let filter = EntityFilter { named, limit: 1, ..EntityFilter::default() };
    at.store
        .entities(at.scope, filter, Viewer::Dm)
        .await?
        .pop()
        .ok_or_else(|| Failure::Failed(anyhow::anyhow!("nothing is known about '{name}'")))
}

async fn is_known(at: Scoped<'_>, name: &str) -> Result<bool, Failure> {
    let filter = EntityFilter { named: Some(name.to_owned()), limit: 1, ..EntityFilter::default() };
    Ok(!at.store.entities(at.scope, filter, Viewer::Dm).await?.is_empty())
}

/// Prints the file's text about an NPC; the reader is the game master.
fn of_the_cast(npc: &Npc, json: bool) -> Result<u8, Failure> {
    let mut out = stdout();
    let Npc { name, aliases, personality, knowledge_scope, secret_knowledge, .. } = npc;
    if json {
        let told = serde_json::json!({
            "cast": name, "aliases": aliases, "personality": personality,
            "knowledge_scope": knowledge_scope, "secret_knowledge": secret_knowledge,
        });
        writeln!(out, "{told}")?;
        return Ok(DONE);
    }
    writeln!(out, "{name} (of the cast)")?;
    for line in personality.lines() {
        writeln!(out, "  {line}")?;
    }
    let listed = [("also called", aliases), ("knows of", knowledge_scope)];
    for (what, list) in listed.into_iter().filter(|(_, list)| !list.is_empty()) {
        writeln!(out, "  {what}: {}", list.join(", "))?;
    }
    for secret in secret_knowledge {
        writeln!(out, "  secret: {secret}")?;
    }
    Ok(DONE)
}

async fn entity(at: Scoped<'_>, name: &str, json: bool) -> Result<u8, Failure> {
    let found = find(at, name).await?;
    let snapshot = at.store.snapshot(at.scope, &found.id, Viewer::Dm).await?;
    let mut out = stdout();
    match snapshot {
        Some(snapshot) if json => writeln!(out, "{}", serde_json::to_string(&snapshot)?)?,
        Some(snapshot) => describe(&snapshot, &mut out)?,
        // Another program has just removed it.
        None => {}
    }
    Ok(DONE)
}

async fn neighbours(at: Scoped<'_>, name: &str, depth: u32, json: bool) -> Result<u8, Failure> {
    let ids = vec![find(at, name).await?.id];
    let around = Around { ids, depth, limit: NEAR_MAX };
    let mut out = stdout();
    for near in at.store.neighbours(at.scope, around, Viewer::Dm).await? {
        if json {
            writeln!(out, "{}", serde_json::to_string(&near)?)?;
        } else {
            writeln!(out, "{} {}", near.depth, revealed_name(&near.entity.name))?;
        }
    }
    Ok(DONE)
}

/// Two entities, by name.
struct Ends<'a> {
    from: &'a str,
    to: &'a str,
}

async fn way(at: Scoped<'_>, ends: &Ends<'_>, json: bool) -> Result<u8, Failure> {
    let Ends { from, to } = ends;
    let (first, last) = (find(at, from).await?, find(at, to).await?);
    let steps = at.store.path(at.scope, &first.id, &last.id, Viewer::Dm).await?;
    let steps = steps.ok_or_else(|| {
        anyhow::anyhow!("no path from '{from}' to '{to}' within {PATH_MAX} relations")
    })?;
    let mut out = stdout();
    for step in steps {
        if json {
            writeln!(out, "{}", serde_json::to_string(&step)?)?;
        } else {
            let RelationKey { from, kind, to } = step.relation.key;
            let [from, to] = [from, to].map(|name| revealed_name(&name));
            writeln!(out, "{from} {kind} {to}")?;
        }
    }
    Ok(DONE)
}

fn describe(Snapshot { entity, ties }: &Snapshot, out: &mut impl Write) -> anyhow::Result<()> {
    let kind = serde_json::to_value(entity.kind)?;
    writeln!(out, "{} ({})", revealed_name(&entity.name), kind.as_str().unwrap_or_default())?;
    if !entity.description.is_empty() {
        writeln!(out, "  {}", within(&entity.description))?;
    }
    for (name, value) in &entity.attributes {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        writeln!(out, "  {}: {}", revealed_name(name), revealed_name(&shown))?;
    }
    for tie in ties {
        let arrow = if tie.relation.key.from == entity.id { "->" } else { "<-" };
        let other = revealed_name(&tie.other.name);
        writeln!(out, "  {arrow} {} {other}", tie.relation.key.kind)?;
    }
    Ok(())
}

struct Listing {
    /// Includes decided facts.
    all: bool,
    /// One JSON object per fact.
    json: bool,
}

async fn facts(
    at: Scoped<'_>,
    verdicts: Vec<(String, Verdict)>,
    Listing { all, json }: Listing,
) -> Result<u8, Failure> {
    for (id, verdict) in verdicts {
        if !campaign::decide(at, &id, verdict).await? {
            let why = format!("unknown fact '{id}' (see: glyphoxa memory facts)");
            return Err(Failure::Failed(anyhow::anyhow!(why)));
        }
    }
    let facts = campaign::facts(at, all).await?;
    let mut out = stdout();
    for fact in &facts {
        if json {
            writeln!(out, "{}", serde_json::to_string(fact)?)?;
        } else {
            let session = fact.session.as_deref().unwrap_or_default();
            let lines = fact.lines.map_or_else(String::new, |(first, last)| {
                if first == last { format!("#{first}") } else { format!("#{first}-{last}") }
            });
            let status = serde_json::to_value(fact.status)?;
            let status = status.as_str().unwrap_or_default();
            let text = revealed_name(&fact.text);
            writeln!(out, "{} {status} {text} ({session} {lines})", fact.id)?;
        }
    }
    if facts.is_empty() && !json {
        writeln!(out, "no fact is waiting for your approval")?;
    }
    Ok(DONE)
}

/// Prints the state of the store; opening it has migrated it.
async fn migrated(store: &dyn MemoryStore) -> Result<u8, Failure> {
    let health = store.health().await?;
    let up_to_date = format!("schema {} (up to date)", health.schema);
    writeln!(stdout(), "{} in '{}', {up_to_date}", health.engine, health.place)?;
    Ok(DONE)
}

async fn stats(at: Scoped<'_>, json: bool) -> Result<u8, Failure> {
    let (health, counts) = (at.store.health().await?, at.store.counts(at.scope).await?);
    let campaign = at.campaign();
    let scopes = at.store.scopes().await?;
    let spent = at.store.spent(at.scope).await?;
    let mut out = stdout();
    if json {
        let month = |it: &MonthSpent| (it.month.clone(), it.total.units());
        let spent: BTreeMap<String, f64> = spent.iter().map(month).collect();
        let all = serde_json::json!({
            "health": health, "campaign": campaign, "counts": counts, "scopes": scopes,
            "spent": spent,
        });
        writeln!(out, "{all}")?;
        return Ok(DONE);
    }
    let kilobytes = health.bytes / 1_000;
    writeln!(
        out,
        "{} in '{}', schema {}, {kilobytes} kB",
        health.engine, health.place, health.schema
    )?;
    writeln!(out, "{}: {} sessions, {} lines", at.scope, counts.sessions, counts.lines)?;
    let (items, vectors) = (list(&counts.items), list(&counts.vectors));
    writeln!(out, "items: {items}; vectors: {vectors}")?;
    writeln!(out, "entities: {}; relations: {}", list(&counts.entities), counts.relations)?;
    for MonthSpent { month, total } in &spent {
        writeln!(out, "spent or set aside in {month}: {:.4}", total.units())?;
    }
    for other in scopes.iter().filter(|other| *other != at.scope) {
        writeln!(out, "also stored: {}", other)?;
    }
    Ok(DONE)
}

fn list(counts: &[crate::memory::Count]) -> String {
    let each: Vec<String> =
        counts.iter().map(|count| format!("{} {}", count.count, count.of)).collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}
