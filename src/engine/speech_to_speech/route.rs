//! Turns that are not for a voice model, and its rest after failures.
//!
//! Entry function: [`not_for_it`]; entry type: [`Trouble`]. The game master reads every reason.
//! **Never**: asks anybody.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    domain::Npc,
    engine::{Cause, Turn},
    provider::Kind,
};

/// Failures in a row before a rest.
const IN_A_ROW: u32 = 3;
/// Length of the rest.
const REST: Duration = Duration::from_secs(600);

/// The reason with `lines_and_veils`.
pub const GUARDED: &str = "lines_and_veils are set, and nothing looks at the words of a voice model \
     before they are heard";

/// The reason for the cascade to answer `turn` of `npc`; `None`: the model may.
pub fn not_for_it(turn: &Turn, npc: &Npc) -> Option<String> {
    match turn.cause {
        Cause::Puppet(_) => return Some("the game master's own words".to_owned()),
        Cause::FollowUp(_) => return Some("a result that came late".to_owned()),
        Cause::Utterance => {}
    }
    let slowest = turn.tools.iter().max_by_key(|it| it.expected)?;
    let is_slow = turn.tier_is_asked && slowest.expected > npc.s2s.slow_tool;
    is_slow.then(|| {
        let (tool, takes) = (&slowest.tool.identity, slowest.expected.as_millis());
        let most = npc.s2s.slow_tool.as_millis();
        format!("{tool} takes {takes} ms, and slow_tool_ms is {most}")
    })
}

/// Recent failures of a service.
#[derive(Debug, Default)]
pub struct Trouble {
    in_a_row: u32,
    until: Option<Instant>,
    told: bool,
}

impl Trouble {
    /// The reason for its rest, if it rests now.
    pub fn resting(&self) -> Option<String> {
        let until = self.until.filter(|until| Instant::now() < *until)?;
        let minutes = (until - Instant::now()).as_secs().div_ceil(60);
        Some(format!("the voice model has failed {IN_A_ROW} times, and rests for {minutes} min"))
    }

    /// It has answered.
    pub const fn is_over(&mut self) {
        self.in_a_row = 0;
        self.told = false;
        self.until = None;
    }

    /// It has failed `npc`; a notice for the game master at the first failure and at a rest.
    pub fn had(&mut self, npc: &str, why: &str, kind: Kind) -> Option<String> {
        if kind != Kind::OverBudget {
            self.in_a_row += 1;
        }
        let rests = self.in_a_row >= IN_A_ROW;
        if rests {
            self.in_a_row = 0;
            self.until = Some(Instant::now() + REST);
            let minutes = REST.as_secs() / 60;
            return Some(format!(
                "the voice model of {npc} has failed {IN_A_ROW} times in a row: for {minutes} minutes \
                 its chat model and voice answer instead ({why})"
            ));
        }
        let is_first = !std::mem::replace(&mut self.told, true);
        is_first.then(|| {
            format!(
                "the voice model of {npc} does not answer: its chat model and voice do instead ({why})"
            )
        })
    }
}
