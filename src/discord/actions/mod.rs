//! Handling of buttons, menus and forms.
//!
//! Entry function: [`act`]. **Never**: trusts that Discord showed a button only to those allowed to
//! press it.

mod decisions;

use crate::{
    commands::{self as shared, HEARD, NOT_HEARD},
    discord::{
        commands::{self, Answer, FactPress, Refusal, shown},
        guild::Guild,
        ui::{
            action::{Action, ButtonPress, ConsentButton, PanelButton},
            reply::Reply,
        },
    },
};

/// Carries out an action; each handler checks the presser's rights.
pub fn act(guild: &mut Guild, press: &ButtonPress, action: Action) -> Result<Answer, Refusal> {
    match action {
        Action::Panel(button) => press_panel(guild, press, button),
        Action::Consent(button) => {
            let user = press.user.get();
            let done = match button {
                ConsentButton::In => {
                    guild.opt_in(user);
                    HEARD
                }
                ConsentButton::Out => {
                    guild.opt_out(user);
                    NOT_HEARD
                }
            };
            Ok(Reply::private(done).into())
        }
        Action::Decision { key, step } => decisions::press(guild, press, &key, step),
        Action::AnswerPage { key, page } => decisions::answer(guild, press, &key, page),
        Action::Fact { place, id, step } => {
            commands::press_fact(guild, press, FactPress { place, id, step })
        }
        Action::FactsPage(after) => commands::turn_page(guild, press, after),
        Action::RemoveEntity(id) => {
            let answered = commands::remove_entity(guild, press, id)?;
            commands::shown(guild, answered)
        }
        Action::Import { key, knows_secrets } => {
            let answered = commands::import_previewed(guild, press, key, knows_secrets)?;
            commands::shown(guild, answered)
        }
        Action::KeepEntity => commands::keep_entity(guild, press),
        Action::Setup(choice) => commands::choose_setup(guild, press, choice),
        Action::DeleteOwn(user) => {
            let answered = commands::delete_own(guild, press, user)?;
            commands::shown(guild, answered)
        }
        Action::Purge(user) => commands::purge(guild, press, user),
        Action::HearVoice(npc) => {
            let answered = commands::hear_voice(guild, press, npc)?;
            commands::shown(guild, answered)
        }
    }
}

/// Handles a button of the panel. **Never** reveals who used the X-card.
fn press_panel(
    guild: &mut Guild,
    press: &ButtonPress,
    button: PanelButton,
) -> Result<Answer, Refusal> {
    if button != PanelButton::XCard && !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let answered = match button {
        PanelButton::XCard => shared::halt(guild)?,
        PanelButton::StopMusic => shared::stop_music(guild)?,
        PanelButton::Mute => shared::mute_all(guild)?,
        PanelButton::Pause => shared::pause(guild)?,
        PanelButton::Resume => shared::resume(guild)?,
        PanelButton::Next => shared::skip(guild)?,
        PanelButton::End => {
            guild.stop("the game master ended it")?;
            guild.refresh_panel_soon();
            return Ok(Reply::private("The session is over.").into());
        }
    };
    guild.refresh_panel_soon();
    shown(guild, answered)
}
