//! `/say`: a typed line to the NPCs, answered aloud, or refused if no NPC can answer.

use futures::{FutureExt, future::ready};

use super::{
    answer::{Answer, Next, Reply, with_status},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand},
    face::{Face, seat},
    text::{Refusal, Text},
    xcard,
};
use crate::{
    domain::Npc,
    logic::{
        command::typed_x_card_in,
        words::{Words, fold},
    },
    session::{Command as TableCommand, SeatId, SeatStatus, Seated, State, Status},
};

/// Longest line, in characters.
const LONGEST: u16 = 500;
/// Added to a line that is on no disk in time.
const NOT_WRITTEN: &str = "\nThis line isn't stored yet: it is lost if the bot stops right now.";
const DESCRIPTION: &str = "Say something to an NPC in writing; it answers aloud";

pub static COMMAND: Command = Command {
    name: "say",
    description: DESCRIPTION,
    subs: &[Subcommand::new(
        "say",
        DESCRIPTION,
        &[
            Parameter::required("text", "What you say", Kind::Words(LONGEST)),
            Parameter::new(
                "npc",
                "NPC to talk to (default: the one you name or talk with)",
                Kind::Npc,
            ),
        ],
        say,
    )
    .for_all()],
};

fn say(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let text = call.words("text")?.to_owned();
    if typed_x_card_in(&text).is_some() {
        // The user of the X-card stays anonymous.
        return xcard::halt(face);
    }
    let seat = match call.text("npc") {
        Some(name) => Some(seat(face, name)?.0),
        None => face.table().ok().and_then(|table| begins_with(&table.seats, &text)),
    };
    let speaker = call.speaker.clone();
    with_status(face, move |face, status| {
        let seat = seat.or_else(|| only_one(&status));
        if let Some(why) = unable(&status, seat).map(|why| status.card.map_or(why, str::to_owned)) {
            return Err(why.into());
        }
        let speaker = face.sit_down(speaker)?;
        let said = shown(&text, seat.and_then(|seat| status.of(seat)));
        face.tell(match seat {
            Some(seat) => TableCommand::TypedTo { speaker, seat, text },
            None => TableCommand::Typed { speaker, text },
        })?;
        let reply = match status.state {
            State::Paused => Reply::private(said.plain(
                "\nThe game master has paused the NPCs: they remember this but don't answer.",
            )),
            _ => Reply::public(said),
        };
        // The table has told it once it answers.
        let next = |taken: Result<Status, Refusal>| {
            Box::new(move |face: &mut dyn Face| {
                Ok::<_, Refusal>(once_written(face, reply, taken.is_ok()))
            }) as Next
        };
        let taken = face.status().unwrap_or_else(|refusal| ready(Err(refusal)).boxed());
        Ok(Answer::Soon(taken.map(next).boxed()))
    })
}

/// `reply` once the line is on a disk. Says if it is not in time, or if the table hasn't taken it.
fn once_written(face: &mut dyn Face, reply: Reply, is_taken: bool) -> Answer {
    let written = if is_taken { face.written() } else { ready(false).boxed() };
    let next = |is_written: bool| {
        let reply = match is_written {
            true => reply,
            false => Reply { text: reply.text.plain(NOT_WRITTEN), ..reply },
        };
        Box::new(move |_: &mut dyn Face| Ok::<_, Refusal>(Answer::Now(reply))) as Next
    };
    Answer::Soon(written.map(next).boxed())
}

/// The NPC that `text` begins with: its longest name, alias or first name that is followed by other
/// words without punctuation. "Bartok I have come far" is for Bartok; with a comma after the name,
/// the table itself finds the NPC.
fn begins_with(seats: &[Seated], text: &str) -> Option<SeatId> {
    let words = Words::of(text);
    let is_called = |npc: &Npc, name: &str| {
        let first_word = npc.name.split_whitespace().next();
        let names = std::iter::once(npc.name.as_str()).chain(first_word);
        names.chain(npc.aliases.iter().map(String::as_str)).any(|it| fold(it) == name)
    };
    (1..words.len()).rev().find_map(|count| {
        let behind = text.get(words.source(count - 1).end..)?;
        if words.is_possessive(count - 1) || !behind.starts_with(char::is_whitespace) {
            return None;
        }
        let name = words.iter().take(count).collect::<Vec<_>>().join(" ");
        let mut called = seats.iter().filter(|it| is_called(&it.npc, &name));
        let one = called.next()?;
        called.next().is_none().then_some(one.seat)
    })
}

