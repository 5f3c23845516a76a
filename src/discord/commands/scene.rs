//! `/scene`: where and when the game is, and which NPCs are there.
//!
//! Entry item: [`COMMAND`]. **Never**: changes what an NPC knows.

use std::sync::Arc;

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal, with_status},
    choices::npc_names,
    command::{Call, Command, Who},
    parts,
};
use crate::{
    discord::{guild::Guild, ui::reply::Reply},
    domain::EntityKind,
    session::{Command as TableCommand, SceneChange, Status},
};

/// `/scene`.
pub const COMMAND: Command = Command { name: "scene", register, who: |_| Who::Dm, run, complete };

/// Longest location and longest time of day, in characters.
const LONGEST_PLACE: u16 = 200;
const LONGEST_TIME: u16 = 64;
/// Takes away what was set.
const NOTHING: &str = "-";

fn register() -> CreateCommand {
    let place = "A scene of the campaign, with its NPCs, or any place (- for none)";
    let place = parts::words("location", place, LONGEST_PLACE).set_autocomplete(true);
    let time = parts::words("time", "Time of day, such as dusk (- for none)", LONGEST_TIME);
    let npc = |text| parts::npc("npc", text).required(true);
    parts::command("scene", "Set where the game is and which NPCs are there")
        .add_option(
            parts::sub("set", "Move to another place or time of day")
                .add_sub_option(place)
                .add_sub_option(time),
        )
        .add_option(
            parts::sub("enter", "Bring an NPC into the scene")
                .add_sub_option(npc("NPC that enters")),
        )
        .add_option(
            parts::sub("leave", "Take an NPC out of the scene; it falls silent")
                .add_sub_option(npc("NPC that leaves")),
        )
        .add_option(parts::sub("show", "Show where you are and who is there"))
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    match option {
        "npc" => npc_names(guild),
        "location" => {
            let campaign = Arc::clone(&guild.shared.handles.settings.load().campaign);
            let scenes = campaign.scenes.iter().map(|scene| &scene.name);
            let places = campaign.entities.iter().filter(|it| it.kind == EntityKind::Location);
            let mut names: Vec<String> = scenes.cloned().collect();
            for place in places {
                if !names.contains(&place.name) {
                    names.push(place.name.clone());
                }
            }
            names
        }
        _ => Vec::new(),
    }
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let change = match call.path.as_str() {
        "set" => {
            let (location, time) = (filled(call, "location"), filled(call, "time"));
            if location.is_none() && time.is_none() {
                return Err(
                    "no place or time given (use /scene set location, time, or both)".into()
                );
            }
            Some(SceneChange::Set { location, time, music: None })
        }
        "enter" => Some(SceneChange::Enter(guild.seat(call.words("npc")?)?.0)),
        "leave" => Some(SceneChange::Leave(guild.seat(call.words("npc")?)?.0)),
        _ => None,
    };
    if let Some(change) = change {
        guild.tell(TableCommand::Scene(change))?;
    }
    with_status(guild, |_, status| Ok(Reply::private(shown(&status)).titled("The scene")))
}

/// What is set: empty where it is taken away, `None` where it stays.
fn filled(call: &Call, option: &str) -> Option<String> {
    call.text(option).map(|text| if text == NOTHING { String::new() } else { text.to_owned() })
}

fn shown(status: &Status) -> String {
    let scene = &status.scene;
    let place = scene.location.as_deref().unwrap_or("Nowhere in particular");
    let mut text = format!("**{place}**");
    if let Some(time) = &scene.time_of_day {
        text.push_str(&format!(", {time}"));
    }
    let away = status.seats.iter().filter(|seat| !seat.present).map(|seat| seat.name.as_str());
    let away: Vec<&str> = away.collect();
    text.push_str(&match scene.present.as_slice() {
        [] => "\nNo NPC is here to answer (/scene enter brings one in).".to_owned(),
        here => format!("\nHere: {}", here.join(", ")),
    });
    if !away.is_empty() {
        text.push_str(&format!("\nNot here: {}", away.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{seat, status},
        *,
    };
    use crate::session::SeatStatus;

    #[test]
    fn a_scene_says_who_is_there_and_who_is_not() {
        let mut table = status(vec![
            seat("Bartok"),
            SeatStatus { present: false, ..seat("Mira") },
            SeatStatus { present: false, ..seat("Aldo") },
        ]);
        assert_eq!(shown(&table), "**Nowhere in particular**\nHere: Bartok\nNot here: Mira, Aldo");
        table.scene.location = Some("The Old Mill".to_owned());
        table.scene.time_of_day = Some("dusk".to_owned());
        table.scene.present.clear();
        table.seats.clear();
        assert_eq!(
            shown(&table),
            "**The Old Mill**, dusk\nNo NPC is here to answer (/scene enter brings one in)."
        );
    }
}
