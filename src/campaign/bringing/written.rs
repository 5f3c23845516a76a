//! A draft of an NPC as a file that describes it.
//!
//! Entry functions: [`written`], [`marked`], [`Mark::of`]. Imported text is escaped: `${NAME}` stays these
//! characters, braces of spoken lines become parentheses, headings lose their marks, and invisible
//! characters are dropped.

use std::{collections::BTreeMap, ops::RangeInclusive};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{
    examples::examples,
    lines::{SpokenLine, lines},
    voice::{ChosenVoice, VoiceOffer},
};
use crate::{
    domain::{hex, one_line, revealed_name, visible},
    import::{
        campaign::check_respelling,
        draft::{NpcDraft, Passage},
    },
    yaml::{Position, Problems},
};

/// Longest description, in characters: small models read about twice as much at once.
const PERSONALITY_MAX: usize = 8_000;
/// Longest secrets, in characters.
const SECRETS_MAX: usize = 8_000;
/// Longest text for the game master, and all of them together, in characters.
const NOTE_MAX: usize = 4_000;
const NOTES_MAX: usize = 100_000;
/// Longest name, in characters.
const NAME_MAX: usize = 80;
/// Longest respelling, in characters.
const SAID_MAX: usize = 60;
/// Reason a respelling is left out.
pub const NOT_SAYABLE: &str = "it is not in plain letters, or too long";
/// Values that `max_sentences` may have.
const SENTENCES: RangeInclusive<u64> = 1..=20;
/// Begins the comment on a voice.
const CHOSEN: &str = "Chosen because ";
/// Begins the first line of a file that was made here.
const MARK: &str = "# glyphoxa import ";
/// Digits of a hash in that line.
const HASH: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub draft: &'a NpcDraft,
    pub aliases: &'a [String],
    /// Facts always in the prompt, each with its name.
    pub standing: &'a [(String, String)],
    /// Lines of the voice in the earlier file; `None`: `voice` is written.
    pub kept_voice: Option<&'a str>,
    /// Their voice; `None`: the configured default.
    pub voice: Option<&'a ChosenVoice>,
    /// ISO 639-1 code of the language they speak.
    pub language: &'a str,
    pub knows_secrets: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    /// Characters that had no room.
    pub cut: usize,
    /// Greetings and examples that became no line.
    pub unused: usize,
    /// False if a pronunciation is left out.
    pub is_pronounced: bool,
}

/// First line of an imported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub source: String,
    /// Hash of the content as it was made.
    content: String,
}

impl Mark {
    /// The mark of a file, and the content behind it; `None`: it was not made here.
    pub fn of(text: &str) -> Option<(Self, &str)> {
        let (first, rest) = text.split_once('\n')?;
        let mut words = first.trim_end().strip_prefix(MARK)?.split(' ');
        let mut hash = || words.next().filter(|it| it.len() == HASH).map(str::to_owned);
        Some((Self { source: hash()?, content: hash()? }, rest))
    }

    pub fn is_as_made(&self, content: &str) -> bool {
        hash(content) == self.content
    }
}

pub fn hash(text: &str) -> String {
    let mut digits = hex(&Sha256::digest(text));
    digits.truncate(HASH);
    digits
}

pub fn marked(source: &str, content: &str) -> String {
    format!("{MARK}{} {}\n{content}", hash(source), hash(content))
}

pub fn written(parts: &Parts<'_>) -> Written {
    let Parts { draft, aliases, standing, kept_voice, voice, language, knows_secrets } = *parts;
    let mut file = File::default();
    file.comment(&format!("From {}. Change what you like:", draft.file));
    file.comment("a file that you have changed is kept as it is by later imports.");
    file.line(&format!("name: {}", quoted(&name(&draft.name))));
    if !aliases.is_empty() {
        file.line(&format!("aliases: {}", list(aliases.iter().map(|it| name(it)))));
    }
    file.line(&format!("language: {language}"));
    let is_pronounced = pronunciation(&mut file, draft);
    if let Some(own) = &draft.extension {
        of_card(&mut file, own);
    }
    let mut cut = personality(&mut file, draft, standing);
    if knows_secrets {
        cut += secrets(&mut file, &draft.secrets);
    }
    file.blank();
    if let Some(lines) = kept_voice {
        file.0.push_str(lines);
    } else if let Some(voice) = voice {
        file.comment(&format!("{CHOSEN}{} (glyphoxa ask lets you hear it).", voice.why));
        file.line(&format!("voice: {}", of_voice(voice)));
    }
    file.comment("Said without a chat model: from greetings and example lines, and a few of ours.");
    file.line("lines:");
    let (lines, unused) = lines(draft, language);
    lines.iter().for_each(|line| file.spoken(line));
    notes(&mut file, &draft.for_dm);
    Written { text: file.0, cut, unused, is_pronounced }
}

