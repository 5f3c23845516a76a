//! `dice-roller.last`: a person's latest rolls.
//!
//! Entry type: [`LastRolls`]; entry function: [`tool`]. **Never**: outlives the program; the transcript
//! does.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value, json};

use super::super::describe::{Millis, declared, input};
use crate::{
    domain::{PersonId, Scope, SessionId, Tier},
    tools::{CallContext, CallError, CallErrorKind, CallOutput, Definition},
};

/// Most people whose last roll is known.
const MOST: usize = 1_000;

/// Person whose roll it was: the scope, the session, the id (`None`: not a person of the table).
type Roller = (Scope, SessionId, Option<PersonId>);

/// Most rolls that are remembered of a person.
const ROLLS: usize = 10;

/// The last rolls of everybody, the newest first. Cloning shares them.
#[derive(Clone, Default)]
pub struct LastRolls(Arc<Mutex<HashMap<Roller, VecDeque<Value>>>>);

impl LastRolls {
    /// Stores `rolled` as the newest roll of the speaker in `context`.
    pub fn keep(&self, context: &CallContext, rolled: Value) {
        let mut all = self.all();
        let roller = roller(context);
        if all.len() >= MOST && !all.contains_key(&roller) {
            all.clear();
        }
        let rolls = all.entry(roller).or_default();
        rolls.truncate(ROLLS - 1);
        rolls.push_front(rolled);
    }

    /// Puts `rolled` in the place of the newest roll of the speaker in `context`.
    pub fn correct(&self, context: &CallContext, rolled: Value) {
        let mut all = self.all();
        if let Some(newest) = all.get_mut(&roller(context)).and_then(|rolls| rolls.front_mut()) {
            *newest = rolled;
        }
    }

    /// A roll of the speaker in `context`: the last, or the one `back` rolls before it.
    pub fn of(&self, context: &CallContext, back: usize) -> Option<Value> {
        self.all().get(&roller(context))?.get(back).cloned()
    }

    /// Held for a look.
    fn all(&self) -> MutexGuard<'_, HashMap<Roller, VecDeque<Value>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn roller(context: &CallContext) -> Roller {
    (context.scope.clone(), context.session.clone(), context.by.clone())
}

/// `dice-roller.last`, as it is offered.
pub fn tool(last: LastRolls) -> Definition {
    Definition {
        name: "last".to_owned(),
        description:
            "Tells the last roll in this session of the person you answer. Use it when they ask what they \
             rolled; it rolls nothing."
                .to_owned(),
        input: input(
            json!({"back": {
                "type": "integer",
                "minimum": 0,
                "description": "0 for the last roll, 1 for the one before it, and so on",
            }}),
            &[],
        ),
        output: None,
        declared: declared("dice", Millis { estimated: 1, max: 20 }, Tier::Fast),
        handler: Arc::new(move |context: &CallContext, arguments: &Map<String, Value>| {
            let back = arguments.get("back").and_then(Value::as_u64).unwrap_or_default();
            let rolled = usize::try_from(back).ok().and_then(|back| last.of(context, back));
            rolled.map(CallOutput::json).ok_or_else(|| none_yet(context, back))
        }),
    }
}

/// Error for a roll that was not made.
pub fn none_yet(context: &CallContext, back: u64) -> CallError {
    let who = &context.speaker;
    let text = if back == 0 {
        format!("{who} has rolled nothing since the program was started")
    } else {
        format!("{who} has not rolled so often since the program was started")
    };
    CallError::new(CallErrorKind::Tool, text)
}
