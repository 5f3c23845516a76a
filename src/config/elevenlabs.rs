//! Settings of ElevenLabs.
//!
//! Entry function: [`elevenlabs`].

use super::reading::Notes;
use crate::{
    provider::{
        elevenlabs::{MODEL, Options},
        openai,
    },
    yaml::{Fields, quoted},
};

/// Settings of ElevenLabs at `path`, with those that all services have in `common`. `language`: the
/// table's.
pub fn elevenlabs(
    fields: &Fields,
    path: &str,
    common: openai::Options,
    language: &str,
    notes: &mut Notes,
) -> Options {
    if !Options::can_speak(&common.model) {
        let message = format!("'{path}': {} cannot stream here", quoted(&common.model));
        let way_out = format!("use model: {MODEL}, or another of v2 or v2.5");
        notes.problems.add(fields.place("model"), message, way_out);
    }
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