/// Lines of the voice in `content`, which an import made, if it speaks `language` with one of `offers`.
pub fn voice_in<'c>(content: &'c str, language: &str, offers: &[VoiceOffer]) -> Option<&'c str> {
    // Texts of others are indented, or comments behind the voice.
    let (before, _) = content.split_once(&format!("\n# {CHOSEN}"))?;
    let lines = content.get(before.len() + 1..)?;
    let (comment, rest) = lines.split_once('\n')?;
    let voice = rest.split('\n').next()?;
    let is_of = |it: &VoiceOffer| {
        voice.starts_with(&format!("voice: {{ {}", identity(it.service.name(), &it.voice_id)))
    };
    let is_kept = before.contains(&format!("\nlanguage: {language}\n")) && offers.iter().any(is_of);
    lines.get(..comment.len() + voice.len() + 2).filter(|_| is_kept)
}

/// Keys of a voice that tell it from others.
fn identity(provider: &str, voice_id: &str) -> String {
    format!("provider: {provider}, voice_id: {}", quoted(voice_id))
}

/// Adds the pronunciation of an exported card, or else the one in the texts; false if a part is left out.
fn pronunciation(file: &mut File, draft: &NpcDraft) -> bool {
    let own = draft.extension.as_ref().and_then(|it| it.get("pronunciation")?.as_object());
    let own = own.into_iter().flatten();
    let mut given: Vec<(&str, &str)> =
        own.filter_map(|(word, said)| Some((word.as_str(), said.as_str()?))).collect();
    if given.is_empty() {
        given = draft.pronunciation.iter().map(|(word, said)| (&**word, &**said)).collect();
    }
    let all = given.len();
    given.retain(|(_, said)| is_sayable(said));
    let is_whole = given.len() == all;
    if let [("", said)] = given.as_slice() {
        file.line(&format!("pronunciation: {}", quoted(said)));
        return is_whole;
    }
    let words = given.into_iter().map(|(word, said)| (name(word), said));
    let words: BTreeMap<String, &str> = words.filter(|(word, _)| !word.is_empty()).collect();
    if !words.is_empty() {
        let pairs = words.iter().map(|(word, said)| format!("{}: {}", quoted(word), quoted(said)));
        file.line(&format!("pronunciation: {{ {} }}", pairs.collect::<Vec<_>>().join(", ")));
    }
    is_whole
}

/// Adds settings of a card that was exported here.
fn of_card(file: &mut File, own: &Value) {
    let sentences = own.get("max_sentences").and_then(Value::as_u64);
    if let Some(most) = sentences.filter(|it| SENTENCES.contains(it)) {
        file.line(&format!("max_sentences: {most}"));
    }
}

/// True for a respelling that voices may read in place of a name.
pub fn is_sayable(text: &str) -> bool {
    let mut problems = Problems::new("");
    check_respelling(text, Position::START, &mut problems);
    problems.is_empty() && text.chars().count() <= SAID_MAX && !text.trim().is_empty()
}

/// Adds texts for the game master as comments, and notes which of them had no room.
fn notes(file: &mut File, notes: &[Passage]) {
    let mut room = NOTES_MAX;
    for note in notes.iter().filter(|note| !note.text.trim().is_empty()) {
        if room == 0 {
            return file.comment("(Further texts are in the imported file.)");
        }
        let text: String = note.text.chars().take(NOTE_MAX.min(room)).collect();
        file.blank();
        file.comment(&format!("Only for you, never in a prompt ({}):", note.from));
        text.lines().for_each(|line| file.comment(line));
        if text.len() < note.text.len() {
            file.comment("(The rest is in the imported file.)");
        }
        room -= text.chars().count();
    }
}

