//! Checks the token of every request. Entry function: [`enter`].
//!
//! A valid token always enters, however many wrong ones come: too many change only their own
//! answer. Lookups in the store queue, a few run at once. Routes find the holder as `Arc<Holder>`
//! in the extensions.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header::AUTHORIZATION},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::{sync::Semaphore, time::Instant};

use super::{
    bounds::Bounds,
    guarded::Guarded,
    peer::is_from_here,
    rates::{Rates, Running, WrongTokens},
    refusal::Refusal,
    sockets::Socket,
};
use crate::campaign::{Access, Holder};

pub struct Entry {
    access: Access,
    rates: Arc<Rates>,
    wrong: WrongTokens,
    lookups: Semaphore,
}

/// Passes on requests with a valid token, with its holder.
pub async fn enter(State(entry): State<Arc<Entry>>, mut request: Request, next: Next) -> Response {
    let token = bearer(request.headers()).map(str::to_owned);
    let entered = match token {
        Some(token) => entry.start(&token).await,
        None => Err(Refusal::NoToken),
    };
    let (holder, running) = match entered {
        Ok(entered) => entered,
        Err(refusal) => return refusal.into_response(),
    };
    let entrance = request.extensions().get::<Arc<Socket>>().map(|socket| socket.enter());
    // No route needs it, and none can log it.
    request.headers_mut().remove(AUTHORIZATION);
    request.extensions_mut().insert(Arc::new(holder));
    let response = next.run(request).await;
    response.map(|body| Guarded::body(body, (running, entrance)))
}

/// Like [`enter`], but passes on requests of this machine that came through no proxy without a
/// token.
pub async fn enter_unless_from_here(
    State(entry): State<Arc<Entry>>,
    request: Request,
    next: Next,
) -> Response {
    let is_from_here = is_from_here(&request);
    match is_from_here {
        true => next.run(request).await,
        false => enter(State(entry), request, next).await,
    }
}

impl Entry {
    pub fn new(access: Access, bounds: &Bounds) -> Self {
        Self {
            access,
            rates: Rates::new(bounds),
            wrong: WrongTokens::new(bounds.wrong),
            lookups: Semaphore::new(bounds.lookups),
        }
    }

    async fn start(&self, token: &str) -> Result<(Holder, Running), Refusal> {
        let found = {
            let _turn = self.lookups.acquire().await;
            self.access.holder(token).await
        };
        let holder = match found {
            Ok(Some(holder)) => holder,
            Ok(None) if self.wrong.count(Instant::now()) => return Err(Refusal::WrongToken),
            Ok(None) => return Err(Refusal::ManyWrong),
            Err(error) => {
                tracing::warn!(%error, "cannot look up the token of a request");
                return Err(Refusal::Memory);
            }
        };
        let running = self.rates.start(&holder.id, Instant::now())?;
        Ok((holder, running))
    }
}

/// The token of a request. One in the address is ignored: addresses are logged.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_comes_in_one_header() {
        let token = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(token(&["Bearer glx_a"]).as_deref(), Some("glx_a"));
        assert_eq!(token(&["bearer  glx_a "]).as_deref(), Some("glx_a"));
        for wrong in
            [&[][..], &["glx_a"], &["Bearer "], &["Basic glx_a"], &["Bearer a", "Bearer b"]]
        {
            assert_eq!(token(wrong), None, "{wrong:?}");
        }
    }
}
