//! Parses typed commands: `/npc direct Bartok 3: be brief`. Entry functions: [`read`], [`usage`].
//!
//! Values are in the order of the parameters, words follow the name of an NPC after a colon,
//! several words are separated by commas. Each may be labelled as in Discord (`name:Bartok`).

use super::{
    call::{Call, GivenFile, Value},
    declared::{Command, Kind, Parameter, Subcommand},
};
use crate::{
    logic::command::is_x_card,
    session::{Speaker, SpeakerId},
    yaml::nearest,
};

/// Shortest abbreviation, in characters.
const SHORTEST: usize = 3;
/// Most suggested commands.
const PROPOSED_MAX: usize = 3;

/// Why a line cannot be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypedError {
    #[error("unknown command '/{word}' ({instead})")]
    Unknown {
        word: String,
        /// The fix.
        instead: String,
    },
    /// Wrong usage of a command.
    #[error("use {0}")]
    Misused(String),
}

/// Players and files, as a face finds them by what is typed.
#[derive(Clone, Copy)]
pub struct Finders<'f> {
    /// The player of this name.
    pub person: &'f dyn Fn(&str) -> Option<SpeakerId>,
    /// The file of this name, which is not opened yet.
    pub file: &'f dyn Fn(&str) -> GivenFile,
}

