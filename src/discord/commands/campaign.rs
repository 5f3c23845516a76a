//! `/campaign`: the campaign played here.
//!
//! Entry item: [`COMMAND`]. **Never**: changes a running session.

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts, world,
};
use crate::{
    campaign::{GuildSettings, PlayedCampaign, WorldAnswer, WorldOrder},
    discord::{guild::Guild, ui::reply::Reply},
};

pub const COMMAND: Own = Own { name: "campaign", register, who: |_| Who::Dm, run, complete };

/// Longest name, in characters.
const LONGEST_NAME: u16 = 100;
/// Most campaigns per server.
const CAMPAIGNS_MAX: usize = 50;

fn register() -> CreateCommand {
    let name = parts::words("name", "Name of the campaign", LONGEST_NAME).set_autocomplete(true);
    parts::command("campaign", "Show, load or switch the campaign of this server")
        .add_option(parts::sub("info", "Show the campaign played here and what I remember of it"))
        .add_option(
            parts::sub("load", "Load a campaign file as a separate campaign, and play it")
                .add_sub_option(parts::file("file", "A campaign file (YAML)").required(true)),
        )
        .add_option(
            parts::sub("switch", "Play another campaign from the next session on")
                .add_sub_option(name.required(true)),
        )
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    if option == "name" { names(guild) } else { Vec::new() }
}

/// The configured campaign, then the shared ones, then those loaded here.
fn names(guild: &Guild) -> Vec<String> {
    let settings = guild.shared.handles.settings.load();
    let shared = settings.shared.iter().map(|it| it.name.clone());
    let mut all: Vec<String> = std::iter::once(configured(guild)).chain(shared).collect();
    for loaded in &guild.settings().campaigns {
        if !all.contains(&loaded.name) {
            all.push(loaded.name.clone());
        }
    }
    all
}

/// Name of the configured campaign; `default` without one.
fn configured(guild: &Guild) -> String {
    let name = guild.shared.handles.settings.load().campaign.name.clone();
    if name.is_empty() { "default".to_owned() } else { name }
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    match call.path.as_str() {
        "load" => world::order_with_file(guild, call, WorldOrder::Load, loaded),
        "switch" => switch(guild, call.words("name")?),
        _ => Ok(world::order(guild, WorldOrder::Info, |guild, answer| {
            let mut text = answer.text;
            let all = names(guild);
            if all.len() > 1 {
                text.push_str(&format!("\nCampaigns: {} (/campaign switch)", all.join(", ")));
            }
            let played = guild.played().map(|it| it.name.clone());
            Reply::private(text).titled(played.unwrap_or_else(|| configured(guild)))
        })),
    }
}

fn loaded(guild: &mut Guild, answer: WorldAnswer) -> Reply {
    let Some(campaign) = answer.campaign else { return Reply::private(answer.text) };
    let is_configured = campaign.name == guild.shared.handles.settings.load().campaign.name;
    guild.change_settings(|settings| {
        if is_configured {
            settings.campaign = None;
            return;
        }
        settings.campaign = Some(campaign.name.clone());
        keep(settings, campaign);
    });
    done(guild, answer.text)
}

/// Stores a campaign; drops the oldest beyond the limit.
fn keep(settings: &mut GuildSettings, campaign: PlayedCampaign) {
    settings.campaigns.retain(|it| it.name != campaign.name);
    if settings.campaigns.len() >= CAMPAIGNS_MAX {
        settings.campaigns.remove(0);
    }
    settings.campaigns.push(campaign);
}

fn switch(guild: &mut Guild, name: &str) -> Result<Answer, Refusal> {
    let known = names(guild);
    let Some(at) = known.iter().position(|it| it.to_lowercase() == name.to_lowercase()) else {
        return Err(format!(
            "unknown campaign '{name}' (known: {}; /campaign load adds another)",
            known.join(", ")
        )
        .into());
    };
    let chosen = known.into_iter().nth(at).filter(|_| at > 0);
    let shared = guild.shared.handles.settings.load_full();
    let shared = shared.shared.iter().find(|it| chosen.as_ref() == Some(&it.name)).cloned();
    guild.change_settings(|settings| {
        settings.campaign = chosen;
        if let Some(shared) = shared {
            keep(settings, shared);
        }
    });
    guild.learn_entities();
    Ok(done(guild, "Campaign switched; each campaign has its own memory.".to_owned()).into())
}

/// Adds when the campaign takes effect.
fn done(guild: &Guild, text: String) -> Reply {
    let name = guild.played().map_or_else(|| configured(guild), |it| it.name.clone());
    let from = if guild.session().is_ok() { "from the next session on" } else { "here" };
    Reply::private(format!("{text}\n**{name}** is played {from}, with the same NPCs."))
}
