//! `/npc`: the NPCs, silenced, spoken for, directed and pinned.
//!
//! Entry item: [`COMMAND`]. **Never**: shows a stage note or a secret of an NPC.

use std::sync::Arc;

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal, with_status},
    choices::npc_names,
    command::{Call, Command, Who},
    parts,
};
use crate::{
    campaign::engine_changed,
    discord::{
        guild::Guild,
        ui::{names::escaped, panel::seat_line, reply::Reply},
    },
    domain::{AddressMode, EngineKind, Npc},
    logic::cast::find_npc,
    session::{Command as TableCommand, SeatStatus, SpeakerId},
};

/// `/npc`.
pub const COMMAND: Command = Command { name: "npc", register, who: |_| Who::Dm, run, complete };

/// Longest line of the game master and longest note, in characters.
const LONGEST_LINE: u16 = 1_000;
const LONGEST_NOTE: u16 = 1_000;
/// Most turns that a note can be for.
const TURNS_MAX: u32 = 100;

fn register() -> CreateCommand {
    let name = |text| parts::npc("name", text).required(true);
    let named = |sub, text, whom| parts::sub(sub, text).add_sub_option(name(whom));
    let text = "sentence_cascade: a fast model opens; s2s: a model hears the players' own voices";
    let engine = parts::one_of("engine", text, 16, EngineKind::NAMES).required(true);
    parts::command("npc", "The NPCs: silence, speak for, direct or pin them")
        .add_option(parts::sub("list", "Show who is at the table, and their state"))
        .add_option(named("show", "Show everything about one NPC", "Which NPC"))
        .add_option(named(
            "mute",
            "Mute an NPC at once, even in the middle of a word",
            "NPC to mute",
        ))
        .add_option(named("unmute", "Let an NPC speak again", "NPC to unmute"))
        .add_option(parts::sub("muteall", "Mute every NPC at once, even in the middle of a word"))
        .add_option(parts::sub("unmuteall", "Let every NPC speak again"))
        .add_option(
            named("speak", "Speak your words in an NPC's voice", "NPC that speaks").add_sub_option(
                parts::words("text", "Words to speak", LONGEST_LINE).required(true),
            ),
        )
        .add_option(
            named("direct", "Give an NPC a secret note to act on", "NPC to direct")
                .add_sub_option(parts::words(
                    "note",
                    "What it should do (leave out to remove the note)",
                    LONGEST_NOTE,
                ))
                .add_sub_option(parts::count(
                    "turns",
                    "Number of its turns (default: until replaced)",
                    TURNS_MAX,
                )),
        )
        .add_option(
            named("engine", "Change an NPC's engine until the session ends", "NPC to change")
                .add_sub_option(engine)
                .add_sub_option(parts::flag(
                    "confirm",
                    "Change it (default: only tells the price of an hour and what leaves this machine)",
                )),
        )
        .add_option(
            named("pin", "Send what is said to this NPC unless it names another", "NPC to pin")
                .add_sub_option(parts::user(
                    "player",
                    "Only what this player says (default: everyone)",
                )),
        )
        .add_option(
            parts::sub("unpin", "End the pin: what is said goes to the NPC it is meant for")
                .add_sub_option(parts::user(
                    "player",
                    "Only what this player says (default: everyone)",
                )),
        )
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    if option == "name" { npc_names(guild) } else { Vec::new() }
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    match call.path.as_str() {
        "show" => show(guild, call),
        "mute" => mute(guild, Some(call.words("name")?), true),
        "unmute" => mute(guild, Some(call.words("name")?), false),
        "muteall" => mute(guild, None, true),
        "unmuteall" => mute(guild, None, false),
        "speak" => speak(guild, call),
        "direct" => direct(guild, call),
        "engine" => engine(guild, call),
        "pin" => pin(guild, call, Some(call.words("name")?)),
        "unpin" => pin(guild, call, None),
        _ => list(guild),
    }
}

fn list(guild: &Guild) -> Result<Answer, Refusal> {
    if guild.session().is_err() {
        let lines: Vec<String> = guild
            .cast()
            .iter()
            .map(|npc| format!("**{}** · up to {}", npc.name, npc.budget_tier))
            .collect();
        return Ok(Reply::private(lines.join("\n")).titled("The cast").into());
    }
    with_status(guild, |_, status| {
        let lines: Vec<String> = status.seats.iter().map(seat_line).collect();
        Ok(Reply::private(lines.join("\n")).titled("At the table"))
    })
}

