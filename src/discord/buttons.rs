//! Buttons, menus and forms, by the word their id begins with.
//!
//! Entry type: [`ButtonPress`]. **Never**: trusts that only those can press who were meant.

use serenity::all::{ChannelId, Permissions, UserId};

use super::{
    commands::{Answer, Refusal, entity, records, setup},
    facts,
    guild::{decisions, notices, panel_actions, task::Guild},
};

/// Somebody pressed a button, chose from a menu, or filled in a form.
#[derive(Debug)]
pub struct ButtonPress {
    /// Who.
    pub user: UserId,
    /// What the server calls them.
    pub name: String,
    /// Whether they are a game master here.
    pub is_dm: bool,
    /// What they may do in this channel.
    pub may: Permissions,
    /// Where.
    pub channel: ChannelId,
    /// The id of what was pressed: a word of [`KINDS`], and what that needs, after a colon.
    pub id: String,
    /// What was chosen, or each field of the form.
    pub values: Vec<String>,
}

/// What a press leads to.
type Pressed = fn(&mut Guild, &ButtonPress, &str) -> Result<Answer, Refusal>;

/// Every kind of button, by the word its id begins with.
const KINDS: &[(&str, Pressed)] = &[
    ("panel", panel_actions::pressed),
    ("consent", notices::pressed),
    ("desk", decisions::pressed),
    ("fact", facts::pressed),
    ("facts", facts::pressed_in_list),
    ("entity", entity::pressed),
    ("setup", setup::pressed),
    ("privacy", records::pressed),
];

impl Guild {
    /// Does what was pressed.
    ///
    /// # Errors
    /// It is of no use any more, or not theirs.
    pub fn press(&mut self, press: &ButtonPress) -> Result<Answer, Refusal> {
        if let Some(why) = &self.broken {
            return Err(format!("I do nothing here until this is put right: {why}").into());
        }
        let (kind, rest) = press.id.split_once(':').unwrap_or((&press.id, ""));
        let (_, pressed) = KINDS
            .iter()
            .find(|(name, _)| *name == kind)
            .ok_or("this button is of no use any more")?;
        pressed(self, press, rest)
    }
}
