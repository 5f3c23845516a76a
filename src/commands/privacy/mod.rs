//! `/privacy`: being heard or not, and what is stored. A face with more to delete adds subcommands of its
//! own.
//!
//! Entry items: [`COMMAND`], [`delete_own`] (once it is confirmed). **Never**: reveals whether
//! another player is heard, or deletes without a confirmation.

mod info;
mod sent;

pub use sent::{also_sent, deleted, question};

use super::{
    answer::{Answer, NextStep, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand},
    face::{Face, Lasting},
    text::{Refusal, Text},
};
use crate::session::Speaker;

/// Said to a player who has opted out.
pub const NOT_HEARD: &str = "I no longer hear you (/privacy optin undoes that).";
/// Said to a player who is heard again.
pub const HEARD: &str = "The characters hear you (/privacy optout undoes that).";
/// Name of the file that `/privacy export` brings.
const EXPORTED: &str = "what-you-said.txt";

/// `/privacy`.
pub static COMMAND: Command = Command {
    name: "privacy",
    description: "See what is heard of you and where it goes, or opt out",
    subs: &[
        Subcommand::new("privacy info", "Show what I hear of you, and where it goes", &[], info)
            .for_all(),
        Subcommand::new("privacy optout", "Stop being heard, at once", &[], |face, call| {
            heard(face, call, false)
        })
        .for_all(),
        Subcommand::new("privacy optin", "Let the characters hear you", &[], |face, call| {
            heard(face, call, true)
        })
        .for_all(),
        Subcommand::new(
            "privacy export",
            "Get what is written down about you, as a file only you see",
            &[],
            export,
        )
        .for_all(),
        Subcommand::new(
            "privacy delete",
            "Delete what you said, and what NPCs remember of you",
            &[Parameter::new("confirm", "Delete it at once", Kind::Flag).only_typed()],
            delete,
        )
        .for_all(),
    ],
};

fn info(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let hearing = face.hearing(call.speaker.id)?;
    let text = Text::default().marked(info::text(&hearing, &face.face_words()));
    // The button says the opposite of what is so now.
    let next_step = NextStep::Hear(!hearing.is_heard);
    Ok(Reply::private(text).titled("Your privacy").followed_by(next_step).into())
}

fn heard(face: &mut dyn Face, call: &Call, is_heard: bool) -> Result<Answer, Refusal> {
    face.keep(Lasting::Received(call.speaker.id, is_heard))?;
    Ok(Reply::private(if is_heard { HEARD } else { NOT_HEARD }).into())
}

fn export(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::after(face.own_words(&call.speaker), |_, words| match words {
        Err(Refusal(why)) => Err(Refusal(format!("I can't read what is stored about you: {why}"))),
        Ok(words) => Ok(Reply::private("Data stored about you. Only you see this.")
            .with_file(EXPORTED, words.into_bytes())),
    }))
}

/// Asks before anything is deleted, unless the caller has confirmed it.
fn delete(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    if call.flag("confirm") {
        return Ok(delete_own(face, &call.speaker));
    }
    let (place, speaker) = (face.face_words(), call.speaker.id);
    Ok(Answer::after(face.names_of(&call.speaker), move |_, names| match names {
        Err(Refusal(why)) => Err(Refusal(format!("I can't read what is stored: {why}"))),
        Ok(names) => Ok(Reply::private(question("you have", &place, &names))
            .followed_by(NextStep::DeleteOwn(speaker))),
    }))
}

/// Deletes what `speaker` has said, as they have confirmed.
pub fn delete_own(face: &mut dyn Face, speaker: &Speaker) -> Answer {
    Answer::after(face.forget(speaker), |_, done| done.map(|lines| Reply::private(deleted(lines))))
}

#[cfg(test)]
mod tests {
    use super::{super::stand_in::Recorded, *};
    use crate::{commands::Value, session::SpeakerId};

    #[test]
    fn words_are_deleted_only_when_confirmed() {
        let speaker = Speaker { id: SpeakerId(11), name: "Anna".to_owned(), is_dm: false };
        let sub = COMMAND.sub("delete").unwrap();
        let mut table = Recorded::table();
        let asked = table.carries_out(sub, &Call::new(speaker.clone(), Vec::new()));
        assert!(asked.contains("every line that you have said at this table"), "{asked}");
        assert!(asked.ends_with("/privacy delete confirm") && table.orders.is_empty(), "{asked}");
        let confirmed = Call::new(speaker, vec![("confirm", Value::Flag(true))]);
        let done = table.carries_out(sub, &confirmed);
        assert!(done.contains("Deleted: 2 lines"), "{done}");
        assert_eq!(table.orders, ["forget Anna"]);
    }
}