fn show(guild: &Guild, call: &Call) -> Result<Answer, Refusal> {
    let cast = guild.cast();
    let (_, npc) = find_npc(&cast, call.words("name")?)?;
    if guild.session().is_err() {
        return Ok(Reply::private(described(npc, None)).titled(npc.name.clone()).into());
    }
    let npc = npc.clone();
    with_status(guild, move |_, status| {
        let seat = status.seats.iter().find(|seat| seat.name == npc.name);
        Ok(Reply::private(described(&npc, seat)).titled(npc.name.clone()))
    })
}

fn mute(guild: &mut Guild, name: Option<&str>, muted: bool) -> Result<Answer, Refusal> {
    let (seat, who) = match name {
        Some(name) => {
            let (seat, npc) = guild.seat(name)?;
            (Some(seat), npc.name.clone())
        }
        None => (None, "Everyone".to_owned()),
    };
    guild.tell(TableCommand::Mute { seat, muted })?;
    Ok(done(guild, format!("{who} {}.", if muted { "is muted" } else { "may speak again" })))
}

fn speak(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let (seat, npc) = guild.seat(call.words("name")?)?;
    let said = format!("{} says it.", npc.name);
    let text = call.words("text")?.to_owned();
    let speaker = guild.sit_down(call.speaker())?;
    guild.tell(TableCommand::Puppet { speaker, seat, text })?;
    Ok(done(guild, said))
}

fn direct(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let (seat, npc) = guild.seat(call.words("name")?)?;
    let (name, note) = (&npc.name, call.text("note").unwrap_or_default());
    let turns = match call.whole("turns") {
        None => None,
        Some(given) => match u32::try_from(given) {
            Ok(turns @ 1..=TURNS_MAX) => Some(turns),
            _ => {
                return Err(
                    format!("invalid number of turns '{given}' (use 1 to {TURNS_MAX})").into()
                );
            }
        },
    };
    let said = match (note, turns) {
        ("", _) => format!("{name} has no note."),
        (_, Some(1)) => format!("{name} acts on it in the next turn."),
        (_, Some(turns)) => format!("{name} acts on it for {turns} turns."),
        (_, None) => format!("{name} acts on it until you give another note, or none."),
    };
    guild.tell(TableCommand::Direct { seat, note: note.to_owned(), turns })?;
    Ok(done(guild, said))
}

fn engine(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let (_, npc) = guild.seat(call.words("name")?)?;
    let wanted = call.words("engine")?;
    let engine = EngineKind::named(wanted)
        .ok_or_else(|| format!("unknown engine '{wanted}' ({})", EngineKind::NAMES.join(", ")))?;
    let engines = &guild.session()?.engines;
    if !call.flag("confirm") {
        let offer = engines.offer(&npc.name, engine)?;
        return Ok(Reply::private(format!(
            "{offer}\n\nNothing has changed yet. To go ahead: /npc engine with confirm: True."
        ))
        .into());
    }
    let engines = Arc::clone(engines);
    // What players were told of counts as it was until now.
    guild.tell_of_services();
    engines.change(&npc.name, engine)?;
    guild.tell_of_services();
    Ok(done(guild, engine_changed(&npc.name, engine)))
}

fn pin(guild: &mut Guild, call: &Call, name: Option<&str>) -> Result<Answer, Refusal> {
    let player = call.user("player");
    let session = guild.session()?;
    let whose = match player {
        Some(player) => format!("What <@{player}> says"),
        None => "What anyone says".to_owned(),
    };
    let (seat, mut said) = match name {
        Some(name) => {
            let (seat, npc) = guild.seat(name)?;
            (Some(seat), format!("{whose} goes to {} unless they name another.", npc.name))
        }
        None => (None, format!("{whose} goes to the NPC it is meant for.")),
    };
    if let Some(player) = player.filter(|it| session.people.get(it.get()).is_none()) {
        said.push_str(&format!(" <@{player}> is not in <#{}>.", session.voice_channel));
    }
    let player = player.map(|player| SpeakerId(player.get()));
    session.tell(TableCommand::Pin { seat, player })?;
    Ok(done(guild, said))
}

/// Said when it is done; the panel shows it soon.
fn done(guild: &mut Guild, said: String) -> Answer {
    guild.refresh_panel_soon();
    Reply::private(said).into()
}

