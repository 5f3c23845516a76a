//! `rules-lookup`: answers from the rules, made to be spoken. The built-in rules are read and
//! indexed once, on first use. **Never**: changes a rule, opens a file.

mod edition;
mod facts;
mod index;
mod short;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value, json};

use self::{
    edition::fifth_edition,
    index::Index,
    short::{lacks, short},
};
use super::describe::{Millis, declared, input, text};
use crate::{
    domain::{Rule, Tier},
    logic::{language::Language, words::fold},
    tools::{CallContext, CallError, CallErrorKind, CallOutput, Declared, Definition, Handler},
};

/// Most results of a search: as much as a model can weigh in one round.
const MOST: usize = 3;
/// Values of `edition` that mean a fifth edition.
const EDITIONS: &[&str] = &["5e", "5e-2014", "5e-2024"];

/// The rules of a table.
pub struct RuleBook {
    /// The user's own rules.
    own: Vec<Rule>,
    /// The edition played; `None`: both.
    edition: Option<String>,
    /// Reads the built-in rules.
    built_in: fn() -> Vec<Rule>,
    /// Index of all rules, built on first use.
    index: OnceLock<Index>,
}

impl RuleBook {
    /// `own` rules take precedence over those that `built_in` reads; `edition` limits fifth-edition
    /// rules.
    pub const fn new(own: Vec<Rule>, edition: Option<String>, built_in: fn() -> Vec<Rule>) -> Self {
        Self { own, edition, built_in, index: OnceLock::new() }
    }

    /// Reads and indexes the rules without blocking the runtime. Cancel safe.
    fn ready(book: &Arc<Self>) -> BoxFuture<'static, ()> {
        if book.index.get().is_some() {
            return ready(()).boxed();
        }
        let book = Arc::clone(book);
        // A panic was already reported, and recurs in the call.
        tokio::task::spawn_blocking(move || _ = book.index()).map(drop).boxed()
    }

    /// Built on first call, which blocks for some tens of milliseconds; concurrent calls wait.
    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let own: BTreeSet<&str> = self.own.iter().map(|rule| rule.id.as_str()).collect();
            let mut rules = self.own.clone();
            rules.extend((self.built_in)().into_iter().filter(|it| !own.contains(it.id.as_str())));
            rules.retain(|rule| match &self.edition {
                Some(edition) => !rule.edition.starts_with("5e") || rule.holds_in(edition),
                None => true,
            });
            Index::new(rules)
        })
    }

    /// The edition or system `system` means.
    fn system(&self, system: &str) -> Result<String, CallError> {
        let wanted = fold(system);
        let own = self.own.iter().map(|rule| rule.edition.as_str());
        let known: BTreeSet<&str> = EDITIONS.iter().copied().chain(own).collect();
        if let Some(known) = known.iter().find(|known| fold(known) == wanted) {
            return Ok((*known).to_owned());
        }
        if let Some(edition) = fifth_edition(system) {
            return Ok(edition.to_owned());
        }
        let known: Vec<&str> = known.into_iter().collect();
        Err(CallError::new(
            CallErrorKind::InvalidArguments,
            format!("there are no rules of '{system}' (one of {})", known.join(", ")),
        ))
    }

    /// Best rules for `question`, at most three; `system` limits them to one edition or system.
    ///
    /// # Errors
    /// No rules of `system` exist.
    pub fn find(&self, question: &str, system: Option<&str>) -> Result<Vec<&Rule>, CallError> {
        let system = system.map(|system| self.system(system)).transpose()?;
        let wanted = |rule: &Rule| system.as_deref().is_none_or(|system| rule.holds_in(system));
        Ok(self.index().search(question, MOST, wanted))
    }

    /// The sentence of `rule` that answers `question`.
    pub fn short<'r>(&self, question: &str, rule: &'r Rule) -> &'r str {
        short(&self.index().terms, question, rule)
    }

    /// Like [`Self::short`]; `None`: the rule lacks the fact asked for.
    pub fn answer<'r>(&self, question: &str, rule: &'r Rule) -> Option<&'r str> {
        (!lacks(question, rule)).then(|| self.short(question, rule))
    }

    fn search(&self, arguments: &Map<String, Value>) -> Result<CallOutput, CallError> {
        let query = text(arguments, "query").unwrap_or_default();
        let found = self.find(query, text(arguments, "system"))?;
        let nothing = found.is_empty();
        let result = |rule: &Rule| {
            let mut value = self.shown(rule);
            let Some(short) = self.answer(query, rule) else {
                value["note"] = json!("the rule has no such figure; say so");
                return value;
            };
            value["short"] = json!(short);
            value["in"] = json!({ language_of(rule): short });
            value
        };
        let mut value = json!({"results": found.into_iter().map(result).collect::<Vec<_>>()});
        if nothing {
            value["note"] = json!("no rule fits (ask for a rule, spell or condition by its name)");
        }
        Ok(CallOutput::json(value))
    }

    fn get(&self, arguments: &Map<String, Value>) -> Result<CallOutput, CallError> {
        let asked = text(arguments, "id").unwrap_or_default();
        let id = asked.trim().to_lowercase().replace([' ', '_'], "-");
        let index = self.index();
        if let Some(rule) = index.get(&id) {
            return Ok(CallOutput::json(self.shown(rule)));
        }
        // A rule that differs by edition: only the edition played may be indexed.
        let editions: Vec<&Rule> =
            ["2014", "2024"].iter().filter_map(|it| index.get(&format!("{id}-{it}"))).collect();
        if let [only] = editions.as_slice() {
            return Ok(CallOutput::json(self.shown(only)));
        }
        let near = index.near(&id, MOST).join(", ");
        Err(CallError::new(
            CallErrorKind::Tool,
            format!("there is no rule '{asked}' (nearest: {near}; or use search_rules)"),
        ))
    }

    fn shown(&self, rule: &Rule) -> Value {
        json!({
            "id": rule.id,
            "name": rule.name,
            "category": rule.category,
            "edition": rule.edition,
            "text": rule.text,
            "source": self.source(rule),
        })
    }

    /// Source of a rule in spoken form: "the rules of the fifth edition".
    pub fn source(&self, rule: &Rule) -> String {
        if self.own.iter().any(|own| own.id == rule.id) {
            return "the rules of this table".to_owned();
        }
        match rule.edition.as_str() {
            "5e" => "the rules of the fifth edition".to_owned(),
            "5e-2014" => "the 2014 rules of the fifth edition".to_owned(),
            "5e-2024" => "the 2024 rules of the fifth edition".to_owned(),
            other => format!("the rules of {other}"),
        }
    }
}

