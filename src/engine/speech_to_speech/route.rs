//! Turns that are unsuitable for a voice model.
//!
//! Entry function: [`not_for_it`]; entry type: [`Habits`]. The game master reads the reasons.

use std::{collections::HashMap, time::Duration};

use crate::{
    domain::{Npc, PersonId, ToolChoice},
    engine::{
        Cause, Turn,
        trouble::{IN_A_ROW, REST, Trouble, Worth},
    },
    provider::{Kind, SpeechAbilities},
    tools::CallRecord,
};

/// Consecutive turns with slow tools after which the next is expected to need them.
const NEEDED: u32 = 2;

pub const GUARDED: &str = "lines_and_veils are set, and nothing looks at the words of a voice model \
     before they are heard";

/// Why the cascade answers `turn`; `None`: the model may.
pub fn not_for_it(turn: &Turn, npc: &Npc, abilities: SpeechAbilities) -> Option<String> {
    match turn.cause {
        Cause::Puppet { .. } => return Some("the game master's own words".to_owned()),
        Cause::FollowUp(_) => return Some("a result that came late".to_owned()),
        Cause::Utterance => {}
    }
    if !abilities.takes_choice
        && matches!(npc.policy.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
    {
        return Some(
            "tool_choice asks for a call, and the voice model decides by itself".to_owned(),
        );
    }
    let (tool, takes) = slowest(turn, npc).filter(|_| turn.tier_is_asked)?;
    let most = npc.s2s.slow_tool.as_millis();
    Some(format!("{tool} takes {} ms, and slow_tool_ms is {most}", takes.as_millis()))
}

/// The slowest tool of `turn` and its usual time, if a voice model should not wait for it.
fn slowest<'t>(turn: &'t Turn, npc: &Npc) -> Option<(&'t str, Duration)> {
    let slowest = turn.tools.iter().max_by_key(|it| it.expected)?;
    let is_slow = slowest.expected > npc.s2s.slow_tool;
    is_slow.then_some((&*slowest.tool.identity, slowest.expected))
}

/// Consecutive turns with slow tools, per person.
#[derive(Debug, Default)]
pub struct Habits(HashMap<Option<PersonId>, u32>);

impl Habits {
    /// Why the cascade answers `turn`, if its speaker has needed slow tools lately.
    pub fn expects(&self, turn: &Turn, npc: &Npc) -> Option<String> {
        self.0.get(&turn.facts.by).filter(|turns| **turns >= NEEDED)?;
        let speaker = &turn.facts.speaker;
        let (tool, _) = slowest(turn, npc)?;
        Some(format!("the last {NEEDED} turns of {speaker} needed tools as slow as {tool}"))
    }

    pub fn note(&mut self, turn: &Turn, npc: &Npc, calls: &[CallRecord]) {
        let is_slow = |call: &CallRecord| {
            let known = turn.tools.iter().find(|it| it.tool.identity == call.tool);
            known.is_some_and(|it| it.expected > npc.s2s.slow_tool)
        };
        match calls.iter().any(is_slow) {
            true => *self.0.entry(turn.facts.by.clone()).or_default() += 1,
            false => drop(self.0.remove(&turn.facts.by)),
        }
    }
}

pub fn resting(minutes: u64) -> String {
    format!("the voice model has failed {IN_A_ROW} times, and rests for {minutes} min")
}

/// Counts a failure; returns a notice if it deserves one.
pub fn failed(trouble: &mut Trouble, npc: &str, why: &str, kind: Kind) -> Option<String> {
    Some(match trouble.had(kind != Kind::OverBudget)? {
        Worth::Rest => {
            let minutes = REST.as_secs() / 60;
            format!(
                "the voice model of {npc} has failed {IN_A_ROW} times in a row: for {minutes} minutes \
                 its chat model and voice answer instead ({why})"
            )
        }
        Worth::First => format!(
            "the voice model of {npc} does not answer: its chat model and voice do instead ({why})"
        ),
    })
}
