//! The web listener of a running command. Entry type: [`Listener`].

use std::{net::SocketAddr, sync::Arc};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::{
    campaign::{Access, Handles},
    memory::MemoryStore,
    panics::caught,
    web::{self, Bound, Rehearsal, WebError, WebOptions, WebParts},
};

/// A listening socket, before requests are answered.
pub struct Listener {
    bound: Bound,
    options: WebOptions,
}

/// A listener that answers requests.
pub struct Listening(JoinHandle<()>);

impl Listener {
    /// Listens as `options` say.
    pub async fn bind(options: &WebOptions) -> Result<Self, Failure> {
        let bound = web::bind(options).await?;
        Ok(Self { bound, options: options.clone() })
    }

    /// The address with its real port.
    pub const fn address(&self) -> SocketAddr {
        self.bound.address()
    }

    /// Fails if other machines reach it and there is no token.
    pub async fn check_tokens(&self, store: &Arc<dyn MemoryStore>) -> Result<(), Failure> {
        let access = Access::new(Arc::clone(store));
        web::check_tokens(&self.options, &access).await.map_err(|error| match error {
            WebError::Memory(error) => error.into(),
            other => Failure::usage(other),
        })
    }

    /// Answers requests until `stop`; `is_heard`: players speak to the program's tables.
    pub fn start(self, handles: &Handles, is_heard: bool, stop: &CancellationToken) -> Listening {
        let Self { bound, options } = self;
        let parts = WebParts { options, handles: handles.clone(), is_heard, rehearsal: None };
        started(bound, parts, stop)
    }

    /// Like [`Self::start`] where players speak through the page of `rehearsal`.
    pub fn start_with(
        self,
        handles: &Handles,
        rehearsal: Rehearsal,
        stop: &CancellationToken,
    ) -> Listening {
        let (Self { bound, options }, rehearsal) = (self, Some(rehearsal));
        let parts = WebParts { options, handles: handles.clone(), is_heard: true, rehearsal };
        started(bound, parts, stop)
    }
}

fn started(bound: Bound, parts: WebParts, stop: &CancellationToken) -> Listening {
    let serving = web::serve(bound, parts, stop.clone());
    Listening(tokio::spawn(async move {
        if let Err(fault) = caught(serving).await {
            tracing::error!(%fault, "the web listener has ended");
        }
    }))
}

impl Listening {
    /// Waits for the end of all requests, once the listener was stopped.
    pub async fn end(self) {
        // Panics are caught inside.
        let _ = self.0.await;
    }
}