fn language_of(rule: &Rule) -> &'static str {
    Language::spoken_in(&rule.text).unwrap_or_else(Language::english).code
}

pub fn tools(book: Arc<RuleBook>) -> Vec<Definition> {
    let declared = |takes, floor| Declared {
        read_only: Some(true),
        idempotent: Some(true),
        ..declared("rules", takes, floor)
    };
    let search = Definition {
        name: "search_rules".to_owned(),
        description: "Finds what the rules of the game say: conditions, combat, spells, checks, \
                      resting, dying. Use it before answering a question about rules or what a \
                      spell does."
            .to_owned(),
        input: input(
            json!({
                "query": {
                    "type": "string",
                    "minLength": 1,
                    "description": "the question or the name, as it was asked",
                },
                "system": {
                    "type": "string",
                    "description": "5e, 5e-2014 or 5e-2024; left out: all rules played here",
                },
            }),
            &["query"],
        ),
        output: None,
        declared: declared(Millis { estimated: 30, max: 100 }, Tier::Standard),
        handler: Arc::new(Lookup { book: Arc::clone(&book), answer: RuleBook::search }),
    };
    let get = Definition {
        name: "get_rule".to_owned(),
        description: "Reads one rule by its id, such as condition-blinded or spell-fireball."
            .to_owned(),
        input: input(json!({"id": {"type": "string", "minLength": 1}}), &["id"]),
        output: None,
        declared: Declared {
            probe: json!({"id": "condition-blinded"}).as_object().cloned(),
            ..declared(Millis { estimated: 5, max: 20 }, Tier::Fast)
        },
        handler: Arc::new(Lookup { book, answer: RuleBook::get }),
    };
    vec![search, get]
}

/// Answers both tools once the rules are read.
struct Lookup {
    book: Arc<RuleBook>,
    answer: fn(&RuleBook, &Map<String, Value>) -> Result<CallOutput, CallError>,
}

impl Handler for Lookup {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready((self.answer)(&self.book, arguments)).boxed()
    }

    fn prepare(&self) -> BoxFuture<'static, ()> {
        RuleBook::ready(&self.book)
    }
}
