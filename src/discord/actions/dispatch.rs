//! Every action, and who carries it out.
//!
//! Entry function: [`act`]. **Never**: leaves one out; the compiler sees to it.

use super::{decisions, panel};
use crate::{
    commands::{HEARD, NOT_HEARD},
    discord::{
        commands::{self, Answer, FactPress, Refusal},
        guild::Guild,
        ui::{
            action::{Action, ButtonPress, ConsentButton},
            reply::Reply,
        },
    },
};

/// Does what was pressed; each checks who may.
///
/// # Errors
/// It is of no use any more, or not theirs.
pub fn act(guild: &mut Guild, press: &ButtonPress, action: Action) -> Result<Answer, Refusal> {
    match action {
        Action::Panel(button) => panel::press(guild, press, button),
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
        Action::KeepEntity => commands::keep_entity(guild, press),
        Action::Setup(choice) => commands::choose_setup(guild, press, choice),
        Action::DeleteOwn(user) => {
            let answered = commands::delete_own(guild, press, user)?;
            commands::shown(guild, answered)
        }
        Action::Purge(user) => commands::purge(guild, press, user),
    }
}
