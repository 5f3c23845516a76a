//! The choice of a line for an utterance.

use std::{cmp::Ordering, collections::BTreeMap, sync::OnceLock};

use rand::{Rng, seq::IndexedRandom};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::{
    phrases::{Phrases, Spoken},
    recent::{LAST, Recent},
    template::{self, Values},
};
use crate::{
    domain::{LineWhen, Message, Said, ScriptedLine},
    logic::greeting::without_greetings,
    provider::ChatRequest,
};

/// Names of the tool that throws dice, in lines.
const ROLLERS: [&str; 2] = ["dice-roller.roll", "roll"];

/// The lines of one NPC, ready to be matched.
#[derive(Debug)]
pub struct Script {
    lines: Vec<Rule>,
    /// Language assumed where none is recognised.
    language: String,
}

#[derive(Debug)]
struct Rule {
    line: ScriptedLine,
    when: When,
    /// It says the name that the speaker has given earlier.
    recalls_name: bool,
}

/// A search for a line.
struct Asked<'a> {
    /// The words to be answered.
    text: &'a str,
    request: &'a ChatRequest,
    recent: &'a Recent<'a>,
    can_call: &'a dyn Fn(&str) -> bool,
}

/// Quality of a match, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    answers: Answers,
    /// It was not the last answer.
    is_new: bool,
    /// Length of the match; 0: nothing else fits.
    length: usize,
}

/// The lines that fit best.
struct Best {
    fit: Fit,
    /// Answers since one of them was heard.
    age: usize,
    lines: Vec<usize>,
}

impl Default for Best {
    fn default() -> Self {
        let fit = Fit { answers: Answers::Anybody, is_new: false, length: 0 };
        Self { fit, age: 0, lines: Vec::new() }
    }
}

/// Condition of a rule.
#[derive(Debug)]
enum When {
    /// Nothing else fits.
    Default,
    /// Words in what was said.
    Phrases(Phrases),
    /// Compiled when the NPC is first spoken to: patterns must not delay the start.
    Pattern(String, OnceLock<Option<Regex>>),
}

/// Match of a line's language with what was said, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answers {
    /// It is the NPC's own default, in another language: better than silence.
    Anybody,
    /// It has no language.
    Whichever,
    /// It has the language that was spoken.
    Language,
}

impl Script {
    /// Takes `lines` of somebody who speaks `language`; a pattern that does not compile never matches
    /// (`check` reports it).
    pub fn new(lines: &[ScriptedLine], language: &str) -> Self {
        let rule = |line: &ScriptedLine| {
            let when = When::of(line.when.as_ref());
            let says_name = || line.say.iter().any(|say| say.contains("{name}"));
            Rule { line: line.clone(), recalls_name: !when.names_speaker() && says_name(), when }
        };
        Self { lines: lines.iter().map(rule).collect(), language: language.to_owned() }
    }

    /// The line to use: one in the language that was spoken before one without a language, then one that
    /// was not the last answer, then the longest match, equals by weight, the default when none fits. Words
    /// beside a greeting count before the greeting. Captures of a pattern go into `values`.
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

    /// The lines that fit best; of equals those that were not heard lately.
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

    /// The name by which the speaker introduced themself last.
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

    /// Match of `line` for somebody who speaks `language`; `None`: no answer at all.
    fn answers(&self, line: &ScriptedLine, language: &str) -> Option<Answers> {
        match line.language.as_deref() {
            Some(its) if its == language => Some(Answers::Language),
            None => Some(Answers::Whichever),
            Some(its) if its == self.language && line.when.is_none() => Some(Answers::Anybody),
            Some(_) => None,
        }
    }

    /// The call line `index` makes before speaking: identity and filled arguments.
    pub fn call(&self, index: usize, values: &Values) -> Option<(String, Value)> {
        let tool = self.lines.get(index)?.line.tool.as_ref()?;
        Some((tool.name.clone(), template::fill_json(&tool.arguments, values)?))
    }

    /// One of the line's variants, filled; `None` when none can be filled. Those of the last answers in
    /// `messages` are left out while there are others. Where the line's author thought of one value
    /// (`{result.total}`) and the tool gave several, all are said.
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

    /// Like [`Self::say`], where the line's tool cannot be called.
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

    /// Answers since it was heard; a result makes a line another one.
    fn age(&self, recent: &Recent<'_>) -> usize {
        if self.line.tool.is_some() {
            return LAST;
        }
        self.line.say.iter().map(|say| recent.age(say)).max().unwrap_or(LAST)
    }

    /// True if one of the variants was heard before.
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

    /// Quality of the match: 0 for a default line, else the longest match in bytes; `None`: it does
    /// not match.
    fn fits(&self, utterance: &str, spoken: &Spoken) -> Option<usize> {
        match self {
            Self::Default => Some(0),
            Self::Phrases(phrases) => phrases.longest(spoken).map(|found| found.len()),
            Self::Pattern(..) => longest_match(self.pattern()?, utterance),
        }
    }

    /// True if its match tells how the speaker is called.
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

/// A pattern; case does not matter.
fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(true).size_limit(1 << 20).build().ok()
}

/// Length in bytes of the longest match; at least 1 for a match of nothing.
fn longest_match(when: &Regex, utterance: &str) -> Option<usize> {
    when.find_iter(utterance).map(|found| found.len().max(1)).max()
}
