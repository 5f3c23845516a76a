//! `image-gen`: shows the table a generated picture. **Never**: shows players the prompt, which may
//! reveal secrets.

use std::{sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::describe::{Millis, declared, input, text};
use crate::{
    domain::{Tier, one_line, redact},
    logic::{budget::Consumption, content_words::ContentWords},
    provider::{Error, ImageModel, ImageRequest, Kind, NoPicture, Picture},
    tools::{
        Attachment, CallContext, CallError, CallErrorKind, CallOutput, Caption, Declared,
        Definition, Handler, Part, SideEffects,
    },
};

const PROMPT_MAX: usize = 2_000;
/// Longest style and longest alternative text, in characters.
const STYLE_MAX: usize = 200;
/// Longest wait for a picture, within the call's own limit.
const PATIENCE: Duration = Duration::from_secs(58);

pub struct Images {
    model: Arc<dyn ImageModel>,
    unwanted: Vec<String>,
}

impl Images {
    /// Refuses pictures about the topics `unwanted`.
    pub const fn new(model: Arc<dyn ImageModel>, unwanted: Vec<String>) -> Self {
        Self { model, unwanted }
    }
}

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

struct Wanted {
    /// Description and style.
    prompt: String,
    /// Alternative text; empty: none.
    alt: String,
}

impl Wanted {
    /// Fails on an empty description.
    fn of(arguments: &Map<String, Value>) -> Result<Self, CallError> {
        // Strip secrets from the prompt, also those split by zero-width characters or lines.
        let said = |key, most| {
            let line = one_line(text(arguments, key).unwrap_or_default(), most);
            redact::without_credentials(line.trim())
        };
        let (mut prompt, style) = (said("prompt", PROMPT_MAX), said("style", STYLE_MAX));
        if prompt.is_empty() {
            let why = "the prompt is empty (describe what the picture shows)";
            return Err(CallError::new(CallErrorKind::InvalidArguments, why));
        }
        if !style.is_empty() {
            prompt = format!("{prompt}\nStyle: {style}");
        }
        Ok(Self { prompt, alt: said("alt", STYLE_MAX) })
    }
}

impl Images {
    /// Makes and shows a picture, unless an X-card was used meanwhile.
    async fn show(
        &self,
        context: &CallContext,
        arguments: &Map<String, Value>,
    ) -> Result<CallOutput, CallError> {
        let halts = context.effects.halts();
        let wanted = Wanted::of(arguments)?;
        let by = context.authority.caller().map_or("The game master", |caller| &*caller.npc);
        if let Some(topic) = self.unwanted_in(&wanted) {
            let told = format!("no picture for {by}: '{topic}' is among lines_and_veils");
            context.effects.tell_dm(&told);
            let why = "this table does not want that shown (describe something else)";
            return Err(CallError::new(CallErrorKind::Tool, why));
        }
        let Wanted { prompt, alt } = wanted;
        let alt = if alt.is_empty() { format!("A picture from {by}") } else { alt };
        let picture = self.made(context, (by, prompt), halts).await?;
        let caption = Caption { by: Arc::from(by), alt: alt.clone() };
        let (mime, bytes) = (picture.mime.to_owned(), picture.bytes);
        Ok(CallOutput {
            parts: vec![Part::Media(Attachment {
                mime,
                bytes,
                caption: Some(caption),
                asked_by: None,
            })],
            ..CallOutput::json(json!({"shown": true, "alt": alt}))
        })
    }

    /// First unwanted topic in `wanted`.
    fn unwanted_in(&self, wanted: &Wanted) -> Option<&str> {
        let Wanted { prompt, alt } = wanted;
        let all = format!("{prompt}\n{alt}");
        let lower = all.to_lowercase();
        let is_named = |topic: &&String| {
            let words = ContentWords::of(topic);
            match words.is_empty() {
                true => !topic.trim().is_empty() && lower.contains(&topic.trim().to_lowercase()),
                false => words.are_all_in(&all),
            }
        };
        self.unwanted.iter().find(is_named).map(String::as_str)
    }

    async fn made(
        &self,
        context: &CallContext,
        (by, prompt): (&str, String),
        halts: u64,
    ) -> Result<Picture, CallError> {
        let bytes = u64::try_from(prompt.len()).unwrap_or(u64::MAX);
        let most = Consumption { pictures: 1, input_tokens: bytes, ..Consumption::default() };
        let payment = context.pay(self.model.priced_as(), most).await?;
        if context.effects.halts() != halts {
            payment.unused();
            return Err(withdrawn());
        }
        context.effects.tell_dm(&format!("{by} has a picture made of: {prompt}"));
        let request = ImageRequest { prompt, attempts: payment.attempts() };
        let made = timeout(PATIENCE, self.model.generate(request)).await.unwrap_or_else(|_| {
            let why = "the picture service needs too long (choose a faster model)";
            Err(Error::new(Kind::Timeout, why).into())
        });
        match &made {
            Ok(picture) => payment.settle(picture.used),
            Err(NoPicture::Refused { used, .. }) => payment.settle(*used),
            Err(NoPicture::Failed(error)) => payment.failed(error.kind()),
        }
        if context.effects.halts() != halts {
            return Err(withdrawn());
        }
        made.map_err(|lack| told(context, by, &lack))
    }
}

/// Reports the error to the game master in full; returns a shorter one for the NPC.
fn told(context: &CallContext, by: &str, lack: &NoPicture) -> CallError {
    match lack {
        NoPicture::Refused { why, .. } => {
            let why = one_line(why, STYLE_MAX);
            context.effects.tell_dm(&format!("no picture for {by}: refused ({why})"));
            let why = format!("the picture is refused ({why}); describe something milder");
            CallError::new(CallErrorKind::Tool, why)
        }
        NoPicture::Failed(error) => {
            // Some tables have no game master to read it.
            tracing::warn!(%error, "no picture");
            context.effects.tell_dm(&format!("no picture for {by}: {error}"));
            let why = "no picture could be made now (the game master knows why)";
            CallError::new(CallErrorKind::Tool, why)
        }
    }
}

/// An X-card withdrew the picture; the table sees no error.
fn withdrawn() -> CallError {
    CallError::new(CallErrorKind::Cancelled, "the picture was withdrawn by the X-card")
}

#[cfg(test)]
mod tests;
