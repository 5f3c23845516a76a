//! `dice-roller.last`: a person's latest rolls, in memory only.

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

/// Most people whose rolls are kept.
const MOST: usize = 1_000;

/// Scope, session and person (`None`: not a person of the table).
type Roller = (Scope, SessionId, Option<PersonId>);

/// Most rolls kept of a person.
const ROLLS: usize = 10;

#[derive(Clone, Default)]
pub struct LastRolls(Arc<Mutex<HashMap<Roller, VecDeque<Value>>>>);

impl LastRolls {
    /// Stores `rolled` as the speaker's newest roll.
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

    /// Replaces the speaker's newest roll by `rolled`.
    pub fn correct(&self, context: &CallContext, rolled: Value) {
        let mut all = self.all();
        if let Some(newest) = all.get_mut(&roller(context)).and_then(|rolls| rolls.front_mut()) {
            *newest = rolled;
        }
    }

    /// The speaker's roll `back` rolls before the last.
    pub fn of(&self, context: &CallContext, back: usize) -> Option<Value> {
        self.all().get(&roller(context))?.get(back).cloned()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Roller, VecDeque<Value>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn roller(context: &CallContext) -> Roller {
    (context.scope.clone(), context.session.clone(), context.by.clone())
}

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

pub fn none_yet(context: &CallContext, back: u64) -> CallError {
    let who = &context.speaker;
    let text = if back == 0 {
        format!("{who} has rolled nothing since the program was started")
    } else {
        format!("{who} has not rolled so often since the program was started")
    };
    CallError::new(CallErrorKind::Tool, text)
}