/// The command in `all` that `line` names, and its use by `speaker`; `None` if the line does not begin with a
/// slash.
///
/// # Errors
/// The command is unknown, or its values are wrong.
pub fn read(
    all: &[&'static Command],
    line: &str,
    speaker: Speaker,
    found: Finders<'_>,
) -> Option<Result<(&'static Subcommand, Call), TypedError>> {
    let line = line.trim().strip_prefix('/')?;
    Some(find(all, line).and_then(|(sub, rest)| {
        let values = values(sub.parameters, rest, found);
        let values = values.ok_or_else(|| TypedError::Misused(usage(sub)))?;
        Ok((sub, Call::new(speaker, values)))
    }))
}

fn find<'l>(
    all: &[&'static Command],
    line: &'l str,
) -> Result<(&'static Subcommand, &'l str), TypedError> {
    let (word, rest) = first_word(line);
    let card = || all.iter().find(|it| it.name == "xcard")?.sub("");
    if (is_x_card(word) || is_x_card(line))
        && let Some(sub) = card()
    {
        // The X-card works with any text after it.
        return Ok((sub, ""));
    }
    // A slash alone asks for help.
    let word = if word.is_empty() { "help" } else { word };
    let command = all.iter().find(|it| it.name.eq_ignore_ascii_case(word));
    let command = command.ok_or_else(|| unknown(all, word))?;
    if let Some(sub) = command.sub("") {
        return Ok((sub, rest));
    }
    let (name, rest) = first_word(rest);
    let sub = command.sub(name).filter(|_| !name.is_empty());
    let names = || command.subs.iter().map(Subcommand::name).collect::<Vec<_>>().join(", ");
    let misused = || TypedError::Misused(format!("/{} {}", command.name, names()));
    Ok((sub.ok_or_else(misused)?, rest))
}

/// The word is a subcommand, a prefix of one, a slip, or unknown.
fn unknown(all: &[&'static Command], word: &str) -> TypedError {
    let lower = word.to_lowercase();
    let subs = all.iter().flat_map(|command| command.subs);
    let alike = subs
        .filter(|sub| lower.chars().count() >= SHORTEST && sub.name().starts_with(&lower))
        .take(PROPOSED_MAX);
    let alike: Vec<String> = alike.map(usage).collect();
    let instead = match (alike.as_slice(), nearest(word, all.iter().map(|it| it.name))) {
        ([], Some(near)) => format!("did you mean /{near}?"),
        ([], None) => "/help lists the commands".to_owned(),
        (alike, _) => format!("use {}", alike.join(" or ")),
    };
    TypedError::Unknown { word: word.to_owned(), instead }
}

/// Usage line of a subcommand: `/npc direct NAME [TURNS]: [NOTE]`.
pub fn usage(sub: &Subcommand) -> String {
    let words = |it: &&Parameter| is_words(it);
    let behind_name = has_colon(sub.parameters.iter());
    let (text, others): (Vec<&Parameter>, Vec<&Parameter>) =
        sub.parameters.iter().partition(|it| words(it));
    let text = text.iter().map(|it| shown(it, false)).collect::<Vec<_>>().join(", ");
    // A name that would be read as words needs its label.
    let needs_label = !text.is_empty() && !behind_name;
    let others = others.iter().map(|it| shown(it, needs_label)).collect::<Vec<_>>().join(" ");
    let usage = match behind_name {
        true => format!("/{} {others}: {text}", sub.path),
        false => format!("/{} {text} {others}", sub.path),
    };
    usage.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(parameter: &Parameter, needs_label: bool) -> String {
    let name = parameter.name;
    let upper = name.to_uppercase();
    let typed = match parameter.kind {
        Kind::Flag => name.to_owned(),
        Kind::Person => format!("{name}:NAME"),
        Kind::Npc if needs_label => format!("{name}:NAME"),
        Kind::Npc
        | Kind::Words(_)
        | Kind::Suggested(..)
        | Kind::OneOf(..)
        | Kind::Count(_)
        | Kind::File => upper,
    };
    if parameter.required { typed } else { format!("[{typed}]") }
}

/// True if words follow a name and a colon.
fn has_colon<'p>(mut parameters: impl Iterator<Item = &'p Parameter> + Clone) -> bool {
    let has_name = parameters.clone().any(|it| it.kind == Kind::Npc && it.required);
    has_name && parameters.any(is_words)
}

/// True where it takes words that are not an NPC's name.
const fn is_words(parameter: &Parameter) -> bool {
    parameter.kind.is_text() && !matches!(parameter.kind, Kind::Npc)
}

type Values = Vec<(&'static str, Value)>;

/// Values of these parameters; `None`: something is missing, or too much.
fn values(parameters: &'static [Parameter], rest: &str, found: Finders<'_>) -> Option<Values> {
    let (rest, labelled) = labelled(parameters, rest);
    let mut values = Vec::new();
    for (parameter, text) in labelled {
        values.push((parameter.name, value(parameter, text, found)?));
    }
    let is_given = |values: &Values, name: &str| values.iter().any(|(given, _)| *given == name);
    let open = parameters.iter().filter(|it| !is_given(&values, it.name)).collect();
    let positional = Positional { open, rest, values: Vec::new(), found }.read()?;
    values.extend(positional);
    let is_whole = parameters.iter().all(|it| !it.required || is_given(&values, it.name));
    is_whole.then_some(values)
}

/// Text before the first `label:value`, and all of these.
fn labelled<'l>(
    parameters: &'static [Parameter],
    text: &'l str,
) -> (&'l str, Vec<(&'static Parameter, &'l str)>) {
    let label_of = |word: &str| {
        parameters.iter().find(|it| {
            let value = word.strip_prefix(it.name).and_then(|rest| rest.strip_prefix(':'));
            value.is_some_and(|it| it.starts_with(|c: char| !c.is_whitespace()))
        })
    };
    let mut labels = Vec::new();
    let mut is_start = true;
    for (at, c) in text.char_indices() {
        if is_start && let Some(parameter) = text.get(at..).and_then(label_of) {
            labels.push((at, parameter));
        }
        is_start = c.is_whitespace();
    }
    let ends = labels.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    let values = labels.iter().zip(ends).filter_map(|((at, parameter), end)| {
        let value = text.get(at + parameter.name.len() + 1..end)?;
        Some((*parameter, value.trim()))
    });
    let before = labels.first().map_or(text, |(at, _)| text.get(..*at).unwrap_or_default());
    (before.trim(), values.collect())
}

fn value(parameter: &Parameter, text: &str, found: Finders<'_>) -> Option<Value> {
    Some(match parameter.kind {
        Kind::Npc | Kind::Words(_) | Kind::Suggested(..) | Kind::OneOf(..) => {
            Value::Words(text.to_owned())
        }
        Kind::File => Value::File((found.file)(text)),
        Kind::Count(_) => Value::Number(number(text)?),
        Kind::Flag => match text.to_lowercase().as_str() {
            "true" | "yes" => Value::Flag(true),
            "false" | "no" => Value::Flag(false),
            _ => return None,
        },
        Kind::Person => Value::Person((found.person)(text)?),
    })
}

/// A whole number, with or without a percent sign.
fn number(text: &str) -> Option<i64> {
    text.strip_suffix('%').unwrap_or(text).parse().ok()
}

/// Values without a label, in the order of their parameters.
struct Positional<'l> {
    /// Parameters without a value.
    open: Vec<&'static Parameter>,
    /// Unread text.
    rest: &'l str,
    values: Values,
    found: Finders<'l>,
}

impl<'l> Positional<'l> {
    /// `None`: some text is left over.
    fn read(mut self) -> Option<Values> {
        self.flags();
        if has_colon(self.open.iter().copied())
            && let Some((head, tail)) = self.rest.split_once(':')
        {
            self.words(tail);
            self.rest = head.trim();
        }
        self.numbers();
        self.one_of();
        let takes_rest = self.open.iter().find(|it| it.kind.is_text()).map(|it| it.kind);
        let rest = self.rest;
        match takes_rest {
            Some(Kind::Npc) => self.take(|it| it.kind == Kind::Npc, rest),
            Some(_) => self.words(rest),
            None if !rest.is_empty() => return None,
            None => {}
        }
        Some(self.values)
    }

    /// Assigns `text`, unless empty, to the first open parameter that is `wanted`.
    fn take(&mut self, wanted: impl Fn(&Parameter) -> bool, text: &str) {
        let Some(at) = self.open.iter().position(|it| wanted(it)) else { return };
        let parameter = self.open.remove(at);
        let text = text.trim();
        if !text.is_empty() {
            let value = match parameter.kind {
                Kind::File => Value::File((self.found.file)(text)),
                _ => Value::Words(text.to_owned()),
            };
            self.values.push((parameter.name, value));
        }
    }

    /// Sets flags whose names are at the end.
    fn flags(&mut self) {
        loop {
            let (before, last) = last_word(self.rest);
            let is_flag =
                |it: &&Parameter| it.kind == Kind::Flag && it.name.eq_ignore_ascii_case(last);
            let Some(at) = self.open.iter().position(is_flag) else { return };
            let flag = self.open.remove(at);
            self.values.push((flag.name, Value::Flag(true)));
            self.rest = before;
        }
    }

    /// Reads a number at the end.
    fn numbers(&mut self) {
        let (before, last) = last_word(self.rest);
        let count = self.open.iter().find(|it| matches!(it.kind, Kind::Count(_)));
        if let (Some(count), Some(number)) = (count, number(last)) {
            self.values.push((count.name, Value::Number(number)));
            self.rest = before;
        }
    }

    /// A choice: the first word if nothing is before it, else the last.
    fn one_of(&mut self) {
        let is_one_of = |it: &Parameter| matches!(it.kind, Kind::OneOf(..));
        let Some(at) = self.open.iter().position(|it| is_one_of(it)) else { return };
        let (word, rest) = match at {
            0 => first_word(self.rest),
            _ => {
                let (before, last) = last_word(self.rest);
                (last, before)
            }
        };
        self.rest = rest;
        self.take(is_one_of, word);
    }

    /// Words, separated by commas if several are possible.
    fn words(&mut self, text: &'l str) {
        let count = self.open.iter().filter(|it| is_words(it)).count();
        for part in text.splitn(count.max(1), ',') {
            self.take(is_words, part);
        }
    }
}

/// The first word, and the rest.
fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    (word, rest.trim())
}

