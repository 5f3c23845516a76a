//! `/npc`: mutes, speaks for, directs, pins and imports NPCs, and changes their voices. **Never**: shows a stage note or a secret.

mod described;
mod told;
mod voice;

use super::{
    answer::{Answer, Reply, with_status},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested, WORD_MAX},
    face::Face,
    import,
    text::{Refusal, Text},
};
use crate::{
    campaign::{VOICE_LINE_MAX, engine_changed},
    commands::face::seat,
    domain::EngineKind,
    logic::cast::find_npc,
};

pub use described::seat_line;
pub use told::mute;
pub use voice::hear as hear_voice;

/// Longest line of the game master and longest note, in characters.
const LONGEST_LINE: u16 = 1_000;
const LONGEST_NOTE: u16 = 1_000;
/// Longest name of a voice, in characters.
const VOICE_MAX: u16 = 100;

const PLAYER: Parameter =
    Parameter::new("player", "Only what this player says (default: everyone)", Kind::Person);

const fn name(description: &'static str) -> Parameter {
    Parameter::required("name", description, Kind::Npc)
}

pub static COMMAND: Command = Command {
    name: "npc",
    description: "The NPCs: silence, speak for, direct or pin them",
    subs: &[
        Subcommand::new("npc list", "Show who is at the table, and their state", &[], |face, _| {
            list(face)
        }),
        Subcommand::new("npc show", "Show everything about one NPC", &[name("Which NPC")], show),
        Subcommand::new(
            "npc mute",
            "Mute an NPC at once, even in the middle of a word",
            &[name("NPC to mute")],
            |face, call| mute(face, Some(call.words("name")?), true),
        ),
        Subcommand::new(
            "npc unmute",
            "Let an NPC speak again",
            &[name("NPC to unmute")],
            |face, call| mute(face, Some(call.words("name")?), false),
        ),
        Subcommand::new(
            "npc muteall",
            "Mute every NPC at once, even in the middle of a word",
            &[],
            |face, _| mute(face, None, true),
        ),
        Subcommand::new("npc unmuteall", "Let every NPC speak again", &[], |face, _| {
            mute(face, None, false)
        }),
        Subcommand::new(
            "npc speak",
            "Speak your words in an NPC's voice",
            &[
                name("NPC that speaks"),
                Parameter::required("text", "Words to speak", Kind::Words(LONGEST_LINE)),
            ],
            told::speak,
        ),
        Subcommand::new(
            "npc direct",
            "Give an NPC a secret note to act on",
            &[
                name("NPC to direct"),
                Parameter::new(
                    "note",
                    "What it should do (leave out to remove the note)",
                    Kind::Words(LONGEST_NOTE),
                ),
                Parameter::new(
                    "turns",
                    "Number of its turns (default: until replaced)",
                    Kind::Count(told::TURNS_MAX),
                ),
            ],
            told::direct,
        ),
        Subcommand::new(
            "npc engine",
            "Change an NPC's engine until the session ends",
            &[
                name("NPC to change"),
                Parameter::required(
                    "engine",
                    "sentence_cascade: a fast model opens; s2s: a model hears the players' own voices",
                    Kind::OneOf(&EngineKind::NAMES, WORD_MAX),
                ),
                Parameter::new(
                    "confirm",
                    "Change it (default: only tells the price of an hour and what leaves this machine)",
                    Kind::Flag,
                ),
            ],
            change,
        ),
        Subcommand::new(
            "npc voice",
            "Change an NPC's voice until the session ends",
            &[
                name("NPC to change"),
                Parameter::required(
                    "voice",
                    "Voice, such as piper joe",
                    Kind::Suggested(Suggested::Voices, VOICE_LINE_MAX),
                ),
            ],
            voice::change,
        ),
        Subcommand::new(
            "npc pin",
            "Send all words to this NPC unless they name another",
            &[name("NPC to pin"), PLAYER],
            |face, call| told::pin(face, call, Some(call.words("name")?)),
        ),
        Subcommand::new(
            "npc unpin",
            "End the pin: words go to the NPC they name or talk with",
            &[PLAYER],
            |face, call| told::pin(face, call, None),
        ),
        Subcommand::new(
            "npc import",
            "Import NPCs from another program, after showing what changes",
            &[
                Parameter::required(
                    "file",
                    "Character card, file of Foundry VTT or Roll20, or notes (a ZIP)",
                    Kind::File,
                ),
                Parameter::new(
                    "voice",
                    "Name of a voice (default: one that fits)",
                    Kind::Words(VOICE_MAX),
                ),
                import::SECRETS,
                import::CONFIRM,
            ],
            import::npcs,
        ),
    ],
};

fn list(face: &mut dyn Face) -> Result<Answer, Refusal> {
    if face.table().is_err() {
        let cast = face.cast();
        let lines = cast
            .iter()
            .map(|npc| Text::of(&npc.name).plain(format!(" · up to {}", npc.budget_tier)));
        return Ok(Reply::private(Text::lines(lines)).titled("The cast").into());
    }
    with_status(face, |_, status| {
        let lines = Text::lines(status.seats.iter().map(seat_line));
        Ok(Reply::private(lines).titled("At the table"))
    })
}

fn show(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let cast = face.cast();
    let (_, npc) = find_npc(&cast, call.words("name")?)?;
    if face.table().is_err() {
        let text = described::described(npc, None);
        return Ok(Reply::private(text).titled(npc.name.clone()).into());
    }
    let npc = npc.clone();
    with_status(face, move |_, status| {
        let seat = status.seats.iter().find(|seat| seat.name == npc.name);
        Ok(Reply::private(described::described(&npc, seat)).titled(npc.name.clone()))
    })
}

/// Shows the price of another engine; changes to it if confirmed.
pub fn change(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (_, npc) = seat(face, call.words("name")?)?;
    let (name, wanted) = (&npc.name, call.words("engine")?);
    let engine = EngineKind::named(wanted)
        .ok_or_else(|| format!("unknown engine '{wanted}' ({})", EngineKind::NAMES.join(", ")))?;
    if !call.flag("confirm") {
        let offer = face.table()?.engines.offer(name, engine)?;
        let short = engine.short();
        return Ok(Reply::private(format!(
            "{offer}\n\nNothing has changed yet. To go ahead: /npc engine name:{name} \
             engine:{short} confirm:True"
        ))
        .into());
    }
    face.change_engine(name, engine)?;
    Ok(Reply::private(engine_changed(name, engine)).into())
}
