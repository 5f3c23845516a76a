//! Suggestions while an option is typed.
//!
//! Entry functions: [`typed`], [`choices`], [`known`]. **Never**: checks permissions.

use std::{collections::BTreeSet, sync::Arc};

use serenity::all::{CommandDataOption, CommandDataOptionValue, CommandInteraction};

use super::world::names;
use crate::{
    campaign::KnownVoice,
    commands::{Kind, Planning, Suggested},
    discord::guild::Guild,
    domain::EntityKind,
    logic::music::Layer,
};

/// Choices Discord shows at most.
const CHOICES_MAX: usize = 25;
/// Longest choice, in characters (Discord's limit).
const CHOICE_LENGTH: usize = 100;

pub fn npc_names(guild: &Guild) -> Vec<String> {
    guild.cast().iter().map(|npc| npc.name.clone()).collect()
}

/// Known names for an option of this kind.
pub fn known(guild: &Guild, kind: Kind) -> Vec<String> {
    let campaign = || Arc::clone(&guild.shared.handles.settings.load().campaign);
    match kind {
        Kind::Npc => npc_names(guild),
        Kind::Suggested(Suggested::Places, _) => {
            let campaign = campaign();
            let scenes = campaign.scenes.iter().map(|scene| &scene.name);
            let places = campaign.entities.iter().filter(|it| it.kind == EntityKind::Location);
            let mut names: Vec<String> = scenes.cloned().collect();
            for place in places {
                if !names.contains(&place.name) {
                    names.push(place.name.clone());
                }
            }
            names
        }
        Kind::Suggested(Suggested::Characters, _) => {
            campaign().players.iter().map(|player| player.character.clone()).collect()
        }
        Kind::Suggested(Suggested::Tools, _) => tool_names(guild),
        Kind::Suggested(Suggested::Moods, _) => {
            let library = guild.shared.handles.music.library();
            let lasting = library.only(|layer| layer != Layer::Effect);
            library.moods().into_iter().chain(lasting.titles()).map(str::to_owned).collect()
        }
        Kind::Suggested(Suggested::Effects, _) => {
            let library = guild.shared.handles.music.library();
            let effects = library.only(|layer| layer == Layer::Effect);
            effects.titles().into_iter().map(str::to_owned).collect()
        }
        Kind::Suggested(Suggested::Entities, _) => guild.entities().to_vec(),
        Kind::Suggested(Suggested::Campaigns, _) => names(guild),
        Kind::Suggested(Suggested::Workflows, _) => {
            let settings = guild.shared.handles.settings.load();
            settings.workflows.iter().map(|it| it.name.clone()).collect()
        }
        Kind::Suggested(Suggested::Runs, _) => {
            let running = guild.shared.handles.workflows.running(&guild.scope());
            running.into_iter().map(|it| it.workflow).collect()
        }
        Kind::Suggested(Suggested::Voices, _) => {
            let engines = guild.session().map(|session| Arc::clone(&session.engines));
            let voices = engines.map(|engines| engines.known_voices()).unwrap_or_default();
            voices.iter().map(KnownVoice::line).collect()
        }
        Kind::Suggested(Suggested::Schedules, _) => {
            guild.planner().map(|planner| planner.known()).unwrap_or_default()
        }
        Kind::Words(_)
        | Kind::OneOf(..)
        | Kind::Count(_)
        | Kind::Flag
        | Kind::Person
        | Kind::File => Vec::new(),
    }
}

/// Every tool, and every server as a whole.
pub fn tool_names(guild: &Guild) -> Vec<String> {
    let snapshot = guild.tools().snapshot();
    let tools = || snapshot.all().iter().map(|placed| &placed.tool);
    let servers: BTreeSet<String> = tools().map(|tool| format!("{}.*", tool.server())).collect();
    tools().map(|tool| tool.identity.to_string()).chain(servers).collect()
}

/// Name and text of the option being typed.
pub fn typed(used: &CommandInteraction) -> Option<(String, String)> {
    fn find(options: &[CommandDataOption]) -> Option<(String, String)> {
        options.iter().find_map(|option| match &option.value {
            CommandDataOptionValue::Autocomplete { value, .. } => {
                Some((option.name.clone(), value.clone()))
            }
            CommandDataOptionValue::SubCommand(inner)
            | CommandDataOptionValue::SubCommandGroup(inner) => find(inner),
            _ => None,
        })
    }
    find(&used.data.options)
}

/// Choices of `known` that match `text`: distinct, valid, and as many as Discord shows.
pub fn choices(known: impl IntoIterator<Item = String>, text: &str) -> Vec<String> {
    let (wanted, mut taken) = (text.to_lowercase(), BTreeSet::new());
    known
        .into_iter()
        .filter(|it| it.to_lowercase().contains(&wanted))
        .filter(|it| !it.trim().is_empty() && it.chars().count() <= CHOICE_LENGTH)
        .filter(|it| taken.insert(it.clone()))
        .take(CHOICES_MAX)
        .collect()
}