/// The text before the last word, and that word.
fn last_word(text: &str) -> (&str, &str) {
    let (before, word) = text.trim().rsplit_once(char::is_whitespace).unwrap_or(("", text.trim()));
    (before.trim(), word)
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, future::ready};

    use super::{
        super::{ALL, SCENE},
        *,
    };

    fn file(path: &str) -> GivenFile {
        GivenFile::new(path, None, || ready(Ok(Vec::new())).boxed())
    }

    fn typed(line: &str) -> Result<String, TypedError> {
        let speaker = Speaker { id: SpeakerId(7), name: "Max".to_owned(), is_dm: true };
        let person = |name: &str| (name == "Anna").then_some(SpeakerId(8));
        let (sub, call) = read(&ALL, line, speaker, Finders { person: &person, file: &file })
            .expect("a slash")?;
        let given = sub.parameters.iter().filter_map(|it| {
            let value = match call.value(it.name)? {
                Value::Words(words) => words.clone(),
                Value::Number(number) => number.to_string(),
                Value::Flag(flag) => flag.to_string(),
                Value::Person(id) => format!("@{}", id.0),
                Value::File(file) => format!("<{}", file.name),
            };
            Some(format!(" {}={value}", it.name))
        });
        Ok(format!("{}{}", sub.path, given.collect::<String>()))
    }

    #[test]
    fn command_values_parse_by_name_or_position() {
        for (line, wanted) in [
            ("/npc mute Bartok the Barkeep", "npc mute name=Bartok the Barkeep"),
            ("/NPC Mute name:Bartok", "npc mute name=Bartok"),
            ("/npc muteall", "npc muteall"),
            ("/npc speak Bartok: Well: no.", "npc speak name=Bartok text=Well: no."),
            ("/npc speak name:Bartok text:Well, no.", "npc speak name=Bartok text=Well, no."),
            ("/npc direct Mira 3: be brief", "npc direct name=Mira note=be brief turns=3"),
            ("/npc direct Mira: be brief", "npc direct name=Mira note=be brief"),
            ("/npc direct Mira:", "npc direct name=Mira"),
            ("/npc direct Mira", "npc direct name=Mira"),
            ("/npc engine The Odo s2s", "npc engine name=The Odo engine=s2s"),
            ("/npc engine Odo s2s confirm", "npc engine name=Odo engine=s2s confirm=true"),
            (
                "/npc engine name:Odo engine:s2s confirm:True",
                "npc engine name=Odo engine=s2s confirm=true",
            ),
            ("/npc pin Mira player:Anna", "npc pin name=Mira player=@8"),
            ("/npc voice The Odo: piper joe", "npc voice name=The Odo voice=piper joe"),
            ("/tier set deep Bartok 5", "tier set tier=deep npc=Bartok minutes=5"),
            ("/tier set fast 5", "tier set tier=fast minutes=5"),
            ("/tier set deep npc:Bartok", "tier set tier=deep npc=Bartok"),
            ("/tier clear", "tier clear"),
            ("/scene set Old Mill, dusk", "scene set location=Old Mill time=dusk"),
            ("/scene set , dusk", "scene set time=dusk"),
            ("/scene set music:tavern", "scene set music=tavern"),
            ("/scene set the river", "scene set location=the river"),
            ("/say Mira, well: hello", "say text=Mira, well: hello"),
            ("/say hello npc:Bartok", "say text=hello npc=Bartok"),
            ("/character set Balin the Wise", "character set name=Balin the Wise"),
            ("/character set", "character set"),
            ("/tools revoke home.dust", "tools revoke tool=home.dust"),
            ("/music volume 50%", "music volume percent=50"),
            ("/music volume percent:50%", "music volume percent=50"),
            ("/xcard now, please", "xcard"),
            ("/xcard.", "xcard"),
            ("/X-Card", "xcard"),
            ("/x card!", "xcard"),
        ] {
            assert_eq!(typed(line).as_deref(), Ok(wanted), "{line}");
        }
    }

    #[test]
    fn command_values_of_the_world_parse() {
        for (line, wanted) in [
            ("/entity add Old Mill location", "entity add name=Old Mill type=location"),
            (
                "/entity add Old Mill, A ruin, mill, the ruin location secret",
                "entity add name=Old Mill type=location description=A ruin aliases=mill, the ruin secret=true",
            ),
            (
                "/entity add name:Old Mill type:location description:A ruin, burnt.",
                "entity add name=Old Mill type=location description=A ruin, burnt.",
            ),
            ("/entity list quest", "entity list type=quest"),
            ("/entity list", "entity list"),
            ("/entity remove Old Mill", "entity remove name=Old Mill"),
            ("/entity remove Old Mill confirm", "entity remove name=Old Mill confirm=true"),
            (
                "/entity import my files/mill, old.yaml",
                "entity import file=<my files/mill, old.yaml",
            ),
            ("/entity import vault.zip confirm", "entity import file=<vault.zip confirm=true"),
            (
                "/npc import my luna.png, piper amy secrets confirm",
                "npc import file=<my luna.png voice=piper amy secrets=true confirm=true",
            ),
            (
                "/npc import file:a, b.png voice:joe secrets:true confirm:true",
                "npc import file=<a, b.png voice=joe secrets=true confirm=true",
            ),
            ("/campaign load file:mill.yaml", "campaign load file=<mill.yaml"),
            ("/campaign switch The Sunken City", "campaign switch name=The Sunken City"),
            ("/privacy delete confirm", "privacy delete confirm=true"),
        ] {
            assert_eq!(typed(line).as_deref(), Ok(wanted), "{line}");
        }
    }

    #[test]
    fn wrong_lines_are_answered_with_right_ones() {
        for (line, wanted) in [
            ("/npc mute", "use /npc mute NAME"),
            ("/npc speak Mira", "use /npc speak NAME: TEXT"),
            ("/npc speak Mira:", "use /npc speak NAME: TEXT"),
            ("/npc engine s2s confirm", "use /npc engine NAME ENGINE [confirm]"),
            ("/npc unpin Mira", "use /npc unpin [player:NAME]"),
            ("/npc pin Mira player:Ben", "use /npc pin NAME [player:NAME]"),
            ("/tier set", "use /tier set TIER [NPC] [MINUTES]"),
            ("/scene", "use /scene set, enter, leave, show"),
            ("/say", "use /say TEXT [npc:NAME]"),
            ("/entity remove confirm", "use /entity remove NAME [confirm]"),
            ("/entity import", "use /entity import FILE [secrets] [confirm]"),
            ("/npc import confirm", "use /npc import FILE, [VOICE] [secrets] [confirm]"),
            ("/entity", "use /entity add, list, show, remove, import"),
            ("/privacy delete everything", "use /privacy delete [confirm]"),
            ("/tools revoke", "use /tools revoke TOOL"),
            ("/mute Mira", "unknown command '/mute' (use /npc mute NAME or /npc muteall)"),
            ("/optout", "unknown command '/optout' (use /privacy optout)"),
            ("/direct x", "unknown command '/direct' (use /npc direct NAME [TURNS]: [NOTE])"),
            ("/teir", "unknown command '/teir' (did you mean /tier?)"),
            ("/nonsense", "unknown command '/nonsense' (/help lists the commands)"),
        ] {
            assert_eq!(typed(line).unwrap_err().to_string(), wanted, "{line}");
        }
        assert_eq!(usage(&SCENE.subs[0]), "/scene set [LOCATION], [TIME], [MUSIC]");
    }

    #[test]
    fn paths_begin_with_their_command() {
        for command in ALL {
            for sub in command.subs {
                assert_eq!(sub.path.split(' ').next(), Some(command.name));
            }
        }
    }

    #[test]
    fn lines_without_a_slash_are_none() {
        let speaker = Speaker { id: SpeakerId(7), name: "Max".to_owned(), is_dm: true };
        for line in ["mute Bartok", "and/or", ""] {
            let found = Finders { person: &|_| None, file: &file };
            assert!(read(&ALL, line, speaker.clone(), found).is_none(), "{line}");
        }
    }
}
