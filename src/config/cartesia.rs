//! Settings of Cartesia.
//!
//! Entry function: [`cartesia`].

use super::listed::wait;
use crate::{
    provider::{
        cartesia::{FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, Options},
        openai,
    },
    yaml::Fields,
};

/// Settings of Cartesia, with those that all services have in `common`. `language`: the table's.
pub fn cartesia(fields: &Fields, common: openai::Options, language: &str) -> Options {
    Options {
        base_url: common.base_url,
        api_key: common.api_key,
        model: common.model,
        language: language.to_owned(),
        max_streams: fields.whole("max_streams"),
        first_byte_timeout: wait(fields, "first_byte_timeout_ms", FIRST_BYTE_TIMEOUT),
        idle_timeout: wait(fields, "idle_timeout_ms", IDLE_TIMEOUT),
        priced_as: common.priced_as,
    }
}
