//! A server's tool as the host calls it. **Never**: sends a call twice.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::{client::Client, open_calls::Whose, tail::Tail};
use crate::tools::{CallContext, CallError, CallErrorKind, CallOutput, Handler};

/// Shared by the tools of a server.
pub struct Link {
    pub server: Arc<str>,
    /// Its address for reports, without credentials.
    pub address: Arc<str>,
    /// The connection, while there is one.
    pub client: ArcSwapOption<Client>,
    /// Its process's stderr.
    pub tail: ArcSwapOption<Tail>,
    /// Notified when a failed call casts doubt on the connection.
    pub doubt: Notify,
}

impl Link {
    pub fn new(server: &str, address: &str) -> Self {
        Self {
            server: Arc::from(server),
            address: Arc::from(address),
            client: ArcSwapOption::empty(),
            tail: ArcSwapOption::empty(),
            doubt: Notify::new(),
        }
    }

    /// Last stderr line of its process.
    pub async fn last_words(&self) -> Option<String> {
        self.tail.load_full()?.last_words().await
    }
}

pub struct ServerTool {
    pub link: Arc<Link>,
    pub name: String,
}

impl Handler for ServerTool {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            let Some(client) = self.link.client.load_full() else {
                let what = format!("'{}' is not connected (answer without it)", self.link.server);
                return Err(CallError::new(CallErrorKind::Connection, what));
            };
            match client.call(&self.name, arguments, Whose::of(context), &context.span).await {
                Err(mut error) if error.kind == CallErrorKind::Connection => {
                    self.link.doubt.notify_one();
                    if let Some(words) = self.link.last_words().await {
                        error.message.push_str(": ");
                        error.message.push_str(&words);
                    }
                    Err(error)
                }
                other => other,
            }
        }
        .boxed()
    }

    fn server_address(&self) -> Option<Arc<str>> {
        Some(Arc::clone(&self.link.address))
    }
}
