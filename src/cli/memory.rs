//! `glyphoxa memory`: what is remembered.
//!
//! Entry function: [`run`].

use std::io::{self, Write};

use clap::{Args, Subcommand};

use super::{DONE, FAILED, Failure, block_on, session::said};
use crate::{
    app,
    config::Config,
    memory::{CampaignKey, EntityFilter, LineQuery, MemoryStore, Snapshot, Viewer},
};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa memory search 'silver key'
  glyphoxa memory search mill --npc 'Bartok the Barkeep'
  glyphoxa memory entity Saltmarsh
  glyphoxa memory stats")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Lines that hold words, the best first.
    Search {
        /// The words; one of them suffices.
        text: String,
        /// Only of this session.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Only said by this player, character or NPC.
        #[arg(long, value_name = "NAME")]
        speaker: Option<String>,
        /// Only what this NPC has heard.
        #[arg(long, value_name = "NAME")]
        npc: Option<String>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// What is known of somebody or something, by name.
    Entity {
        /// A name or an alias.
        name: String,
        /// One JSON object.
        #[arg(long)]
        json: bool,
    },
    /// How much there is, and where.
    Stats {
        /// One JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Does what the arguments say.
///
/// # Errors
/// The memory cannot be read.
pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config)?;
        let campaign = app::campaign_key(config);
        match arguments.action {
            Action::Search { text, session, speaker, npc, limit, json } => {
                let viewer = match npc {
                    None => Viewer::Dm,
                    Some(name) => {
                        let (_, npc) =
                            app::find_npc(&config.npcs, &name).map_err(Failure::Usage)?;
                        Viewer::Npc { name: npc.name.clone(), knows: npc.knowledge_scope.clone() }
                    }
                };
                let query = LineQuery { text, session, speaker, limit, ..LineQuery::default() };
                search((&*store, &campaign), query, viewer, json).await
            }
            Action::Entity { name, json } => entity((&*store, &campaign), name, json).await,
            Action::Stats { json } => stats((&*store, &campaign), json).await,
        }
    })
}

/// A store and the campaign that is asked for.
type At<'a> = (&'a dyn MemoryStore, &'a CampaignKey);

async fn search(
    (store, campaign): At<'_>,
    query: LineQuery,
    viewer: Viewer,
    json: bool,
) -> Result<u8, Failure> {
    let hits = store.search(campaign, query, viewer).await?;
    let mut out = io::stdout().lock();
    for hit in &hits {
        if json {
            writeln!(out, "{}", serde_json::to_string(hit)?)?;
        } else {
            let session = &hit.line.said.session;
            writeln!(out, "{session} #{} {}", hit.line.seq, said(&hit.line))?;
        }
    }
    if hits.is_empty() && !json {
        writeln!(out, "nothing was said about it")?;
    }
    Ok(DONE)
}

async fn entity((store, campaign): At<'_>, name: String, json: bool) -> Result<u8, Failure> {
    let filter = EntityFilter { named: Some(name.clone()), limit: 1, ..EntityFilter::default() };
    let found = store.entities(campaign, filter, Viewer::Dm).await?.pop();
    let snapshot = match found {
        None => None,
        Some(found) => store.snapshot(campaign, &found.id, Viewer::Dm).await?,
    };
    let mut out = io::stdout().lock();
    match snapshot {
        Some(snapshot) if json => writeln!(out, "{}", serde_json::to_string(&snapshot)?)?,
        Some(snapshot) => describe(&snapshot, &mut out)?,
        None => {
            super::complain(&format!("nothing is known of '{name}'"));
            return Ok(FAILED);
        }
    }
    Ok(DONE)
}

fn describe(Snapshot { entity, ties }: &Snapshot, out: &mut impl Write) -> anyhow::Result<()> {
    let kind = serde_json::to_value(entity.kind)?;
    writeln!(out, "{} ({})", entity.name, kind.as_str().unwrap_or_default())?;
    if !entity.description.is_empty() {
        writeln!(out, "  {}", entity.description)?;
    }
    for (name, value) in &entity.attributes {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        writeln!(out, "  {name}: {shown}")?;
    }
    for tie in ties {
        let arrow = if tie.relation.key.from == entity.id { "->" } else { "<-" };
        writeln!(out, "  {arrow} {} {}", tie.relation.key.kind, tie.other.name)?;
    }
    Ok(())
}

async fn stats((store, campaign): At<'_>, json: bool) -> Result<u8, Failure> {
    let (health, counts) = (store.health().await?, store.counts(campaign).await?);
    let campaigns = store.campaigns().await?;
    let mut out = io::stdout().lock();
    if json {
        let all = serde_json::json!({
            "health": health, "campaign": campaign, "counts": counts, "campaigns": campaigns,
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
    writeln!(
        out,
        "campaign '{}': {} sessions, {} lines",
        campaign.0, counts.sessions, counts.lines
    )?;
    let (items, vectors) = (list(&counts.items), list(&counts.vectors));
    writeln!(out, "items: {items}; vectors: {vectors}")?;
    writeln!(out, "entities: {}; relations: {}", list(&counts.entities), counts.relations)?;
    for other in campaigns.iter().filter(|other| *other != campaign) {
        writeln!(out, "there is also the campaign '{}'", other.0)?;
    }
    Ok(DONE)
}

fn list(counts: &[crate::memory::Count]) -> String {
    let each: Vec<String> =
        counts.iter().map(|count| format!("{} {}", count.count, count.of)).collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}
