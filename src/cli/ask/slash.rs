//! Lines that begin with a slash: what somebody at the table wants of the program itself.
//!
//! Entry function: [`parse`]. **Never**: does anything.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    domain::{EngineKind, Npc, Tier},
    logic::cast::NpcError,
    session::{Command, SceneChange, SeatId, Seated, SpeakerId},
};

/// What a line wants.
#[derive(Debug)]
pub enum Slash {
    /// Something of the table, and what is said about it.
    Do(Command, String),
    /// To see something.
    Show(Shown),
    /// An answer of the game master's assistant.
    Ask(String),
    /// Another engine for an NPC.
    Engine {
        /// Its name.
        npc: String,
        /// The engine.
        engine: EngineKind,
        /// The price is known.
        confirmed: bool,
    },
    /// To see which tools ask nobody any more.
    Permits,
    /// That a tool asks again.
    Revoke(String),
    /// To know what there is, a line each.
    Help(Vec<&'static str>),
    /// Not to be at the table until the next line.
    Leave,
    /// Not to be heard any more, or to be heard again.
    OptOut(bool),
}

/// What can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The table and everybody at it.
    Status,
    /// The NPCs' tiers.
    Tiers,
    /// Where the game is.
    Scene,
}

/// Who has typed a line, and to whom.
#[derive(Clone, Copy, Debug)]
pub struct Typist<'a> {
    /// Whose line it is.
    pub speaker: SpeakerId,
    /// May steer the table.
    pub is_dm: bool,
    /// Who is at the table.
    pub cast: &'a [Seated],
    /// When it was typed: times of commands count from then.
    pub now: Instant,
}

