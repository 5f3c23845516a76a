//! Settings of Cartesia.
//!
//! Entry function: [`cartesia`].

use crate::{
    provider::{cartesia::Options, openai},
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
        first_byte_timeout: common.first_byte_timeout,
        idle_timeout: common.idle_timeout,
        priced_as: common.priced_as,
    }
}
