//! Which turns are not for a voice model, and when one is left alone for a while.
//!
//! Entry function: [`not_for_it`]; entry type: [`Trouble`]. Every reason is one that the game master
//! reads. **Never**: asks anybody.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    domain::Npc,
    engine::{Cause, Turn},
    provider::Kind,
};

/// Failures in a row after which a service is left alone.
const IN_A_ROW: u32 = 3;
/// For so long.
const REST: Duration = Duration::from_secs(600);

/// Why an NPC of a campaign with such a list is answered for by the cascade.
pub const GUARDED: &str = "lines_and_veils are set, and nothing looks at the words of a voice model \
     before they are heard";

/// Why the cascade answers `turn` of `npc`; `None`: its voice model may.
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

/// How a service has failed lately.
#[derive(Debug, Default)]
pub struct Trouble {
    in_a_row: u32,
    until: Option<Instant>,
    told: bool,
}

impl Trouble {
    /// Why the service is left alone now.
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

    /// It has failed `npc`; what the game master should know, once.
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
