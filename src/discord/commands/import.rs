//! Buttons of a previewed import.
//!
//! Entry functions: [`buttons`], [`import`]. **Never**: trusts that only game masters press.

use serenity::all::{ButtonStyle, CreateButton};

use super::answer::Refusal;
use crate::{
    commands,
    discord::{
        guild::Guild,
        ui::action::{Action, ButtonPress},
    },
};

/// Buttons that import the file with this key.
pub fn buttons(key: String, has_secrets: bool) -> Vec<CreateButton> {
    let button = |knows_secrets, label| {
        CreateButton::new(Action::Import { key: key.clone(), knows_secrets }.id()).label(label)
    };
    let mut buttons = vec![button(false, "Import").style(ButtonStyle::Primary)];
    if has_secrets {
        let other = button(true, "Import; the NPC knows its secrets");
        buttons.push(other.style(ButtonStyle::Secondary));
    }
    buttons
}

/// Imports the file with this key; game masters only.
pub fn import(
    guild: &mut Guild,
    press: &ButtonPress,
    key: String,
    knows_secrets: bool,
) -> Result<commands::Answer, Refusal> {
    match press.is_dm {
        true => Ok(commands::import_previewed(guild, key, knows_secrets)),
        false => Err(guild.only_dms().into()),
    }
}
