//! The choice of a line for an utterance.

use std::{collections::BTreeMap, sync::OnceLock};

use rand::{Rng, RngExt, seq::IndexedRandom};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::{
    phrases::{Phrases, Spoken},
    template::{self, Values},
};
use crate::{
    domain::{LineWhen, Message, ScriptedLine},
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
        let rule =
            |line: &ScriptedLine| Rule { line: line.clone(), when: When::of(line.when.as_ref()) };
        Self { lines: lines.iter().map(rule).collect(), language: language.to_owned() }
    }

    /// The line to use: one in the language that was spoken before one without a language, then the
    /// longest match, equals by weight, the default when none fits. Captures of a pattern go into
    /// `values`.
    pub fn choose(
        &self,
        request: &ChatRequest,
        values: &mut Values,
        can_call: impl Fn(&str) -> bool,
        rng: &mut impl Rng,
    ) -> Option<usize> {
        let mut best: ((Answers, usize), Vec<usize>) = ((Answers::Anybody, 0), Vec::new());
        let spoken = Spoken::of(&values.utterance);
        let language = request.facts.language.unwrap_or(&self.language);
        for (index, rule) in self.lines.iter().enumerate() {
            let Some(answers) = self.answers(&rule.line, language) else { continue };
            let Some(length) = rule.when.fits(&values.utterance, &spoken) else { continue };
            let fit = (answers, length);
            values.captures = rule.when.captures(&values.utterance);
            if fit < best.0 || !rule.usable(values, &request.messages, &can_call) {
                continue;
            }
            if fit > best.0 {
                best = (fit, vec![index]);
            } else {
                best.1.push(index);
            }
        }
        let chosen = *best.1.choose_weighted(rng, |index| self.lines[*index].line.weight).ok()?;
        values.captures = self.lines[chosen].when.captures(&values.utterance);
        Some(chosen)
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

    /// One of the line's variants, filled; `None` when none can be filled. Where the line's author thought of
    /// one value (`{result.total}`) and the tool gave several, all are said.
    pub fn say(&self, index: usize, values: &mut Values, rng: &mut impl Rng) -> Option<String> {
        let say = &self.lines.get(index)?.line.say;
        Self::filled(say, values, rng).or_else(|| {
            values.takes_several = true;
            let filled = Self::filled(say, values, rng);
            values.takes_several = false;
            filled
        })
    }

    /// Like [`Self::say`], where the line's tool cannot be called.
    pub fn say_without(&self, index: usize, values: &Values, rng: &mut impl Rng) -> Option<String> {
        let ScriptedLine { tool, otherwise, say, .. } = &self.lines.get(index)?.line;
        Self::filled(if tool.is_some() { otherwise } else { say }, values, rng)
    }

    fn filled(say: &[String], values: &Values, rng: &mut impl Rng) -> Option<String> {
        let filled: Vec<String> =
            say.iter().filter_map(|text| template::fill(text, values)).collect();
        (!filled.is_empty()).then(|| filled[rng.random_range(0..filled.len())].clone())
    }
}

impl Rule {
    fn usable(
        &self,
        values: &Values,
        messages: &[Message],
        can_call: &impl Fn(&str) -> bool,
    ) -> bool {
        if let Some(tool) = &self.line.tool
            && (values.dice_withheld && ROLLERS.contains(&&*tool.name)
                || template::fill_json(&tool.arguments, values).is_none()
                || !can_call(&tool.name) && self.line.otherwise.is_empty())
        {
            return false;
        }
        !(self.line.once && self.was_said(messages))
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
