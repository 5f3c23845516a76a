//! Chooses a line for an utterance.
//!
//! A line in the spoken language wins over one without a language, then one that was not the last
//! answer, then the longest match; weight decides among equals, and the default line is used if
//! none fits. The rest of an utterance counts before its greeting, and before words about a person
//! from whom the speaker turns away. A request for more ("another one?") counts as the one before
//! it.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use rand::{Rng, seq::IndexedRandom};
use serde_json::Value;

use super::{
    pattern::{Pattern, Phrases, Spoken},
    template::{self, Values},
};
use crate::{
    domain::{LineWhen, Message, Said, ScriptedLine, TurnFacts, unframed},
    logic::{
        greeting::without_greetings,
        more::{asks_for_more, says_something},
        short_forms::spelled_out,
        turning_away::without_turning_away,
        words::{Words, fold},
    },
    provider::ChatRequest,
};

/// Names of the dice tool, in lines.
const ROLLERS: [&str; 2] = ["dice-roller.roll", "roll"];
/// Answers within which a line is not repeated if others fit.
const LAST: usize = 3;
/// Names of the tool that stops music, in lines.
const STOPPERS: [&str; 2] = ["music-ambiance.stop_music", "stop_music"];
/// Most earlier requests that may be asked for again.
const EARLIER: usize = 4;

#[derive(Debug)]
pub struct Script {
    lines: Arc<[ScriptedLine]>,
    /// The lines, prepared when the NPC is first asked, because few NPCs are asked at the start.
    rules: OnceLock<Vec<Rule>>,
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
    /// True for an earlier request that is repeated: its line may be said again.
    is_repeated: bool,
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
    Pattern(Pattern),
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
    pub fn new(lines: Arc<[ScriptedLine]>, language: &str) -> Self {
        Self { lines, rules: OnceLock::new(), language: language.to_owned() }
    }

    fn rules(&self) -> &[Rule] {
        self.rules.get_or_init(|| self.lines.iter().map(Rule::of).collect())
    }

    /// Number of compiled patterns; `None`: nothing is prepared yet.
    #[cfg(test)]
    pub fn compiled(&self) -> Option<usize> {
        let is_compiled =
            |rule: &&Rule| matches!(&rule.when, When::Pattern(pattern) if pattern.is_compiled());
        self.rules.get().map(|rules| rules.iter().filter(is_compiled).count())
    }

    /// Index of the line to use, by the rules at the head of this file. Captures of its pattern go
    /// into `values`.
    pub fn choose(
        &self,
        request: &ChatRequest,
        values: &mut Values,
        can_call: impl Fn(&str) -> bool,
        rng: &mut impl Rng,
    ) -> Option<usize> {
        let language = request.facts.language.unwrap_or(&self.language);
        let whole = spelled_out(&values.utterance, language);
        let recent = Recent::of(&request.messages);
        let asked = |text, is_repeated| Asked {
            text,
            is_repeated,
            request,
            recent: &recent,
            can_call: &can_call,
        };
        let earlier = self.asked_for_again(&whole, request, values);
        let repeated = earlier.iter().find_map(|it| self.matter(&asked(it.as_str(), true), values));
        let meant = [without_turning_away(&whole), without_greetings(&whole)];
        let matter = repeated.or_else(|| {
            let mut meant = meant.iter().flatten();
            meant.find_map(|text| self.matter(&asked(text.as_str(), false), values))
        });
        let whole = whole.as_str();
        let (best, text) =
            matter.unwrap_or_else(|| (self.best(&asked(whole, false), values), whole));
        let chosen = *best.lines.choose_weighted(rng, |index| self.lines[*index].weight).ok()?;
        values.captures = self.rules()[chosen].when.captures(text);
        Some(chosen)
    }

