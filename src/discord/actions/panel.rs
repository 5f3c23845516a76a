//! The panel's buttons.
//!
//! Entry function: [`press`]. **Never**: tells anybody who held the X-card up.

use crate::{
    commands::{halt, stop_music},
    discord::{
        commands::{Answer, Refusal, shown},
        guild::Guild,
        ui::{
            action::{ButtonPress, PanelButton},
            reply::Reply,
        },
    },
    session::Command,
};

/// Does what a button of the panel says.
///
/// # Errors
/// It is a game master's, or no session runs.
pub fn press(
    guild: &mut Guild,
    press: &ButtonPress,
    button: PanelButton,
) -> Result<Answer, Refusal> {
    if button != PanelButton::XCard && !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let done = match button {
        PanelButton::XCard => {
            let answered = halt(guild)?;
            return shown(guild, answered);
        }
        PanelButton::StopMusic => {
            let answered = stop_music(guild)?;
            return shown(guild, answered);
        }
        PanelButton::Mute => {
            guild.tell(Command::Mute { seat: None, muted: true })?;
            "Everyone is muted (/npc unmuteall lets them speak again)."
        }
        PanelButton::Pause => {
            guild.tell(Command::Pause(true))?;
            "The NPCs don't answer until you press Resume."
        }
        PanelButton::Resume => {
            guild.tell(Command::Pause(false))?;
            "The NPCs answer again."
        }
        PanelButton::Next => {
            guild.tell(Command::Skip)?;
            "Moving on to the next speaker."
        }
        PanelButton::End => {
            guild.stop("the game master ended it")?;
            "The session is over."
        }
    };
    guild.refresh_panel_soon();
    Ok(Reply::private(done).into())
}
