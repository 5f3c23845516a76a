//! A slash command, and one use of it.
//!
//! Entry types: [`Own`], [`Call`]. A command decides on the guild's task: it answers at once, or
//! returns work whose result is applied there. **Never**: waits on that task.

use std::collections::HashMap;

use serenity::all::{
    Attachment, AttachmentId, ChannelId, CommandDataOption, CommandDataOptionValue,
    CommandInteraction, CreateCommand, Permissions, UserId,
};

use super::answer::{Answer, Refusal};
use crate::{
    discord::{guild::Guild, ui::names::cleaned},
    session::{Speaker, SpeakerId},
};

/// A slash command, or part of one, that only Discord has.
pub struct Own {
    pub name: &'static str,
    pub register: fn() -> CreateCommand,
    /// Users who may use it, by subcommand.
    pub who: fn(&str) -> Who,
    pub run: fn(&mut Guild, &Call) -> Result<Answer, Refusal>,
    /// Suggestions for an option, by its name.
    pub complete: fn(&Guild, &str) -> Vec<String>,
}

pub struct Offer {
    pub name: &'static str,
    pub description: String,
    /// Users who may use any of it.
    pub who: Who,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Everyone,
    /// Only game masters.
    Dm,
    Manager,
}

#[derive(Clone)]
pub struct Call {
    /// Every command, for `/help`.
    pub offers: fn() -> Vec<Offer>,
    pub user: UserId,
    pub name: String,
    pub is_dm: bool,
    pub may: Permissions,
    pub channel: ChannelId,
    /// Subcommand group and subcommand, joined by a space; empty without.
    pub path: String,
    options: Vec<CommandDataOption>,
    pub files: HashMap<AttachmentId, Attachment>,
}

impl Call {
    /// Reads one use of one of `offers`; `is_dm` according to the guild.
    pub fn of(used: &CommandInteraction, is_dm: bool, offers: fn() -> Vec<Offer>) -> Self {
        let mut path = Vec::new();
        let mut options = used.data.options.clone();
        while let [CommandDataOption { name, value, .. }] = options.as_slice()
            && let CommandDataOptionValue::SubCommand(inner)
            | CommandDataOptionValue::SubCommandGroup(inner) = value
        {
            path.push(name.clone());
            options = inner.clone();
        }
        let member = used.member.as_deref();
        Self {
            offers,
            user: used.user.id,
            name: cleaned(member.map_or(used.user.name.as_str(), |it| it.display_name())),
            is_dm,
            may: member.and_then(|it| it.permissions).unwrap_or_default(),
            channel: used.channel_id,
            path: path.join(" "),
            options,
            files: used.data.resolved.attachments.clone(),
        }
    }

    pub fn value(&self, name: &str) -> Option<&CommandDataOptionValue> {
        self.options.iter().find(|it| it.name == name).map(|it| &it.value)
    }

    /// Text of the option, trimmed; `None` if empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            CommandDataOptionValue::String(text) => Some(text.trim()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    /// Text of the option; refuses if missing or empty.
    pub fn words(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| format!("'{name}' is empty (fill it in)").into())
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(CommandDataOptionValue::Boolean(true)))
    }

    pub fn user(&self, name: &str) -> Option<UserId> {
        match self.value(name)? {
            CommandDataOptionValue::User(user) => Some(*user),
            _ => None,
        }
    }

    pub fn channel(&self, name: &str) -> Option<ChannelId> {
        match self.value(name)? {
            CommandDataOptionValue::Channel(channel) => Some(*channel),
            _ => None,
        }
    }

    pub fn file(&self, name: &str) -> Option<&Attachment> {
        match self.value(name)? {
            CommandDataOptionValue::Attachment(id) => self.files.get(id),
            _ => None,
        }
    }

    /// The caller as a speaker at the table.
    pub fn speaker(&self) -> Speaker {
        Speaker { id: SpeakerId(self.user.get()), name: self.name.clone(), is_dm: self.is_dm }
    }
}
