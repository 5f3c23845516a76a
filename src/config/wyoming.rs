//! Connection settings of local Wyoming services. Entry function: [`wyoming`].

use std::time::Duration;

use super::reading::Notes;
use crate::{
    provider::{BaseUrl, tcp_address, wyoming::Options},
    yaml::Fields,
};

/// Reads the settings under `path`; `such_as` is an example for messages.
pub fn wyoming(fields: &Fields, path: &str, such_as: &str, notes: &mut Notes) -> Options {
    let wait = |key, default| Duration::from_millis(fields.whole(key).unwrap_or(default));
    Options {
        address: address(fields, path, such_as, notes).map(|it| it.text).unwrap_or_default(),
        model: fields.text("model").map(str::to_owned),
        first_byte_timeout: wait("first_byte_timeout_ms", 15_000),
        idle_timeout: wait("idle_timeout_ms", 10_000),
    }
}

/// `None`: missing or wrong.
fn address(fields: &Fields, path: &str, such_as: &str, notes: &mut Notes) -> Option<BaseUrl> {
    if fields.is_broken("base_url") {
        return None;
    }
    let at = fields.place("base_url");
    let Some(text) = fields.text("base_url") else {
        let message = format!("missing key 'base_url' of '{path}'");
        notes.problems.add(fields.at(), message, format!("base_url: {such_as}"));
        return None;
    };
    match tcp_address(text) {
        Ok(address) => {
            if !address.private {
                let message = format!("speech is sent unencrypted to '{path}.base_url'");
                let way_out = "use an address of your own network, or the near end of a tunnel";
                notes.warnings.add(at, message, way_out);
            }
            Some(address)
        }
        Err(expected) => {
            let message = format!("'{path}.base_url' is {}", fields.shown("base_url"));
            notes.problems.add(at, message, expected);
            None
        }
    }
}
