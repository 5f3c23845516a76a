//! Chooses a line for an utterance.
//!
//! A line in the spoken language wins over one without a language, then one that was not the last
//! answer, then the longest match; weight decides among equals, and the default line is used if
//! none fits. Words beside a greeting count before the greeting.

use std::{cmp::Ordering, collections::BTreeMap, sync::OnceLock};

use rand::{Rng, seq::IndexedRandom};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::{
    phrases::{Phrases, Spoken},
    template::{self, Values},
};
use crate::{
    domain::{LineWhen, Message, Said, ScriptedLine},
    logic::{greeting::without_greetings, words::fold},
    provider::ChatRequest,
};

/// Names of the dice tool, in lines.
const ROLLERS: [&str; 2] = ["dice-roller.roll", "roll"];
/// Answers within which a line is not repeated if others fit.
const LAST: usize = 3;

#[derive(Debug)]
pub struct Script {
    lines: Vec<Rule>,
    /// Assumed where no language is recognised.
    language: String,
}

#[derive(Debug)]
struct Rule {
    line: ScriptedLine,
    when: When,
    /// A line uses the name that the speaker gave earlier.
    recalls_name: bool,
}

struct Asked<'a> {
    text: &'a str,
    request: &'a ChatRequest,
    recent: &'a Recent<'a>,
    can_call: &'a dyn Fn(&str) -> bool,
}

/// Quality of a match, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    answers: Answers,
    is_new: bool,
    /// Bytes of the match; 0 for a default line.
    length: usize,
}

struct Best {
    fit: Fit,
    /// Answers since one of them was said.
    age: usize,
    lines: Vec<usize>,
}

impl Default for Best {
    fn default() -> Self {
        let fit = Fit { answers: Answers::Anybody, is_new: false, length: 0 };
        Self { fit, age: 0, lines: Vec::new() }
    }
}

#[derive(Debug)]
enum When {
    Default,
    Phrases(Phrases),
    /// Compiled on first use: patterns must not delay the start.
    Pattern(String, OnceLock<Option<Regex>>),
}

/// How a line fits the spoken language, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answers {
    /// The NPC's own default in another language: better than silence.
    Anybody,
    Whichever,
    Language,
}

impl Script {
    /// A pattern that does not compile never matches (`check` reports it).
    pub fn new(lines: &[ScriptedLine], language: &str) -> Self {
        let rule = |line: &ScriptedLine| {
            let when = When::of(line.when.as_ref());
            let says_name = || line.say.iter().any(|say| say.contains("{name}"));
            Rule { line: line.clone(), recalls_name: !when.names_speaker() && says_name(), when }
        };
        Self { lines: lines.iter().map(rule).collect(), language: language.to_owned() }
    }

    /// The line to use. Stores captures of its pattern in `values`.
    pub fn choose(
        &self,
        request: &ChatRequest,
        values: &mut Values,
        can_call: impl Fn(&str) -> bool,
        rng: &mut impl Rng,
    ) -> Option<usize> {
        let whole = values.utterance.clone();
        let recent = Recent::of(&request.messages);
        let asked = |text| Asked { text, request, recent: &recent, can_call: &can_call };
        let beside_greeting = without_greetings(&whole);
        let matter = beside_greeting.as_deref().and_then(|text| {
            let best = self.best(&asked(text), values);
            (best.fit.length > 0).then_some((best, text))
        });
        let whole = whole.as_str();
        let (best, text) = matter.unwrap_or_else(|| (self.best(&asked(whole), values), whole));
        let chosen =
            *best.lines.choose_weighted(rng, |index| self.lines[*index].line.weight).ok()?;
        values.captures = self.lines[chosen].when.captures(text);
        Some(chosen)
    }