    /// The lines that fit best, and the words they fit; `None` if only defaults fit.
    fn matter<'a>(&self, asked: &Asked<'a>, values: &mut Values) -> Option<(Best, &'a str)> {
        let best = self.best(asked, values);
        (best.fit.length > 0).then_some((best, asked.text))
    }

    /// Earlier requests that `text` repeats, newest first, the speaker's own before those of
    /// others; empty if it asks for something else.
    fn asked_for_again(&self, text: &str, request: &ChatRequest, values: &Values) -> Vec<String> {
        let facts = &request.facts;
        let is_about_dice = facts.dice.is_some() || facts.odds.is_some() || facts.last.is_some();
        let npc = Words::of(values.npc());
        let is_name = |word: &str| npc.iter().any(|it| it == word);
        if is_about_dice || facts.stops_music || !asks_for_more(text, is_name) {
            return Vec::new();
        }
        let language = facts.language.unwrap_or(&self.language);
        let introduces = |text: &str| {
            let mut naming = self.rules().iter().filter(|rule| rule.when.names_speaker());
            naming.any(|rule| !rule.when.captures(text).is_empty())
        };
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for said in answered(&request.messages) {
            let Some((_, words)) = said.name_and_words() else { continue };
            let words = spelled_out(&unframed(words), language);
            let words = without_greetings(&words).unwrap_or(words);
            let is_request = says_something(&words, is_name) && !asks_for_more(&words, is_name);
            if is_request && !introduces(&words) {
                if is_of_speaker(said, facts) { own.push(words) } else { others.push(words) }
            }
        }
        own.append(&mut others);
        own.truncate(EARLIER);
        own
    }

    /// The lines that fit best; of equals, those not said lately.
    fn best(&self, asked: &Asked<'_>, values: &mut Values) -> Best {
        let mut best = Best::default();
        let spoken = Spoken::of(asked.text);
        let language = asked.request.facts.language.unwrap_or(&self.language);
        let is_asked_again = asked.is_repeated || asked.recent.was_asked(&values.utterance);
        for (index, rule) in self.rules().iter().enumerate() {
            let Some(answers) = self.answers(&rule.line, language) else { continue };
            let is_stop = asked.request.facts.stops_music && rule.stops_music();
            let fits = if is_stop { Some(usize::MAX) } else { rule.when.fits(asked.text, &spoken) };
            let Some(length) = fits else { continue };
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
        let theirs = request.messages.iter().rev().filter_map(|message| match message {
            Message::User(said) if is_of_speaker(said, facts) => said.name_and_words(),
            _ => None,
        });
        let named = |words: &str| {
            let rules = self.rules().iter().filter(|rule| rule.when.names_speaker());
            let mut names = rules.map(|rule| rule.when.captures(words));
            names.find_map(|mut captures| captures.remove(template::NAME))
        };
        theirs.map(|(_, words)| unframed(words)).find_map(|words| named(&words))
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
        let tool = self.lines.get(index)?.tool.as_ref()?;
        Some((tool.name.clone(), template::fill_json(&tool.arguments, values)?))
    }

    /// One of the line's variants, filled; `None`: none can be filled. Avoids variants of the last
    /// answers in `messages`. Says all values if the line expects one (`{result.total}`) and the
    /// tool returned several.
    pub fn say(
        &self,
        index: usize,
        values: &mut Values,
        messages: &[Message],
        rng: &mut impl Rng,
    ) -> Option<String> {
        let say = &self.lines.get(index)?.say;
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
        let ScriptedLine { tool, otherwise, say, .. } = self.lines.get(index)?;
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
    fn of(line: &ScriptedLine) -> Self {
        let when = When::of(line.when.as_ref());
        let says_name = || line.say.iter().any(|say| say.contains("{name}"));
        Self { line: line.clone(), recalls_name: !when.names_speaker() && says_name(), when }
    }

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

    /// True if it stops the music.
    fn stops_music(&self) -> bool {
        self.line.tool.as_ref().is_some_and(|tool| STOPPERS.contains(&&*tool.name))
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
            Some(LineWhen::Pattern(pattern)) => Self::Pattern(Pattern::new(pattern)),
        }
    }

    /// Bytes of the longest match, 0 for a default line; `None`: no match.
    fn fits(&self, utterance: &str, spoken: &Spoken) -> Option<usize> {
        match self {
            Self::Default => Some(0),
            Self::Phrases(phrases) => phrases.longest(spoken).map(|found| found.len()),
            Self::Pattern(pattern) => pattern.longest(utterance),
        }
    }

    fn names_speaker(&self) -> bool {
        matches!(self, Self::Pattern(pattern) if pattern.names_speaker())
    }

    fn captures(&self, utterance: &str) -> BTreeMap<String, String> {
        match self {
            Self::Pattern(pattern) => pattern.captures(utterance),
            Self::Default | Self::Phrases(_) => BTreeMap::new(),
        }
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
            Message::User(said) => said.name_and_words(),
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
        !self.asked.is_empty() && fold(&unframed(self.asked)) == fold(utterance)
    }
}

/// True if the person to be answered said it.
fn is_of_speaker(said: &Said, facts: &TurnFacts) -> bool {
    match &facts.by {
        Some(person) => said.by.as_ref() == Some(person),
        None => said.is_by(&facts.speaker),
    }
}

/// Words that were answered, the newest first.
fn answered(messages: &[Message]) -> impl Iterator<Item = &Said> {
    let mut is_answered = false;
    messages.iter().rev().filter_map(move |message| match message {
        Message::Assistant { text, .. } => {
            is_answered |= !text.is_empty();
            None
        }
        Message::User(said) => std::mem::take(&mut is_answered).then_some(said),
        _ => None,
    })
}
