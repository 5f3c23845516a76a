//! What Discord shows while an option is typed.
//!
//! Entry functions: [`typed`], [`choices`]. **Never**: says who may see it.

use serenity::all::{CommandDataOption, CommandDataOptionValue, CommandInteraction};

use crate::discord::guild::Guild;

/// Choices Discord shows while an option is typed.
const CHOICES_MAX: usize = 25;
/// Longest choice, in characters.
const CHOICE_LENGTH: usize = 100;

/// Names of the NPCs, for an option that wants one.
pub fn npc_names(guild: &Guild) -> Vec<String> {
    guild.cast().iter().map(|npc| npc.name.clone()).collect()
}

/// What is being typed: the option's name and its text so far.
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

/// Of `known` those that go with `text`, as many as Discord shows.
pub fn choices(known: impl IntoIterator<Item = String>, text: &str) -> Vec<String> {
    let wanted = text.to_lowercase();
    known
        .into_iter()
        .filter(|it| it.to_lowercase().contains(&wanted))
        .filter(|it| it.chars().count() <= CHOICE_LENGTH)
        .take(CHOICES_MAX)
        .collect()
}
