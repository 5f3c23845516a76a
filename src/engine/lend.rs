//! Lends an NPC's chat model to a server that works on one of its calls.
//!
//! Entry type: [`LentModel`]. The caps apply. **Never**: reveals anything of the table or the
//! service.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::NpcModel;
use crate::{
    provider::{Error, Kind},
    tools::{NotSampled, SampleRequest, Sampled, Sampler},
};

/// Longest answer for a server, in tokens.
const LONGEST: u32 = 512;

#[derive(Clone)]
pub struct LentModel(NpcModel);

impl LentModel {
    /// `None` if `model` reads no prompts.
    pub fn of(model: &NpcModel) -> Option<Arc<dyn Sampler>> {
        let lent = Self(model.clone());
        lent.0.models.reads_prompts().then(|| Arc::new(lent) as Arc<dyn Sampler>)
    }

    async fn ask(&self, request: SampleRequest) -> Result<Sampled, Error> {
        let max_tokens = request.max_tokens.min(LONGEST);
        let text = self.0.ask_once(request.messages, max_tokens).await?;
        Ok(Sampled { text, model: self.0.models.called() })
    }
}

impl Sampler for LentModel {
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>> {
        let lent = self.clone();
        let server = Arc::clone(&request.server);
        async move {
            let npc = &lent.0.npc.name;
            let sampled = lent.ask(request).await;
            match &sampled {
                Ok(_) => tracing::info!(server = &*server, npc, "chat model lent to a server"),
                Err(error) => tracing::warn!(
                    server = &*server,
                    npc,
                    %error,
                    "chat model not lent to a server"
                ),
            }
            sampled.map_err(|error| match error.kind() {
                Kind::OverBudget => NotSampled::OverBudget,
                _ => NotSampled::Failed,
            })
        }
        .boxed()
    }
}
