//! One call of a memory tool.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};

use super::{archive::Archive, look::Look};
use crate::tools::{CallContext, CallError, CallOutput, Handler};

#[derive(Clone, Copy)]
pub enum Subject {
    Entities,
    Summary,
    Lines,
    Facts,
    Session,
    History,
}

pub struct Ask {
    pub archive: Arc<Archive>,
    pub subject: Subject,
}

impl Handler for Ask {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            let (parts, cast) = (&self.archive.parts, self.archive.cast());
            let look = Look {
                store: self.archive.store().await?,
                scope: &context.scope,
                viewer: self.archive.viewer(context),
                cast: &cast,
                session: &context.session.0,
                now: (parts.now)(),
                is_gated: AtomicBool::new(false),
            };
            let value = match self.subject {
                Subject::Entities => look.entities(arguments).await,
                Subject::Summary => look.summary(arguments).await,
                Subject::Lines => look.lines(arguments).await,
                Subject::Facts => look.facts(arguments, &parts.meaning).await,
                Subject::Session => look.session_summary(arguments).await,
                Subject::History => look.history(arguments).await,
            };
            let secret = look.is_gated.load(Ordering::Relaxed);
            value.map(|value| CallOutput { secret, ..CallOutput::json(value) })
        }
        .boxed()
    }
}
