//! The panel's buttons.
//!
//! Entry function: [`press`]. **Never**: reveals who used the X-card.

use crate::{
    commands,
    discord::{
        commands::{Answer, Refusal, shown},
        guild::Guild,
        ui::{
            action::{ButtonPress, PanelButton},
            reply::Reply,
        },
    },
};

pub fn press(
    guild: &mut Guild,
    press: &ButtonPress,
    button: PanelButton,
) -> Result<Answer, Refusal> {
    if button != PanelButton::XCard && !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let answered = match button {
        PanelButton::XCard => commands::halt(guild)?,
        PanelButton::StopMusic => commands::stop_music(guild)?,
        PanelButton::Mute => commands::mute_all(guild)?,
        PanelButton::Pause => commands::pause(guild)?,
        PanelButton::Resume => commands::resume(guild)?,
        PanelButton::Next => commands::skip(guild)?,
        PanelButton::End => {
            guild.stop("the game master ended it")?;
            guild.refresh_panel_soon();
            return Ok(Reply::private("The session is over.").into());
        }
    };
    guild.refresh_panel_soon();
    shown(guild, answered)
}