/// An NPC for its game master, as configured and as it sits at the table.
fn described(npc: &Npc, seat: Option<&SeatStatus>) -> String {
    let mut lines = Vec::new();
    if let Some(seat) = seat {
        lines.push(seat_line(seat));
        if !seat.pinned_by.is_empty() {
            lines.push(format!("Pinned: what {} says", seat.pinned_by.join(", ")));
        }
        match seat.note_turns_left {
            None => {}
            Some(None) => lines.push("Has a note, until you replace it".to_owned()),
            Some(Some(1)) => lines.push("Has a note for one more turn".to_owned()),
            Some(Some(turns)) => lines.push(format!("Has a note for {turns} more turns")),
        }
        lines.push(format!("Brain: {}", seat.brain));
    }
    if !npc.aliases.is_empty() {
        lines.push(format!("Also called: {}", npc.aliases.join(", ")));
    }
    lines.push(match npc.address {
        AddressMode::NameOnly => "Answers when named".to_owned(),
        AddressMode::Adaptive => "Answers when named, in conversation, or alone".to_owned(),
        AddressMode::Always => "Answers everything that isn't said to someone else".to_owned(),
    });
    lines.push(format!("Tier without an override: up to {}", npc.budget_tier));
    let voice = &npc.voice;
    let engine = seat.map_or(npc.engine, |seat| seat.engine);
    if engine == EngineKind::SpeechToSpeech {
        let voice = npc.s2s.voice.as_deref().unwrap_or("the service's own");
        let named = npc.s2s.provider.as_deref().map(|it| format!(" of {it}")).unwrap_or_default();
        lines.push(format!(
            "Engine: s2s, which hears the players' own voices · its voice: {voice}{named}"
        ));
        if let Some(because) = seat.and_then(|seat| seat.replaced.as_deref()) {
            lines.push(format!("Last answer: by the cascade, because {}", escaped(because)));
        }
    }
    if let Some(models) = npc.cascade.as_ref().filter(|_| engine == EngineKind::SentenceCascade) {
        let (opener, strong) = (escaped(&models.opener), escaped(&models.strong));
        lines.push(format!("Engine: sentence_cascade · {opener} opens, {strong} goes on"));
    }
    lines.push(format!("Voice: {} {} · language {}", voice.provider, voice.voice_id, npc.language));
    let tools = match npc.tools.as_slice() {
        [] => "none".to_owned(),
        tools => tools.join(", "),
    };
    lines.push(format!("Tools: {tools}"));
    lines.push(format!("\n{}", npc.personality.trim()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::seat, *};
    use crate::domain::S2s;

    #[test]
    fn an_npc_is_described_without_its_secrets() {
        let npc = Npc {
            aliases: vec!["Barkeep".to_owned()],
            personality: "Gruff, and kind to strays.\n".to_owned(),
            secret_knowledge: vec!["He has the key.".to_owned()],
            tools: vec!["dice-roller.*".to_owned()],
            ..Npc::plain("Bartok")
        };
        let sits = SeatStatus {
            muted: true,
            pinned_by: vec!["Mira".to_owned()],
            note_turns_left: Some(Some(2)),
            ..seat("Bartok")
        };
        expect_test::expect![[r#"
            **Bartok** · muted · up to standard
            Pinned: what Mira says
            Has a note for 2 more turns
            Brain: scripted
            Also called: Barkeep
            Answers when named, in conversation, or alone
            Tier without an override: up to fast
            Voice:  a · language en
            Tools: dice-roller.*

            Gruff, and kind to strays."#]]
        .assert_eq(&described(&npc, Some(&sits)));
        let hears = SeatStatus { engine: EngineKind::SpeechToSpeech, ..sits };
        let shown = described(&npc, Some(&hears));
        assert!(shown.starts_with("**Bartok** · s2s, hears own voices · muted"), "{shown}");
        assert!(
            shown.contains("\nEngine: s2s, which hears the players' own voices · its"),
            "{shown}"
        );
        assert!(described(&npc, None).starts_with("Also called: Barkeep"));
        let (provider, voice) = (Some("gemini-live".to_owned()), Some("Kore".to_owned()));
        let npc = Npc { s2s: S2s { provider, voice, ..S2s::default() }, ..npc };
        let shown = described(&npc, Some(&hears));
        assert!(shown.contains("its voice: Kore of gemini-live\n"), "{shown}");
    }
}