    /// The lines that fit best; of equals, those not said lately.
    fn best(&self, asked: &Asked<'_>, values: &mut Values) -> Best {
        let mut best = Best::default();
        let spoken = Spoken::of(asked.text);
        let language = asked.request.facts.language.unwrap_or(&self.language);
        let is_asked_again = asked.recent.was_asked(&values.utterance);
        for (index, rule) in self.lines.iter().enumerate() {
            let Some(answers) = self.answers(&rule.line, language) else { continue };
            let Some(length) = rule.when.fits(asked.text, &spoken) else { continue };
            let age = rule.age(asked.recent);
            let fit = Fit { answers, is_new: age > 0 || is_asked_again, length };
            if fit < best.fit {
                continue;
            }
            values.captures = rule.when.captures(asked.text);
            if rule.recalls_name && values.introduced.is_none() {
                values.introduced = self.introduced(asked.request);
            }
            if !rule.usable(values, &asked.request.messages, asked.can_call) {
                continue;
            }
            let order = (fit, age).cmp(&(best.fit, best.age));
            match order {
                Ordering::Less => {}
                Ordering::Equal => best.lines.push(index),
                Ordering::Greater => best = Best { fit, age, lines: vec![index] },
            }
        }
        best
    }

    /// The name by which the speaker last introduced themself.
    fn introduced(&self, request: &ChatRequest) -> Option<String> {
        let facts = &request.facts;
        let is_theirs = |said: &Said| match &facts.by {
            Some(person) => said.by.as_ref() == Some(person),
            None => said.is_by(&facts.speaker),
        };
        let theirs = request.messages.iter().rev().filter_map(|message| match message {
            Message::User(said) if is_theirs(said) => said.text.split_once(": "),
            _ => None,
        });
        let named = |words: &str| {
            let rules = self.lines.iter().filter(|rule| rule.when.names_speaker());
            let mut names = rules.map(|rule| rule.when.captures(words));
            names.find_map(|mut captures| captures.remove(template::NAME))
        };
        theirs.map(|(_, words)| words).find_map(named)
    }

    /// `None`: `line` is no answer to `language`.
    fn answers(&self, line: &ScriptedLine, language: &str) -> Option<Answers> {
        match line.language.as_deref() {
            Some(its) if its == language => Some(Answers::Language),
            None => Some(Answers::Whichever),
            Some(its) if its == self.language && line.when.is_none() => Some(Answers::Anybody),
            Some(_) => None,
        }
    }

    /// The call that line `index` makes before speaking: tool and filled arguments.
    pub fn call(&self, index: usize, values: &Values) -> Option<(String, Value)> {
        let tool = self.lines.get(index)?.line.tool.as_ref()?;
        Some((tool.name.clone(), template::fill_json(&tool.arguments, values)?))
    }

    /// One of the line's variants, filled; `None`: none can be filled. Avoids variants of the last
    /// answers in `messages`. Where the line expects one value (`{result.total}`) and the tool
    /// returned several, all are said.
    pub fn say(
        &self,
        index: usize,
        values: &mut Values,
        messages: &[Message],
        rng: &mut impl Rng,
    ) -> Option<String> {
        let say = &self.lines.get(index)?.line.say;
        Self::filled(say, values, messages, rng).or_else(|| {
            values.takes_several = true;
            let filled = Self::filled(say, values, messages, rng);
            values.takes_several = false;
            filled
        })
    }

    /// Like [`Self::say`], for a line whose tool cannot be called.
    pub fn say_without(
        &self,
        index: usize,
        values: &Values,
        messages: &[Message],
        rng: &mut impl Rng,
    ) -> Option<String> {
        let ScriptedLine { tool, otherwise, say, .. } = &self.lines.get(index)?.line;
        Self::filled(if tool.is_some() { otherwise } else { say }, values, messages, rng)
    }

    fn filled(
        say: &[String],
        values: &Values,
        messages: &[Message],
        rng: &mut impl Rng,
    ) -> Option<String> {
        let recent = Recent::of(messages);
        let aged = |text: &String| Some((template::fill_spoken(text, values)?, recent.age(text)));
        let filled: Vec<(String, usize)> = say.iter().filter_map(aged).collect();
        let oldest = filled.iter().map(|(_, age)| *age).max()?;
        let left: Vec<String> =
            filled.into_iter().filter(|(_, age)| *age == oldest).map(|(text, _)| text).collect();
        left.choose(rng).cloned()
    }
}

