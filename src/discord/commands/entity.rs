//! Buttons of `/entity remove`, which asks before it removes.
//!
//! Entry functions: [`row`], [`removed`], [`keep`]. **Never**: trusts that only game masters press.

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton};

use super::answer::{Answer, Refusal};
use crate::{
    commands,
    discord::{
        guild::Guild,
        ui::{
            action::{Action, ButtonPress},
            reply::Reply,
        },
    },
};

/// Longest id of a button, in characters (Discord's limit).
const BUTTON_MAX: usize = 100;

/// Buttons that remove the entity with this id, or keep it. Fails if the id is too long.
pub fn row(id: String) -> Result<CreateActionRow, Refusal> {
    let id = Action::RemoveEntity(id).id();
    if id.chars().count() > BUTTON_MAX {
        return Err("its id is too long for a button (choose a shorter id)".into());
    }
    let yes = CreateButton::new(id).label("Remove it").style(ButtonStyle::Danger);
    let no = CreateButton::new(Action::KeepEntity.id()).label("Keep it");
    let no = no.style(ButtonStyle::Secondary);
    Ok(CreateActionRow::Buttons(vec![yes, no]))
}

/// Removes the entity with this id; game masters only.
pub fn removed(
    guild: &mut Guild,
    press: &ButtonPress,
    id: String,
) -> Result<commands::Answer, Refusal> {
    match press.is_dm {
        true => Ok(commands::remove_entity(guild, id)),
        false => Err(guild.only_dms().into()),
    }
}

/// Keeps the entity; game masters only.
pub fn keep(guild: &Guild, press: &ButtonPress) -> Result<Answer, Refusal> {
    match press.is_dm {
        true => Ok(Answer::Replace(Reply::private("Nothing was removed."))),
        false => Err(guild.only_dms().into()),
    }
}
