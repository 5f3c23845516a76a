//! Conditions on an answer, and whether they hold.
//!
//! Entry types: [`Judgement`], [`Evening`].

use std::{collections::HashMap, fmt, time::Duration};

use serde_json::Value;

use super::language;
use crate::support::program::Ran;

/// `max_sentences` of the shipped cast.
const SENTENCES: [(&str, usize); 5] =
    [("Bartok", 3), ("Greymantle", 6), ("Hale", 3), ("Mira", 3), ("Vesper", 3)];
/// Characters that no voice can say.
const MARKUP: [&str; 10] = ["*", "_", "#", "`", "{", "}", "[", "]", "<", "\n"];

/// Expectation about a line, written down beforehand.
pub struct Judgement<'t> {
    language: &'t str,
    /// Name of the NPC that answers; `None`: no answer.
    who: Option<&'t str>,
    wants: Vec<Want<'t>>,
}

/// A condition.
enum Want<'t> {
    Says(Vec<&'t str>),
    Never(Vec<&'t str>),
    Rolls(Vec<&'t str>),
    NothingRolled,
    Last,
    Outcome(&'t str),
    Told(Vec<&'t str>),
}

impl<'t> Judgement<'t> {
    /// Reads the cells of a line.
    pub fn read(language: &'t str, who: &'t str, wants: &'t str) -> Self {
        let dice = wants.find("rolls ").map(|at| &wants[at..]);
        // Several rolls are set apart like conditions.
        let rolls = dice.map(|dice| dice.trim_start_matches("rolls ").split("; ").collect());
        let rest = dice.map_or(wants, |dice| &wants[..wants.len() - dice.len()]);
        let wants = rest.split(';').map(str::trim).filter(|want| !want.is_empty());
        let wants = wants.map(Want::read).chain(rolls.map(Want::Rolls)).collect();
        Self { language, who: Some(who).filter(|who| *who != "-"), wants }
    }

    /// True if `text` tells what should be told.
    fn is_told(&self, text: &str) -> bool {
        let told = self.wants.iter().filter_map(|want| match want {
            Want::Told(any) => Some(any),
            _ => None,
        });
        told.flatten().any(|it| text.contains(it))
    }
}

impl<'t> Want<'t> {
    fn read(want: &'t str) -> Self {
        let (kind, rest) = want.split_once(' ').unwrap_or((want, ""));
        let any = || rest.split(" / ").map(str::trim).collect();
        match kind {
            "says" => Self::Says(any()),
            "never" => Self::Never(any()),
            "nothing" => Self::NothingRolled,
            "last" => Self::Last,
            "outcome" => Self::Outcome(rest),
            "told" => Self::Told(any()),
            other => panic!("unknown condition '{other}'"),
        }
    }
}

/// Answer to a line.
#[derive(Default)]
pub struct Answer {
    npc: Option<String>,
    reply: String,
    /// Its line of the program, unless it was for the program itself.
    line: Value,
    /// Text that the program reports beside it.
    told: String,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answers {:?}", self.npc.as_deref().unwrap_or("nobody"), self.reply)
    }
}

/// The answers of a run, in order.
pub struct Answers {
    lines: Vec<Value>,
    /// Lines of stderr.
    told: Vec<String>,
    /// The next of both.
    next: usize,
    next_told: usize,
}

impl Answer {
    /// All of a run.
    pub fn all(ran: &Ran) -> Answers {
        let told = ran.stderr.lines().map(str::to_owned).collect();
        Answers { lines: ran.lines(), told, next: 0, next_told: 0 }
    }
}

impl Answers {
    /// Answer to the line that was said next.
    pub fn of(&mut self, said: &str, judgement: &Judgement<'_>) -> Answer {
        let at = (self.next..self.lines.len()).find(|at| self.lines[*at]["heard"] == said);
        let Some(at) = at.filter(|_| !said.starts_with('/')) else {
            return Answer { told: self.told_of(judgement), ..Answer::default() };
        };
        // Words that the game master puts into a mouth come as a line that no player has said.
        let puppet = self.lines.get(at + 1).filter(|line| line["heard"] == "");
        self.next = at + 1 + usize::from(puppet.is_some());
        let line = puppet.unwrap_or(&self.lines[at]).clone();
        let reply = line["reply"].as_str().unwrap_or_default().to_owned();
        let npc = line["npc"].as_str().filter(|_| !reply.is_empty()).map(str::to_owned);
        let detail = line["detail"].as_str().unwrap_or_default();
        let told = match judgement.is_told(detail) {
            true => detail.to_owned(),
            false => self.told_of(judgement),
        };
        Answer { npc, reply, line, told }
    }

    /// Text told of it on stderr, behind the text told before.
    fn told_of(&mut self, judgement: &Judgement<'_>) -> String {
        let mut lines = self.next_told..self.told.len();
        let Some(at) = lines.find(|at| judgement.is_told(&self.told[*at])) else {
            return String::new();
        };
        self.next_told = at + 1;
        self.told[at].clone()
    }
}

/// State of an evening from line to line.
#[derive(Default)]
pub struct Evening {
    /// Each speaker's last roll, as it fell.
    last: HashMap<String, Value>,
    pub first_words: Vec<Duration>,
    pub first_sound: Vec<Duration>,
}

impl Evening {
    /// Faults of an answer.
    pub fn judge(
        &mut self,
        speaker: &str,
        judgement: &Judgement<'_>,
        answer: &Answer,
    ) -> Vec<String> {
        let mut faults = Vec::new();
        let is_right_one = match (judgement.who, &answer.npc) {
            (None, None) => true,
            (Some(who), Some(npc)) => npc.contains(who),
            _ => false,
        };
        if !is_right_one {
            faults.push(format!("{} should answer", judgement.who.unwrap_or("nobody")));
        }
        if answer.npc.is_some() {
            if let Some(other) = language::other_than(judgement.language, &answer.reply) {
                faults.push(format!("not {}: {other}", judgement.language));
            }
            faults.extend(unspeakable(answer));
            self.note(&answer.line["ms"]);
        }
        let unmet = judgement.wants.iter().filter_map(|want| self.unmet(want, speaker, answer));
        faults.extend(unmet);
        if let Some(rolled) = called(answer, "dice-roller.roll") {
            self.last.insert(speaker.to_owned(), rolled.clone());
        }
        faults
    }

    fn note(&mut self, ms: &Value) {
        let time = |name: &str| Some(Duration::from_secs_f64(ms[name].as_f64()? / 1e3));
        self.first_sound.extend(time("speech_end_to_first_audio"));
        self.first_words.extend(time("final_to_first_text"));
    }

    fn unmet(&self, want: &Want<'_>, speaker: &str, answer: &Answer) -> Option<String> {
        let rolled = called(answer, "dice-roller.roll");
        let says = |words: &&&str| language::says(&answer.reply, words);
        match want {
            Want::Says(any) => {
                any.iter().find(says).is_none().then(|| format!("says none of {any:?}"))
            }
            Want::Never(any) => any.iter().find(says).map(|it| format!("says {it:?}")),
            Want::Rolls(wanted) => wrong_roll(wanted, rolled, &answer.reply),
            Want::NothingRolled => rolled.map(|rolled| format!("rolled {rolled}")),
            Want::Last => {
                let last = self.last.get(speaker);
                let told = called(answer, "dice-roller.last");
                let is_told = told.is_some() && told == last && rolled.is_none();
                let totals = told.map(totals).unwrap_or_default();
                (!is_told || !says_all(&answer.reply, &totals))
                    .then(|| format!("{last:?} fell last, and {told:?} is said"))
            }
            Want::Outcome(wanted) => {
                let outcome = &answer.line["outcome"];
                (outcome != wanted).then(|| format!("the outcome is {outcome}"))
            }
            Want::Told(any) => {
                let is_told = any.iter().any(|it| answer.told.contains(it));
                (!is_told).then(|| format!("none of {any:?} is said: {}", answer.line["detail"]))
            }
        }
    }
}

/// The result of a call of `tool`.
fn called<'a>(answer: &'a Answer, tool: &str) -> Option<&'a Value> {
    let tools = answer.line["tools"].as_array()?;
    tools.iter().find(|it| it["tool"] == tool).map(|it| &it["result"])
}

fn totals(result: &Value) -> Vec<i64> {
    let several = result["totals"].as_array().cloned();
    let totals = several.unwrap_or_else(|| vec![result["total"].clone()]);
    totals.iter().filter_map(Value::as_i64).collect()
}

/// True if all these numbers are said.
fn says_all(reply: &str, numbers: &[i64]) -> bool {
    !numbers.is_empty() && numbers.iter().all(|it| language::says(reply, &it.to_string()))
}

/// Fault of a roll of `wanted`.
fn wrong_roll(wanted: &[&str], rolled: Option<&Value>, reply: &str) -> Option<String> {
    let Some(rolled) = rolled else { return Some(format!("{wanted:?} is not rolled")) };
    let mut faces = rolled["rolls"].as_array()?.iter().filter_map(Value::as_i64);
    let fell: Vec<i64> = wanted.iter().map(|dice| total(dice, &mut faces)).collect();
    let is_right = rolled["expression"] == wanted.join("; ") && totals(rolled) == fell;
    (!is_right || !says_all(reply, &fell)).then(|| format!("{wanted:?} fell as {rolled}"))
}

/// Total of dice like "2d6+3" or "2d20kh1", as they have fallen.
fn total(dice: &str, faces: &mut impl Iterator<Item = i64>) -> i64 {
    let (dice, plus) = dice.split_once('+').unwrap_or((dice, "0"));
    let (count, sides) = dice.split_once('d').expect("dice");
    let fell: Vec<i64> = faces.take(count.parse().expect("a number of dice")).collect();
    let sum = match sides.ends_with("kh1") {
        true => fell.iter().max().copied().unwrap_or_default(),
        false => fell.iter().sum(),
    };
    sum + plus.parse::<i64>().expect("a number")
}

/// Reasons why a voice could not say an answer, or would stop in the middle of it.
fn unspeakable(answer: &Answer) -> Vec<String> {
    let reply = answer.reply.as_str();
    let mut faults = Vec::new();
    let markup = MARKUP.iter().find(|it| reply.contains(**it));
    faults.extend(markup.map(|it| format!("has {it:?}")));
    let npc = answer.npc.as_deref().unwrap_or_default();
    let most = SENTENCES.iter().find(|(name, _)| npc.contains(name)).map_or(0, |it| it.1);
    let ends = |(at, c): (usize, char)| {
        let next = reply[at + c.len_utf8()..].chars().next();
        matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace)
    };
    let sentences = reply.char_indices().filter(|it| ends(*it)).count();
    if sentences > most {
        faults.push(format!("{sentences} sentences"));
    }
    if !reply.trim_end_matches(['"', '”', '“']).ends_with(['.', '!', '?']) {
        faults.push("stops in the middle".to_owned());
    }
    if answer.line["outcome"] != "spoken" {
        faults.push(format!("is {}", answer.line["outcome"]));
    }
    faults
}
