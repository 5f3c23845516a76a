//! Slash commands: one file each, one table of all.
//!
//! Entry items: [`ALL`], [`Call`], [`Answer`]. A command decides on the guild's task and answers at
//! once, or hands over work whose result is put in place there. **Never**: waits on that task.

mod ask;
mod campaign;
mod character;
mod effects;
pub mod entity;
mod help;
mod npc;
mod parts;
mod privacy;
pub mod records;
mod roll;
mod say;
mod scene;
mod session;
pub mod setup;
mod tier;
mod tools;
mod xcard;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use futures::{FutureExt, future::BoxFuture};
use serenity::all::{
    Attachment, AttachmentId, ChannelId, CommandDataOption, CommandDataOptionValue,
    CommandInteraction, CreateCommand, CreateModal, Permissions, UserId,
};

use super::{guild::task::Guild, ui::reply::Reply};
use crate::{campaign::WorldAnswer, session::Status};

/// Every command, in the order of `/help`.
pub const ALL: &[Command] = &[
    setup::COMMAND,
    session::COMMAND,
    npc::COMMAND,
    say::COMMAND,
    ask::COMMAND,
    character::COMMAND,
    scene::COMMAND,
    entity::COMMAND,
    campaign::COMMAND,
    tier::COMMAND,
    tools::COMMAND,
    roll::COMMAND,
    privacy::COMMAND,
    xcard::COMMAND,
    help::COMMAND,
];

/// Choices Discord shows while an option is typed.
const CHOICES_MAX: usize = 25;
/// Longest choice, in characters.
const CHOICE_LENGTH: usize = 100;

/// A command.
pub struct Command {
    /// As registered.
    pub name: &'static str,
    /// What Discord is told.
    pub register: fn() -> CreateCommand,
    /// Who may use it, by subcommand.
    pub who: fn(&str) -> Who,
    /// Does it.
    pub run: fn(&mut Guild, &Call) -> Result<Answer, Refusal>,
    /// What may be typed into an option.
    pub complete: fn(&Guild, &str) -> Vec<String>,
}

/// Who may use a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everybody.
    Everyone,
    /// Game masters.
    Dm,
    /// Whoever may manage the server.
    Manager,
}

/// Why a command does nothing, with the way out; only its user sees it.
#[derive(Debug)]
pub struct Refusal(pub String);

impl<T: Into<String>> From<T> for Refusal {
    fn from(why: T) -> Self {
        Self(why.into())
    }
}

/// Puts the result of some work in place.
pub type Then = Box<dyn FnOnce(&mut Guild) -> Reply + Send>;

/// Answers once it is known how something stands.
pub type Next = Box<dyn FnOnce(&mut Guild) -> Result<Answer, Refusal> + Send>;

/// What a command answers.
pub enum Answer {
    /// At once.
    Now(Reply),
    /// When the table or the memory has said how it stands, which is well before Discord gives up
    /// waiting.
    Soon(BoxFuture<'static, Next>),
    /// When some work is done.
    Later {
        /// Everybody sees the answer.
        public: bool,
        /// Cancelled when the bot stops.
        work: BoxFuture<'static, Then>,
    },
    /// In the place of the message whose button was pressed.
    Replace(Reply),
    /// A form to fill in.
    Form(CreateModal),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

/// One use of a command.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who uses it.
    pub user: UserId,
    /// What the server calls them.
    pub name: String,
    /// Whether they are a game master here.
    pub is_dm: bool,
    /// What they may do in this channel.
    pub may: Permissions,
    /// Where.
    pub channel: ChannelId,
    /// Subcommand group and subcommand, joined by a space; empty without.
    pub path: String,
    options: Vec<CommandDataOption>,
    /// What was attached.
    pub files: HashMap<AttachmentId, Attachment>,
}

impl Call {
    /// Reads one use; `is_dm` as the guild sees it.
    pub fn of(used: &CommandInteraction, is_dm: bool) -> Self {
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
            user: used.user.id,
            name: member.map_or(used.user.name.as_str(), |it| it.display_name()).to_owned(),
            is_dm,
            may: member.and_then(|it| it.permissions).unwrap_or_default(),
            channel: used.channel_id,
            path: path.join(" "),
            options,
            files: used.data.resolved.attachments.clone(),
        }
    }

    /// What was given as `name`.
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
    /// There are none.
    pub fn words(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| format!("'{name}' is empty (fill it in)").into())
    }

    /// The whole number given as `name`.
    pub fn whole(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            CommandDataOptionValue::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether `name` is given and true.
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
}

/// Answers with what `show` makes of how the table stands once it has done what it was told before.
///
/// # Errors
/// No session runs.
fn with_status(
    guild: &Guild,
    show: impl FnOnce(&mut Guild, Status) -> Result<Reply, Refusal> + Send + 'static,
) -> Result<Answer, Refusal> {
    let status = guild.session()?.status();
    let work = status.map(|status| {
        Box::new(|guild: &mut Guild| show(guild, status.map_err(Refusal)?).map(Answer::Now)) as Next
    });
    Ok(Answer::Soon(work.boxed()))
}

/// Names of the NPCs, for an option that wants one.
fn npc_names(guild: &Guild) -> Vec<String> {
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