/// The present NPC, if there is only one.
fn only_one(status: &Status) -> Option<SeatId> {
    let mut here = status.seats.iter().filter(|seat| seat.present).map(|seat| seat.id);
    here.next().filter(|_| here.next().is_none())
}

/// Why no NPC could answer; `None`: one can.
fn unable(status: &Status, seat: Option<SeatId>) -> Option<String> {
    let Some(seat) = seat.and_then(|seat| status.of(seat)) else {
        let able = status.seats.iter().any(|seat| seat.present && !seat.muted);
        return (!able).then(|| {
            "no NPC here can speak (the game master can change that: /npc unmuteall, /scene enter)"
                .to_owned()
        });
    };
    let name = &seat.name;
    match seat {
        SeatStatus { present: false, .. } => {
            let here = match status.scene.present.as_slice() {
                [] => "nobody".to_owned(),
                names => names.join(", "),
            };
            Some(format!("{name} is not in this scene (here: {here})"))
        }
        SeatStatus { muted: true, .. } => {
            Some(format!("{name} is muted (the game master can change that: /npc unmute)"))
        }
        _ => None,
    }
}

/// The line as everyone sees it.
fn shown(text: &str, npc: Option<&SeatStatus>) -> Text {
    let quoted = text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n");
    match npc {
        Some(npc) => Text::from("To ").strong(&npc.name).plain(format!(":\n{quoted}")),
        None => quoted.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        super::{
            Value,
            stand_in::{Recorded, seat, status},
        },
        *,
    };
    use crate::session::{Speaker, SpeakerId};

    #[test]
    fn line_without_able_npc_is_refused() {
        let absent = SeatStatus { present: false, ..seat("Mira") };
        let muted = SeatStatus { muted: true, ..seat("Bartok") };
        let table = status(vec![muted.clone(), absent]);
        assert_eq!(
            unable(&table, Some(SeatId(0))).unwrap(),
            "Bartok is muted (the game master can change that: /npc unmute)"
        );
        assert_eq!(
            unable(&table, Some(SeatId(1))).unwrap(),
            "Mira is not in this scene (here: Bartok)"
        );
        assert!(unable(&table, None).unwrap().contains("/npc unmuteall"));
        let table = status(vec![muted, seat("Mira")]);
        assert_eq!(unable(&table, Some(SeatId(1))), None);
        assert_eq!(unable(&table, None), None);
    }

    #[test]
    fn late_line_says_that_it_is_not_stored() {
        for writes in [true, false] {
            let mut table = Recorded::table();
            table.writes = writes;
            let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: false };
            let values = vec![("text", Value::Words("Bartok, hello".to_owned()))];
            let sub = COMMAND.sub("").unwrap();
            let told = table.carries_out(sub, &Call::new(speaker, values));
            assert_eq!(table.orders.len(), 1, "{:?}", table.orders);
            assert!(told.contains("Bartok, hello"), "{told}");
            assert_eq!(told.contains("isn't stored yet"), !writes, "{told}");
        }
    }

    #[test]
    fn line_that_begins_with_a_name_is_to_it() {
        let aliases = vec!["old boar".to_owned()];
        let bartok = Npc { aliases, ..Npc::plain("Bartok the Barkeep") };
        let cast = [bartok, Npc::plain("Captain Hale"), Npc::plain("Captain Rook")];
        let cast: Vec<Seated> = (0..)
            .map(SeatId)
            .zip(cast)
            .map(|(seat, npc)| Seated { seat, npc: Arc::new(npc) })
            .collect();
        for (text, seat) in [
            ("Bartok I have come far", Some(0)),
            ("bartok the barkeep good evening", Some(0)),
            ("Old boar an ale", Some(0)),
            ("Old boar, an ale", None),
            ("Bartok: hello", None),
            ("Captain Rook the gate is open", Some(2)),
            ("Captain is the gate open", None),
            ("Bartok's beer is good", None),
            ("Bartok", None),
            ("good evening Bartok", None),
            ("Guten Abend", None),
        ] {
            assert_eq!(begins_with(&cast, text), seat.map(SeatId), "{text}");
        }
    }

    #[test]
    fn only_npc_there_is_meant() {
        let absent = SeatStatus { present: false, ..seat("Mira") };
        assert_eq!(only_one(&status(vec![absent.clone(), seat("Bartok")])), Some(SeatId(1)));
        assert_eq!(only_one(&status(vec![seat("Mira"), seat("Bartok")])), None);
        assert_eq!(only_one(&status(vec![absent])), None);
    }
}
