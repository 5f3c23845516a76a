//! Runs of workflows that schedules start. **Never**: approves a call.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::starts::{NotStarted, Start, Starts, Tell};
use crate::{
    campaign::workflows::{Origin, WantedRun, WorkflowRuns},
    tools::{Attachment, Effects, Taint},
};

impl Starts for WorkflowRuns {
    fn start(&self, start: Start) -> BoxFuture<'static, Result<(), NotStarted>> {
        let runs = self.clone();
        async move {
            let Start { scope, workflow, inputs, outside, starter, tell } = start;
            let effects = Arc::new(Unattended(tell));
            let taint = Taint::default();
            if outside {
                taint.set();
            }
            let origin = Origin { starter, speaker: None, effects, decided: None, taint };
            let wanted = WantedRun { scope, workflow, inputs, outside, origin };
            // The service tells the game master how it ends.
            let started = runs.start(wanted).await;
            started.map(drop).map_err(|why| NotStarted::Refused(why.to_string()))
        }
        .boxed()
    }
}

/// Effects while no session runs: only notices for the game master.
struct Unattended(Tell);

impl Effects for Unattended {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        false
    }

    fn tell_dm(&self, text: &str) {
        (self.0)(text.to_owned());
    }
}
