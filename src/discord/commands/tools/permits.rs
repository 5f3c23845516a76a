//! `/tools permits|revoke`: tools that are no longer asked about on this server.

use super::shown::table;
use crate::discord::{
    commands::{
        answer::{Answer, Refusal},
        command::Call,
    },
    guild::Guild,
    ui::reply::Reply,
};

/// Tools that were allowed for good, and whether that still holds.
pub fn show(guild: &Guild) -> Answer {
    let snapshot = guild.tools().snapshot();
    let lines = guild.settings().permits.standing(&snapshot);
    let notes = "A game master allows them with *Always for this tool* below a request; /tools \
                 revoke makes one ask again.";
    table("Allowed for good", &lines, notes).into()
}

/// Has a tool ask again.
///
/// # Errors
/// It was not allowed for good.
pub fn revoke(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let tool = call.words("tool")?.to_owned();
    if !guild.change_settings(|settings| settings.permits.revoke(&tool)) {
        return Err(format!(
            "'{tool}' was not allowed for good (/tools permits lists those that were)"
        )
        .into());
    }
    if let Ok(session) = guild.session() {
        let permits = guild.settings().permits.clone();
        guild.shared.handles.tools.set_permits(&session.id, permits);
    }
    Ok(Reply::private(format!("{tool} asks again.")).into())
}