/// Adds the description with examples of how they talk; the number of characters that had no room.
fn personality(file: &mut File, draft: &NpcDraft, standing: &[(String, String)]) -> usize {
    let passages = || draft.personality.iter().chain(&draft.knowledge);
    let own = passages().map(|it| prose(&it.text));
    let known = standing.iter().map(|(name, text)| prose(&format!("{name}: {text}")));
    let all: Vec<String> = own.chain(known).filter(|text| !text.is_empty()).collect();
    let all = all.join("\n\n");
    let mut text: String = all.chars().take(PERSONALITY_MAX).collect();
    let length = text.chars().count();
    let cut = all.chars().count() - length;
    let mut origin: Vec<&str> = passages().map(|it| it.from.as_str()).collect();
    // The empty line between takes two characters.
    let examples = prose(&examples(draft, &text, PERSONALITY_MAX.saturating_sub(length + 2)));
    if !examples.is_empty() {
        origin.push("greetings and example lines");
        let between = if text.is_empty() { "" } else { "\n\n" };
        text = format!("{text}{between}{examples}");
    }
    if !text.is_empty() {
        file.blank();
        file.origin(origin);
        file.line("personality: |");
        for line in text.lines() {
            file.line(&format!("  {}", escaped(line)));
        }
    }
    cut
}

/// Adds a secret for each paragraph; the number of characters that had no room.
fn secrets(file: &mut File, secrets: &[Passage]) -> usize {
    let paragraphs = secrets.iter().flat_map(|it| it.text.lines());
    let lines: Vec<String> = paragraphs.map(|it| one_line(it.trim(), usize::MAX)).collect();
    let (mut room, mut cut, mut is_first) = (SECRETS_MAX, 0, true);
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let text: String = line.chars().take(room).collect();
        let length = text.chars().count();
        (room, cut) = (room - length, cut + line.chars().count() - length);
        if std::mem::take(&mut is_first) {
            file.origin(secrets.iter().map(|it| it.from.as_str()).collect());
            file.line("secret_knowledge:");
        }
        if length > 0 {
            file.line(&format!("  - {}", quoted(&text)));
        }
    }
    cut
}

/// Text in lines that begin with a word: no heading of ours can be forged, and no indentation is read.
fn prose(text: &str) -> String {
    let text = visible(text).replace('\t', " ");
    let is_before = |c: char| c == '#' || c.is_whitespace();
    let lines = text.lines().map(|line| line.trim_start_matches(is_before).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

pub fn name(text: &str) -> String {
    let line = without_data(&one_line(text, NAME_MAX));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` without variables that a prompt would replace, which have no escape.
pub fn without_data(text: &str) -> String {
    text.replace("${data.", "$ {data.").replace("${global_data.", "$ {global_data.")
}

/// `text` without variables that the reader of configurations or the prompt would replace.
fn escaped(text: &str) -> String {
    without_data(text).replace("${", "$${")
}

/// As a YAML scalar in double quotes, which JSON's strings are too.
fn quoted(text: &str) -> String {
    Value::String(escaped(&visible(text))).to_string()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.map(|it| quoted(&it)).collect::<Vec<_>>().join(", "))
}

fn of_voice(voice: &ChosenVoice) -> String {
    let mut keys = vec![identity(voice.provider, &voice.voice_id)];
    let mut number = |key: &str, value: f32, default: f32| {
        if (value - default).abs() > 0.001 {
            keys.push(format!("{key}: {value:.2}"));
        }
    };
    number("pitch_shift", voice.pitch_shift, 0.0);
    number("formant_shift", voice.formant_shift, 0.0);
    number("speed_factor", voice.speed_factor, 1.0);
    if let Some(id) = voice.fallback {
        keys.push(format!("fallback: {{ provider: flite, voice_id: {id} }}"));
    }
    format!("{{ {} }}", keys.join(", "))
}

#[derive(Default)]
struct File(String);

impl File {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn blank(&mut self) {
        self.0.push('\n');
    }

    fn comment(&mut self, text: &str) {
        let text = revealed_name(text.trim_end());
        self.line(format!("# {text}").trim_end());
    }

    fn origin(&mut self, mut from: Vec<&str>) {
        from.retain(|it| !it.is_empty());
        from.dedup();
        if !from.is_empty() {
            self.comment(&format!("From {}.", from.join(", ")));
        }
    }

    fn spoken(&mut self, line: &SpokenLine) {
        match line.when.as_slice() {
            [] => self.line(&format!("  - say: {}", list(line.say.iter().cloned()))),
            when => {
                self.line(&format!("  - when: {}", list(when.iter().cloned())));
                self.line(&format!("    say: {}", list(line.say.iter().cloned())));
            }
        }
    }
}
