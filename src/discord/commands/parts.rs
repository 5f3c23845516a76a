//! Pieces for registering commands.
//!
//! Entry functions: [`sub`], [`words`], [`npc`].

use serenity::all::{CommandOptionType, CreateCommand, CreateCommandOption, InteractionContext};

pub fn command(name: &str, description: &str) -> CreateCommand {
    CreateCommand::new(name).description(description).contexts(vec![InteractionContext::Guild])
}

pub fn sub(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::SubCommand, name, description)
}

pub fn group(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::SubCommandGroup, name, description)
}

/// A text option of at most `most` characters.
pub fn words(name: &str, description: &str, most: u16) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::String, name, description).max_length(most)
}

pub fn one_of<'w>(
    name: &str,
    description: &str,
    most: u16,
    words: impl IntoIterator<Item = &'w str>,
) -> CreateCommandOption {
    let add = |option: CreateCommandOption, word: &str| option.add_string_choice(word, word);
    words.into_iter().fold(self::words(name, description, most), add)
}

pub fn npc(name: &str, description: &str) -> CreateCommandOption {
    words(name, description, 100).set_autocomplete(true)
}

pub fn user(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::User, name, description)
}

pub fn file(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::Attachment, name, description)
}

pub fn flag(name: &str, description: &str) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::Boolean, name, description)
}

/// An integer option from 1 to `most`.
pub fn count(name: &str, description: &str, most: u32) -> CreateCommandOption {
    CreateCommandOption::new(CommandOptionType::Integer, name, description)
        .min_int_value(1)
        .max_int_value(u64::from(most))
}
