//! Search services of this machine, as every test opens them.

use std::net::SocketAddr;

use super::{Safe, SearchOptions, SearchService};
use crate::domain::Secret;

mod contract;
#[path = "../../../../tests/support/searches.rs"]
#[expect(dead_code, reason = "tests of the real program use the rest")]
mod stand_in;
#[path = "../../../../tests/support/web_server.rs"]
#[expect(dead_code, reason = "tests of the real program use the rest")]
mod web_server;
mod wire;

fn options(service: SearchService, address: SocketAddr) -> SearchOptions {
    SearchOptions {
        service,
        base_url: format!("http://{address}"),
        api_key: Some(Secret("key-12345".to_owned())),
        safe: Safe::Strict,
        language: "de".to_owned(),
        priced_as: None,
        allow: Vec::new(),
    }
}