impl Rule {
    fn usable(
        &self,
        values: &Values,
        messages: &[Message],
        can_call: &dyn Fn(&str) -> bool,
    ) -> bool {
        let may_be_said = match &self.line.tool {
            Some(tool) => {
                !(values.dice_withheld && ROLLERS.contains(&&*tool.name))
                    && template::fill_json(&tool.arguments, values).is_some()
                    && (can_call(&tool.name) || !self.line.otherwise.is_empty())
            }
            None => self.line.say.iter().any(|say| template::fill(say, values).is_some()),
        };
        may_be_said && !(self.line.once && self.was_said(messages))
    }

    /// Answers since it was said; a call's result makes a line a different one.
    fn age(&self, recent: &Recent<'_>) -> usize {
        if self.line.tool.is_some() {
            return LAST;
        }
        self.line.say.iter().map(|say| recent.age(say)).max().unwrap_or(LAST)
    }

    fn was_said(&self, messages: &[Message]) -> bool {
        self.line.say.iter().any(|say| {
            let fixed = template::longest_fixed_part(say);
            messages.iter().any(
                |message| matches!(message, Message::Assistant { text, .. } if text.contains(fixed)),
            )
        })
    }
}

impl When {
    fn of(when: Option<&LineWhen>) -> Self {
        match when {
            None => Self::Default,
            Some(LineWhen::Phrases(phrases)) => Self::Phrases(Phrases::new(phrases)),
            Some(LineWhen::Pattern(pattern)) => Self::Pattern(pattern.clone(), OnceLock::new()),
        }
    }

    /// Bytes of the longest match, 0 for a default line; `None`: no match.
    fn fits(&self, utterance: &str, spoken: &Spoken) -> Option<usize> {
        match self {
            Self::Default => Some(0),
            Self::Phrases(phrases) => phrases.longest(spoken).map(|found| found.len()),
            Self::Pattern(..) => longest_match(self.pattern()?, utterance),
        }
    }

    fn names_speaker(&self) -> bool {
        matches!(self, Self::Pattern(pattern, _) if pattern.contains("<name>"))
    }

    fn captures(&self, utterance: &str) -> BTreeMap<String, String> {
        self.pattern().map(|when| template::captures(when, utterance)).unwrap_or_default()
    }

    fn pattern(&self) -> Option<&Regex> {
        let Self::Pattern(pattern, compiled) = self else { return None };
        compiled.get_or_init(|| compile(pattern)).as_ref()
    }
}

/// The last answers of an NPC, so that it does not repeat itself.
#[derive(Debug)]
struct Recent<'m> {
    /// Newest first.
    answers: Vec<&'m str>,
    /// Utterance before the newest answer; empty: unknown.
    asked: &'m str,
}

impl<'m> Recent<'m> {
    fn of(messages: &'m [Message]) -> Self {
        let said = |message: &'m Message| match message {
            Message::Assistant { text, .. } if !text.is_empty() => Some(text.as_str()),
            _ => None,
        };
        let answers = messages.iter().rev().filter_map(said).take(LAST).collect();
        let newest = messages.iter().rposition(|message| said(message).is_some());
        let before = messages.iter().take(newest.unwrap_or(0)).rev();
        let mut words = before.filter_map(|message| match message {
            Message::User(said) => said.text.split_once(": "),
            _ => None,
        });
        Self { answers, asked: words.next().map_or("", |(_, words)| words) }
    }

    /// Answers since one matched `template`: 0 for the last one, at most [`LAST`].
    fn age(&self, template: &str) -> usize {
        let mut answers = self.answers.iter();
        answers.position(|said| template::is_of(said, template)).unwrap_or(LAST)
    }

    /// True if `utterance` equals the last one: the player asks again.
    fn was_asked(&self, utterance: &str) -> bool {
        !self.asked.is_empty() && fold(self.asked) == fold(utterance)
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(true).size_limit(1 << 20).build().ok()
}

/// Bytes of the longest match; an empty match counts 1.
fn longest_match(when: &Regex, utterance: &str) -> Option<usize> {
    when.find_iter(utterance).map(|found| found.len().max(1)).max()
}
