//! An NPC's chat model, lent to a server that works on a call of it.
//!
//! Entry type: [`Lent`]. **Never**: spends what the caps do not allow; tells the server anything of
//! the table or of the service.

use std::sync::Arc;

use futures::{FutureExt, StreamExt, future::BoxFuture};

use super::{
    cascaded::CascadedParts,
    purse::{Purse, consumed, expected},
};
use crate::{
    domain::{Npc, ToolChoice, TurnFacts},
    provider::{ChatEvent, ChatModel, ChatRequest, Error, Kind},
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
        let held = self.purse.hold(
            self.model.priced_as(),
            &self.npc.name,
            self.npc.policy.max_cost,
            expected(&request.messages, max_tokens),
        )?;
        let mut stream = self.model.stream(ChatRequest {
            messages: request.messages,
            tools: Arc::from([]),
            tool_choice: ToolChoice::None,
            max_tokens,
            facts: Arc::new(TurnFacts::default()),
        });
        let (mut text, mut usage) = (String::new(), None);
        while let Some(event) = stream.next().await {
            match event? {
                ChatEvent::Text(delta) => text.push_str(&delta),
                ChatEvent::Usage(billed) => usage = Some(billed),
                ChatEvent::ToolCall(_) => {}
                ChatEvent::Done => break,
            }
        }
        if let Some(usage) = usage {
            held.settle(consumed(usage));
        }
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
