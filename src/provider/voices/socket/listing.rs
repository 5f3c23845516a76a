//! Lists of voices that a service gives page by page.
//!
//! Entry function: [`listed`].

use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    Peer,
    dialect::{Dialect, SocketFailure},
};
use crate::provider::{
    Error, Kind,
    bounds::{ANSWER, Body, VALUES},
    voices::listed::ListedVoice,
};

/// Longest wait for all pages.
const WHOLE: Duration = Duration::from_secs(20);
const PAGES: usize = 50;
/// Longest name and description, in characters.
const TEXT: usize = 100;

/// Voices of a page, and the mark of the next one.
pub type Page = (Vec<ListedVoice>, Option<String>);

/// All voices, in the service's order. `address` returns the address of the page after a mark
/// (`None`: the first page), and `read` reads a page.
///
/// # Errors
/// The service's own; another shape of a page.
pub async fn listed(
    service: &impl Dialect,
    peer: &Peer,
    address: impl Fn(Option<&str>) -> Option<Url>,
    read: impl Fn(&Value) -> Option<Page>,
) -> Result<Vec<ListedVoice>, Error> {
    let unread =
        || peer.error(Kind::Protocol, "its list of voices cannot be read", "check base_url");
    let all = async {
        let (mut all, mut mark) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let url = address(mark.as_deref()).ok_or_else(unread)?;
            let body = body(service, url).await?.ok_or_else(unread)?;
            let page = serde_json::from_slice::<Value>(&body).ok().and_then(|page| read(&page));
            let (voices, next) = page.ok_or_else(unread)?;
            all.extend(voices);
            if next.is_none() || next == mark {
                break;
            }
            mark = next;
        }
        Ok(all)
    };
    timeout(WHOLE, all).await.map_err(|_| peer.slow())?
}

/// `None`: the answer broke off.
async fn body(service: &impl Dialect, url: Url) -> Result<Option<Vec<u8>>, Error> {
    let answer = service.handshake().get(url).await;
    let mut answer = answer.map_err(|why| service.failure(SocketFailure::NotOpened(&why)))?;
    let flooding = |bound| service.failure(SocketFailure::Flooding(bound));
    let mut body = Body::within(ANSWER);
    loop {
        match answer.chunk().await {
            Ok(Some(piece)) => body.push(&piece).map_err(flooding)?,
            Ok(None) => break,
            Err(_) => return Ok(None),
        }
    }
    VALUES.check_values(&body.bytes).map_err(flooding)?;
    Ok(Some(body.bytes))
}

/// The beginning of a name or description.
pub fn short(text: &str) -> String {
    text.chars().take(TEXT).collect()
}
