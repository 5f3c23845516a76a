//! A slash command, and one use of it.
//!
//! Entry types: [`Own`], [`Call`]. A command decides on the guild's task and answers at once, or hands
//! over work whose result is put in place there. **Never**: waits on that task.

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

/// A slash command that no other face has, or a part of one that none has.
pub struct Own {
    /// Its name, as registered and without the slash.
    pub name: &'static str,
    /// Its definition for Discord.
    pub register: fn() -> CreateCommand,
    /// Users who may use it, by subcommand.
    pub who: fn(&str) -> Who,
    /// Carries it out and answers.
    pub run: fn(&mut Guild, &Call) -> Result<Answer, Refusal>,
    /// Suggestions for the option of this name.
    pub complete: fn(&Guild, &str) -> Vec<String>,
}

/// A command as `/help` lists it.
pub struct Offer {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its purpose.
    pub description: String,
    /// The people who may use any of it.
    pub who: Who,
}

/// Users who may use a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everybody in the server.
    Everyone,
    /// Game masters alone.
    Dm,
    /// Members who may manage the server.
    Manager,
}

/// One use of a command.
#[derive(Clone)]
pub struct Call {
    /// Every command there is, for `/help`.
    pub offers: fn() -> Vec<Offer>,
    /// The user.
    pub user: UserId,
    /// Their display name in the server.
    pub name: String,
    /// True if they are a game master here.
    pub is_dm: bool,
    /// Their permissions in this channel.
    pub may: Permissions,
    /// The channel it is used in.
    pub channel: ChannelId,
    /// Subcommand group and subcommand, joined by a space; empty without.
    pub path: String,
    options: Vec<CommandDataOption>,
    /// Attached files.
    pub files: HashMap<AttachmentId, Attachment>,
}

impl Call {
    /// Reads one use of one of `offers`; `is_dm` as the guild sees it.
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

    /// Value of the option `name`.
    pub fn value(&self, name: &str) -> Option<&CommandDataOptionValue> {
        self.options.iter().find(|it| it.name == name).map(|it| &it.value)
    }

    /// The words given as `name`, trimmed; `None`: none.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            CommandDataOptionValue::String(text) => Some(text.trim()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    /// The words given as `name`.
    ///
    /// # Errors
    /// They are missing or empty.
    pub fn words(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| format!("'{name}' is empty (fill it in)").into())
    }

    /// True if `name` is given and true.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(CommandDataOptionValue::Boolean(true)))
    }

    /// The user given as `name`.
    pub fn user(&self, name: &str) -> Option<UserId> {
        match self.value(name)? {
            CommandDataOptionValue::User(user) => Some(*user),
            _ => None,
        }
    }

    /// The channel given as `name`.
    pub fn channel(&self, name: &str) -> Option<ChannelId> {
        match self.value(name)? {
            CommandDataOptionValue::Channel(channel) => Some(*channel),
            _ => None,
        }
    }

    /// The file given as `name`.
    pub fn file(&self, name: &str) -> Option<&Attachment> {
        match self.value(name)? {
            CommandDataOptionValue::Attachment(id) => self.files.get(id),
            _ => None,
        }
    }

    /// The caller as somebody at the table.
    pub fn speaker(&self) -> Speaker {
        Speaker { id: SpeakerId(self.user.get()), name: self.name.clone(), is_dm: self.is_dm }
    }
}
