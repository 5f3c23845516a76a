//! `dice-roller.last`: what somebody has rolled last.
//!
//! Entry type: [`LastRolls`]; entry function: [`tool`]. **Never**: outlives the program; the transcript
//! does.

use std::{
    collections::HashMap,
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

/// The last roll of everybody. Cloning shares it.
#[derive(Clone, Default)]
pub struct LastRolls(Arc<Mutex<HashMap<Roller, Value>>>);

impl LastRolls {
    /// Stores `rolled` as the last roll of the speaker in `context`.
    pub fn keep(&self, context: &CallContext, rolled: Value) {
        let mut all = self.all();
        let roller = roller(context);
        if all.len() >= MOST && !all.contains_key(&roller) {
            all.clear();
        }
        all.insert(roller, rolled);
    }

    fn of(&self, context: &CallContext) -> Option<Value> {
        self.all().get(&roller(context)).cloned()
    }

    /// Held for a look.
    fn all(&self) -> MutexGuard<'_, HashMap<Roller, Value>> {
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
        input: input(json!({}), &[]),
        output: None,
        declared: declared("dice", Millis { estimated: 1, max: 20 }, Tier::Fast),
        handler: Arc::new(move |context: &CallContext, _: &Map<String, Value>| {
            last.of(context).map(CallOutput::json).ok_or_else(|| {
                let who = &context.speaker;
                let text = format!("{who} has rolled nothing since the program was started");
                CallError::new(CallErrorKind::Tool, text)
            })
        }),
    }
}
