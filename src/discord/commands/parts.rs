//! Pieces that commands are registered from.
//!
//! Entry functions: [`sub`], [`words`], [`npc`]. **Never**: says who may use them.

use serenity::all::{CommandOptionType, CreateCommand, CreateCommandOption, InteractionContext};

/// A command of servers, not of private messages.
pub fn command(name: &str, description: &str) -> CreateCommand {
    CreateCommand::new(name).description(description).contexts(vec![InteractionContext::Guild])
}

/// A subcommand, whose options are added to it.
pub fn sub(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::SubCommand, name, description)
}

/// A group of subcommands.
pub fn group(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::SubCommandGroup, name, description)
}

/// An option that takes words, at most so many characters.
pub fn words(name: &str, description: &str, most: u16) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::String, name, description).max_length(most)
}

/// An option that takes one of these words.
pub fn one_of<'w>(
    name: &str,
    description: &str,
    most: u16,
    words: impl IntoIterator<Item = &'w str>,
) -> CreateCommandOption {
    let add = |option: CreateCommandOption, word: &str| option.add_string_choice(word, word);
    words.into_iter().fold(self::words(name, description, most), add)
}

/// An option that takes an NPC's name.
pub fn npc(name: &str, description: &str) -> CreateCommandOption {
    words(name, description, 100).set_autocomplete(true)
}

/// An option that takes a member of the server.
pub fn user(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::User, name, description)
}

/// An option that takes a file.
pub fn file(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::Attachment, name, description)
}

/// An option that is true or false.
pub fn flag(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::Boolean, name, description)
}

/// An option that takes a whole number from 1 to `most`.
pub fn count(name: &str, description: &str, most: u32) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::Integer, name, description)
        .min_int_value(1)
        .max_int_value(u64::from(most))
}
