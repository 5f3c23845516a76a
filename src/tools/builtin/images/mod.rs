//! `image-gen`: shows the table a picture that a service makes.
//!
//! Entry type: [`Images`]; entry function: [`tools`]. **Never**: shows players the prompt, which may tell
//! what they do not know yet.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};

use super::describe::{Millis, declared, input, text};
use crate::{
    domain::{Tier, one_line},
    logic::{budget::Consumption, content_words::ContentWords},
    provider::{ImageModel, ImageRequest, NoPicture},
    tools::{
        Attachment, CallContext, CallError, CallErrorKind, CallOutput, Caption, Declared,
        Definition, Handler, Part, SideEffects,
    },
};

/// Longest description, in characters.
const PROMPT_MAX: usize = 2_000;
/// Longest style and longest text for players who cannot see the picture, in characters.
const STYLE_MAX: usize = 200;

/// Shows pictures of one service.
pub struct Images {
    model: Arc<dyn ImageModel>,
    unwanted: Vec<String>,
}

impl Images {
    /// Pictures of `model` about anything but the topics `unwanted`.
    pub const fn new(model: Arc<dyn ImageModel>, unwanted: Vec<String>) -> Self {
        Self { model, unwanted }
    }
}

/// `image-gen.generate_image`.
pub fn tools(images: Images) -> Vec<Definition> {
    vec![Definition {
        name: "generate_image".to_owned(),
        description: "Shows everyone at the table a picture of what you describe: a face, an item, a \
                      place. Use it when players want to see something. It takes a while, and nobody \
                      but the game master reads the description."
            .to_owned(),
        input: input(
            json!({
                "prompt": {
                    "type": "string",
                    "maxLength": PROMPT_MAX,
                    "description": "what the picture shows, in detail",
                },
                "style": {
                    "type": "string",
                    "maxLength": STYLE_MAX,
                    "description": "how it is drawn, such as: ink sketch, oil painting",
                },
                "alt": {
                    "type": "string",
                    "maxLength": STYLE_MAX,
                    "description": "one sentence describing the picture for players who cannot see \
                                    it; no secrets",
                },
            }),
            &["prompt"],
        ),
        output: None,
        declared: Declared {
            effects: Some(SideEffects::Reversible),
            follow_up: Some(true),
            idempotent: Some(false),
            open_world: Some(true),
            ..declared("image", Millis { estimated: 10_000, max: 60_000 }, Tier::Deep)
        },
        handler: Arc::new(images),
    }]
}

impl Handler for Images {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        self.show(context, arguments).boxed()
    }
}

impl Images {
    /// Has a picture made and hands it to the table, unless an X-card was used meanwhile.
    async fn show(
        &self,
        context: &CallContext,
        arguments: &Map<String, Value>,
    ) -> Result<CallOutput, CallError> {
        let halts = context.effects.halts();
        let said =
            |key, most| one_line(text(arguments, key).unwrap_or_default(), most).trim().to_owned();
        let (mut prompt, style) = (said("prompt", PROMPT_MAX), said("style", STYLE_MAX));
        if prompt.is_empty() {
            let why = "the prompt is empty (describe what the picture shows)";
            return Err(CallError::new(CallErrorKind::InvalidArguments, why));
        }
        if !style.is_empty() {
            prompt = format!("{prompt}\nStyle: {style}");
        }
        if self.unwanted.iter().any(|topic| ContentWords::of(topic).are_all_in(&prompt)) {
            let why = "this table does not want that shown (describe something else)";
            return Err(CallError::new(CallErrorKind::Tool, why));
        }
        let by = context.authority.caller().map_or("The game master", |caller| &*caller.npc);
        let alt = Some(said("alt", STYLE_MAX)).filter(|alt| !alt.is_empty());
        let alt = alt.unwrap_or_else(|| format!("A picture from {by}"));
        let bytes = u64::try_from(prompt.len()).unwrap_or(u64::MAX);
        let most = Consumption { pictures: 1, input_tokens: bytes, ..Consumption::default() };
        let payment = context.pay(self.model.priced_as(), most).await?;
        if context.effects.halts() != halts {
            payment.unused();
            return Err(withdrawn());
        }
        context.effects.tell_dm(&format!("{by} has a picture made of: {prompt}"));
        let request = ImageRequest { prompt, attempts: payment.attempts() };
        let made = self.model.generate(request).await;
        match &made {
            Ok(picture) => payment.settle(picture.used),
            Err(NoPicture::Refused { used, .. }) => payment.settle(*used),
            Err(NoPicture::Failed(error)) => payment.failed(error.kind()),
        }
        if context.effects.halts() != halts {
            return Err(withdrawn());
        }
        let picture = match made {
            Ok(picture) => picture,
            Err(NoPicture::Refused { why, .. }) => {
                let why = one_line(&why, STYLE_MAX);
                context.effects.tell_dm(&format!("no picture for {by}: refused ({why})"));
                let why = format!("the picture is refused ({why}); describe something milder");
                return Err(CallError::new(CallErrorKind::Tool, why));
            }
            Err(NoPicture::Failed(error)) => {
                context.effects.tell_dm(&format!("no picture for {by}: {error}"));
                let why = "no picture could be made now (the game master knows why)";
                return Err(CallError::new(CallErrorKind::Tool, why));
            }
        };
        let caption = Caption { by: Arc::from(by), alt: alt.clone(), halts };
        let (mime, bytes) = (picture.mime.to_owned(), picture.bytes);
        Ok(CallOutput {
            parts: vec![Part::Media(Attachment { mime, bytes, caption: Some(caption) })],
            ..CallOutput::json(json!({"shown": true, "alt": alt}))
        })
    }
}

/// An X-card was used: no NPC tells of it.
fn withdrawn() -> CallError {
    CallError::new(CallErrorKind::Cancelled, "the picture was withdrawn by the X-card")
}

#[cfg(test)]
mod tests;
