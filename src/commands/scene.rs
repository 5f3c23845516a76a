//! `/scene`: place, time and present NPCs of the game.

use super::{
    answer::{Answer, Reply, with_status},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::{Face, seat},
    text::{Refusal, Text},
};
use crate::session::{Command as TableCommand, SceneChange, Status};

/// Longest location and longest time of day, in characters.
const LONGEST_PLACE: u16 = 200;
const LONGEST_TIME: u16 = 64;
/// Clears a setting.
const NOTHING: &str = "-";

pub static COMMAND: Command = Command {
    name: "scene",
    description: "Set where the game is and which NPCs are there",
    subs: &[
        Subcommand::new(
            "scene set",
            "Move to another place or time of day",
            &[
                Parameter::new(
                    "location",
                    "A scene of the campaign, with its NPCs, or any place (- for none)",
                    Kind::Suggested(Suggested::Places, LONGEST_PLACE),
                ),
                Parameter::new(
                    "time",
                    "Time of day, such as dusk (- for none)",
                    Kind::Words(LONGEST_TIME),
                ),
                Parameter::new(
                    "music",
                    "Words for its music, such as tavern (default: the scene's own, - for none)",
                    Kind::Suggested(Suggested::Moods, LONGEST_PLACE),
                ),
            ],
            set,
        ),
        Subcommand::new(
            "scene enter",
            "Bring an NPC into the scene",
            &[Parameter::required("npc", "NPC that enters", Kind::Npc)],
            |face, call| {
                let (seat, _) = seat(face, call.words("npc")?)?;
                change(face, SceneChange::Enter(seat))
            },
        ),
        Subcommand::new(
            "scene leave",
            "Take an NPC out of the scene; it falls silent",
            &[Parameter::required("npc", "NPC that leaves", Kind::Npc)],
            |face, call| {
                let (seat, _) = seat(face, call.words("npc")?)?;
                change(face, SceneChange::Leave(seat))
            },
        ),
        Subcommand::new("scene show", "Show where you are and who is there", &[], |face, _| {
            with_status(face, |_, status| Ok(scene(&status).of(status)))
        }),
    ],
};

fn set(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let [location, time, music] = ["location", "time", "music"].map(|name| filled(call, name));
    if location.is_none() && time.is_none() && music.is_none() {
        return Err("no place or time given (use /scene set location, time, or both)".into());
    }
    change(face, SceneChange::Set { location, time, music })
}

fn change(face: &mut dyn Face, change: SceneChange) -> Result<Answer, Refusal> {
    face.tell(TableCommand::Scene(change))?;
    with_status(face, |_, status| Ok(scene(&status)))
}

/// A new place or time: empty if cleared, `None` if unchanged.
fn filled(call: &Call, option: &str) -> Option<String> {
    call.text(option).map(|text| if text == NOTHING { String::new() } else { text.to_owned() })
}

fn scene(status: &Status) -> Reply {
    Reply::private(shown(status)).titled("The scene")
}

fn shown(status: &Status) -> Text {
    let scene = &status.scene;
    let mut text = Text::of(scene.location.as_deref().unwrap_or("Nowhere in particular"));
    if let Some(time) = &scene.time_of_day {
        text = text.plain(format!(", {time}"));
    }
    let away = status.seats.iter().filter(|seat| !seat.present).map(|seat| seat.name.as_str());
    let away: Vec<&str> = away.collect();
    text = text.plain(match scene.present.as_slice() {
        [] => "\nNo NPC is here to answer (/scene enter brings one in).".to_owned(),
        here => format!("\nHere: {}", here.join(", ")),
    });
    if !away.is_empty() {
        text = text.plain(format!("\nNot here: {}", away.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            stand_in::{seat, status},
            text::Piece,
        },
        *,
    };
    use crate::session::SeatStatus;

    #[test]
    fn scene_says_which_npcs_are_there() {
        let words = |piece: &Piece| match piece {
            Piece::Plain(text)
            | Piece::Strong(text)
            | Piece::Others(text)
            | Piece::Marked(text) => text.clone(),
            Piece::Person(id) => id.0.to_string(),
        };
        let mut table = status(vec![
            seat("Bartok"),
            SeatStatus { present: false, ..seat("Mira") },
            SeatStatus { present: false, ..seat("Aldo") },
        ]);
        assert_eq!(
            shown(&table).rendered(words),
            "Nowhere in particular\nHere: Bartok\nNot here: Mira, Aldo"
        );
        table.scene.location = Some("The Old Mill".to_owned());
        table.scene.time_of_day = Some("dusk".to_owned());
        table.scene.present.clear();
        table.seats.clear();
        assert_eq!(
            shown(&table).rendered(words),
            "The Old Mill, dusk\nNo NPC is here to answer (/scene enter brings one in)."
        );
    }
}
