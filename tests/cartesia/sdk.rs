//! The counterpart itself, held against the vendor's own client. `./dev test` installs it.

use serde_json::json;

use super::KEY;
use crate::{
    support::{
        cartesia::{BARKEEP, CartesiaServer},
        program::run,
    },
    third_party::{client, installed},
};

#[test]
fn cartesias_own_client_is_served_alike() {
    let Some(folder) = installed("cartesia-sdk") else { return };
    let server = CartesiaServer::start(KEY);
    let mut client = client(&folder, "cartesia");
    client.args([&server.base_url(), KEY, BARKEEP]);
    let told = run(client, "").ends_with(0).line();
    // Two sentences with blanks behind them, at 60 ms a character.
    let spoken = json!({"words": ["Well", "met.", "Sit", "down."], "last": 1.14, "ms": 1_200,
        "flushes": [1, 2]});
    assert_eq!(told["older"], spoken, "{told:#}");
    assert_eq!(told["newer"], spoken, "{told:#}");
    assert_eq!(told["sixth"], json!([429, "concurrency_limited"]), "{told:#}");
    assert_eq!(told["wordless"], json!([400, null]), "{told:#}");
    assert_eq!(told["changed"], json!([400, null]), "{told:#}");
    assert_eq!(told["voices"], json!(["Barkeep", "Sage"]), "{told:#}");
    assert_eq!(told["refused"], json!(401), "{told:#}");
}