/// Why a line is not done.
#[derive(Debug, thiserror::Error)]
pub enum SlashError {
    /// There is no such command.
    #[error("unknown command '/{word}' (commands: {usages})")]
    Unknown {
        /// What was typed.
        word: String,
        /// What there is.
        usages: String,
    },
    /// It is the game master's.
    #[error("only the game master may /{0} (start with --as-dm)")]
    NotAllowed(&'static str),
    /// It is used otherwise.
    #[error("use {0}")]
    Misused(&'static str),
    /// It names no NPC.
    #[error(transparent)]
    Npc(#[from] NpcError),
    /// What else it names is not there.
    #[error("{0}")]
    Named(String),
}

/// A command: its word, how it is used, and whether anybody may.
struct Form {
    word: &'static str,
    usage: &'static str,
    for_all: bool,
    read: fn(&Typist<'_>, &str) -> Result<Slash, SlashError>,
}

const fn form(
    word: &'static str,
    usage: &'static str,
    read: fn(&Typist<'_>, &str) -> Result<Slash, SlashError>,
) -> Form {
    Form { word, usage, for_all: false, read }
}

const fn for_all(
    word: &'static str,
    usage: &'static str,
    read: fn(&Typist<'_>, &str) -> Result<Slash, SlashError>,
) -> Form {
    Form { for_all: true, ..form(word, usage, read) }
}

/// All commands, in the order in which they are listed.
const FORMS: &[Form] = &[
    form("mute", "/mute NAME or all", |typist, rest| mute(typist, rest, true)),
    form("unmute", "/unmute NAME or all", |typist, rest| mute(typist, rest, false)),
    form("speak", "/speak NAME: words in its voice", speak),
    for_all("say", "/say NAME: words to it", say),
    form("ask", "/ask QUESTION for your assistant", ask),
    form("tier", "/tier set TIER [NAME] [MINUTES], clear [NAME], show", tier),
    form("scene", "/scene set PLACE[, TIME], enter NAME, leave NAME, show", scene),
    form("direct", "/direct NAME [TURNS]: secret note", direct),
    form(
        "engine",
        "/engine NAME cascaded, sentence_cascade or s2s [confirm]: without confirm, the price",
        engine,
    ),
    form("tools", "/tools permits, revoke TOOL", tools),
    form("pin", "/pin NAME", pin),
    form("unpin", "/unpin", |_, _| {
        Ok(done(Command::Pin { seat: None, player: None }, "no NPC is pinned"))
    }),
    for_all("character", "/character NAME", character),
    form("skip", "/skip", |_, _| Ok(done(Command::Skip, "skipped"))),
    form("pause", "/pause", |_, _| {
        Ok(done(Command::Pause(true), "paused: NPCs stay silent until /resume"))
    }),
    form("resume", "/resume", |_, _| Ok(done(Command::Pause(false), "resumed"))),
    for_all("xcard", "/xcard", |_, _| {
        Ok(done(Command::Halt, "only the game master can undo this (/unmute all)"))
    }),
    for_all("status", "/status", |_, _| Ok(Slash::Show(Shown::Status))),
    for_all("help", "/help", |typist, _| Ok(Slash::Help(usages(typist.is_dm).collect()))),
    for_all("leave", "/leave", |_, _| Ok(Slash::Leave)),
    for_all("optout", "/optout", |_, _| Ok(Slash::OptOut(true))),
    for_all("optin", "/optin", |_, _| Ok(Slash::OptOut(false))),
];

/// What a line wants; `None` when it does not begin with a slash.
///
/// # Errors
/// There is no such command, it is used wrongly, or it is the game master's.
pub fn parse(line: &str, typist: &Typist<'_>) -> Option<Result<Slash, SlashError>> {
    let line = line.trim().strip_prefix('/')?;
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let form = FORMS.iter().find(|form| form.word.eq_ignore_ascii_case(word));
    Some(match form {
        None if word.is_empty() => Ok(Slash::Help(usages(typist.is_dm).collect())),
        None => {
            let usages = usages(typist.is_dm).collect::<Vec<_>>().join("; ");
            Err(SlashError::Unknown { word: word.to_owned(), usages })
        }
        Some(form) if !form.for_all && !typist.is_dm => Err(SlashError::NotAllowed(form.word)),
        Some(form) => (form.read)(typist, rest.trim()).map_err(|why| match why {
            SlashError::Misused(_) => SlashError::Misused(form.usage),
            other => other,
        }),
    })
}

/// What this typist may use.
fn usages(is_dm: bool) -> impl Iterator<Item = &'static str> {
    FORMS.iter().filter(move |form| is_dm || form.for_all).map(|form| form.usage)
}

/// Used wrongly; [`parse`] says how it is used.
const USAGE: SlashError = SlashError::Misused("");

fn done(command: Command, said: &str) -> Slash {
    Slash::Do(command, said.to_owned())
}

fn npc<'a>(typist: &Typist<'a>, name: &str) -> Result<(SeatId, &'a Npc), SlashError> {
    if name.is_empty() {
        return Err(USAGE);
    }
    let Seated { seat, npc } = Seated::find(typist.cast, name)?;
    Ok((*seat, npc))
}

/// `NAME: words`.
fn name_and_words<'a, 'l>(
    typist: &Typist<'a>,
    rest: &'l str,
) -> Result<(SeatId, &'a Npc, &'l str), SlashError> {
    let (name, words) = rest.split_once(':').ok_or(USAGE)?;
    let (seat, npc) = npc(typist, name.trim())?;
    Ok((seat, npc, words.trim()))
}

fn mute(typist: &Typist<'_>, rest: &str, muted: bool) -> Result<Slash, SlashError> {
    let (seat, who) = match rest {
        "all" => (None, "everyone"),
        name => npc(typist, name).map(|(seat, npc)| (Some(seat), npc.name.as_str()))?,
    };
    let said = if muted { "is muted" } else { "may speak" };
    Ok(done(Command::Mute { seat, muted }, &format!("{who} {said}")))
}

fn speak(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let (seat, npc, text) = name_and_words(typist, rest)?;
    if text.is_empty() {
        return Err(USAGE);
    }
    let command = Command::Puppet { speaker: typist.speaker, seat, text: text.to_owned() };
    Ok(done(command, &format!("{} says it", npc.name)))
}

fn say(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let (seat, npc, text) = name_and_words(typist, rest)?;
    if text.is_empty() {
        return Err(USAGE);
    }
    let command = Command::TypedTo { speaker: typist.speaker, seat, text: text.to_owned() };
    Ok(done(command, &format!("to {}", npc.name)))
}

fn ask(_: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    if rest.is_empty() { Err(USAGE) } else { Ok(Slash::Ask(rest.to_owned())) }
}

fn tools(_: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    match rest.split_once(char::is_whitespace) {
        None if rest == "permits" => Ok(Slash::Permits),
        Some(("revoke", tool)) => Ok(Slash::Revoke(tool.trim().to_owned())),
        _ => Err(USAGE),
    }
}

fn engine(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let confirming =
        rest.strip_suffix("confirm").filter(|rest| rest.ends_with(char::is_whitespace));
    let (name, engine) =
        confirming.unwrap_or(rest).trim().rsplit_once(char::is_whitespace).ok_or(USAGE)?;
    let engine = EngineKind::named(engine).ok_or(USAGE)?;
    let (_, npc) = npc(typist, name.trim())?;
    Ok(Slash::Engine { npc: npc.name.clone(), engine, confirmed: confirming.is_some() })
}

fn direct(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let (name, note) = rest.split_once(':').ok_or(USAGE)?;
    let (name, turns) = last_number(name.trim());
    let (seat, npc) = npc(typist, name)?;
    let said = match (note.trim().is_empty(), turns) {
        (true, _) => format!("{} has no note", npc.name),
        (false, Some(turns)) => format!("{} follows the note for {turns} turns", npc.name),
        (false, None) => format!("{} follows the note until you change it", npc.name),
    };
    Ok(done(Command::Direct { seat, note: note.to_owned(), turns }, &said))
}

/// A number at the end, and what is before it.
fn last_number(text: &str) -> (&str, Option<u32>) {
    let (before, last) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
    match last.parse() {
        Ok(number) => (before.trim(), Some(number)),
        Err(_) => (text, None),
    }
}

fn tier(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let (what, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let whom = |name: &str| match name {
        "" => Ok((None, "everyone")),
        name => npc(typist, name).map(|(seat, npc)| (Some(seat), npc.name.as_str())),
    };
    match what {
        "show" => Ok(Slash::Show(Shown::Tiers)),
        "clear" => {
            let (seat, who) = whom(rest.trim())?;
            let command = Command::SetTier { seat, tier: None, until: None };
            Ok(done(command, &format!("{who}: automatic tier")))
        }
        "set" => {
            let rest = rest.trim();
            let (tier, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let tier: Tier = tier.parse().map_err(SlashError::Named)?;
            let (name, minutes) = last_number(rest.trim());
            let (seat, who) = whom(name)?;
            let length = |minutes| Duration::from_secs(u64::from(minutes) * 60);
            let until = minutes.map(|minutes| typist.now + length(minutes));
            let long = minutes.map(|minutes| format!(" for {minutes} min")).unwrap_or_default();
            let command = Command::SetTier { seat, tier: Some(tier), until };
            Ok(done(command, &format!("{who}: tier {tier}{long}")))
        }
        _ => Err(USAGE),
    }
}

fn scene(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let (what, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    let seat = || npc(typist, rest).map(|(seat, npc)| (seat, &npc.name));
    let (change, said) = match what {
        "show" => return Ok(Slash::Show(Shown::Scene)),
        "enter" => seat()
            .map(|(seat, name)| (SceneChange::Enter(seat), format!("{name} enters the scene")))?,
        "leave" => seat()
            .map(|(seat, name)| (SceneChange::Leave(seat), format!("{name} leaves the scene")))?,
        "set" if !rest.is_empty() => {
            let (place, time) = match rest.split_once(',') {
                Some((place, time)) => (place.trim(), Some(time.trim().to_owned())),
                None => (rest, None),
            };
            // `, dusk` leaves the place as it is.
            let location = Some(place.to_owned()).filter(|place| !place.is_empty());
            (SceneChange::Set { location, time, music: None }, format!("the scene is {rest}"))
        }
        _ => return Err(USAGE),
    };
    Ok(Slash::Do(Command::Scene(change), said))
}

fn pin(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let (seat, npc) = npc(typist, rest)?;
    let command = Command::Pin { seat: Some(seat), player: None };
    Ok(done(command, &format!("everything you say goes to {}", npc.name)))
}

fn character(typist: &Typist<'_>, rest: &str) -> Result<Slash, SlashError> {
    let name = Some(rest.to_owned()).filter(|name| !name.is_empty());
    let said = match &name {
        Some(name) => format!("the NPCs call you {name}"),
        None => "the NPCs call you by your own name".to_owned(),
    };
    Ok(Slash::Do(Command::Character { speaker: typist.speaker, name }, said))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn read(line: &str, is_dm: bool) -> Option<Result<Slash, SlashError>> {
        let npcs = ["Bartok the Barkeep", "Mira"].map(|name| Arc::new(Npc::plain(name)));
        let cast: Vec<Seated> =
            (0..).map(SeatId).zip(npcs).map(|(seat, npc)| Seated { seat, npc }).collect();
        let typist = Typist { speaker: SpeakerId(0), is_dm, cast: &cast, now: Instant::now() };
        parse(line, &typist)
    }

    #[test]
    fn lines_without_a_slash_are_said() {
        assert!(read("mute Bartok", true).is_none());
        assert!(read("and/or", true).is_none());
    }

    #[test]
    fn names_minutes_and_turns_are_told_apart() {
        let does = |line: &str| match read(line, true) {
            Some(Ok(Slash::Do(command, said))) => (format!("{command:?}"), said),
            other => panic!("{line}: {other:?}"),
        };
        let (command, said) = does("/tier set deep bartok 5");
        assert!(
            command.contains("seat: Some(SeatId(0)), tier: Some(Deep)")
                && !command.contains("until: None")
        );
        assert_eq!(said, "Bartok the Barkeep: tier deep for 5 min");
        assert!(does("/tier set fast 5").0.contains("seat: None, tier: Some(Fast), until: Some"));
        assert!(does("/tier set fast").0.ends_with("until: None }"));
        assert_eq!(does("/direct Mira 3: be brief").1, "Mira follows the note for 3 turns");
        assert!(
            does("/scene set Old Mill, dusk").0.contains(r#"Some("Old Mill"), time: Some("dusk")"#)
        );
        assert!(does("/scene set , dusk").0.contains(r#"location: None, time: Some("dusk")"#));
    }

    #[test]
    fn engine_is_the_word_after_the_name() {
        let reads = |line: &str| match read(line, true) {
            Some(Ok(Slash::Engine { npc, engine, confirmed })) => (npc, engine, confirmed),
            other => panic!("{line}: {other:?}"),
        };
        let bartok = "Bartok the Barkeep".to_owned();
        let offer = reads("/engine Bartok the Barkeep s2s");
        assert_eq!(offer, (bartok.clone(), EngineKind::SpeechToSpeech, false));
        let change = reads("/engine bartok cascaded confirm");
        assert_eq!(change, (bartok, EngineKind::Cascaded, true));
    }

    #[test]
    fn wrong_lines_say_what_is_right() {
        let wrong = |line: &str, is_dm| match read(line, is_dm) {
            Some(Err(why)) => why.to_string(),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(wrong("/pin", true), "use /pin NAME");
        assert_eq!(wrong("/tools revoke", true), "use /tools permits, revoke TOOL");
        assert_eq!(wrong("/speak Mira", true), "use /speak NAME: words in its voice");
        assert!(wrong("/engine Mira loud", true).starts_with("use /engine NAME"));
        assert!(wrong("/engine s2s confirm", true).starts_with("use /engine NAME"));
        assert!(wrong("/pin Pip", true).contains("npc 'Pip'"));
        assert!(wrong("/tier set slow", true).starts_with("unknown tier 'slow'"));
        assert_eq!(
            wrong("/mute Mira", false),
            "only the game master may /mute (start with --as-dm)"
        );
        let list = wrong("/nonsense", false);
        assert!(list.contains("/xcard") && !list.contains("/mute"), "{list}");
    }
}
