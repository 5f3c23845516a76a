//! An NPC's chat model, lent to a server that works on a call of it.
//!
//! Entry type: [`Lent`]. **Never**: spends what the caps do not allow; tells the server anything of
//! the table or of the service.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::{cascaded::CascadedParts, once::ask_once, purse::Purse};
use crate::{
    domain::Npc,
    provider::{ChatModel, Error, Kind},
    tools::{NotSampled, SampleRequest, Sampled, Sampler},
};

/// Longest answer a server gets, in tokens.
const LONGEST: u32 = 512;

/// The model of one NPC and who pays for it.
#[derive(Clone)]
pub struct Lent {
    npc: Arc<Npc>,
    model: Arc<dyn ChatModel>,
    purse: Purse,
}

impl Lent {
    /// The model of `parts`, if it reads prompts.
    pub fn of(parts: &CascadedParts) -> Option<Arc<dyn Sampler>> {
        let (npc, model) = (Arc::clone(&parts.npc), Arc::clone(&parts.model));
        let lent = Self { npc, model, purse: parts.purse.clone() };
        lent.model.reads_prompts().then(|| Arc::new(lent) as Arc<dyn Sampler>)
    }

    async fn ask(&self, request: SampleRequest) -> Result<Sampled, Error> {
        let max_tokens = request.max_tokens.min(LONGEST);
        let asked = (request.messages, max_tokens);
        let text = ask_once(&*self.model, &self.npc, &self.purse, asked).await?;
        let model = self.model.priced_as().unwrap_or(self.model.name()).to_owned();
        Ok(Sampled { text, model })
    }
}

impl Sampler for Lent {
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>> {
        let lent = self.clone();
        let server = Arc::clone(&request.server);
        async move {
            let npc = &lent.npc.name;
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
