//! Settings of voice services with models and voices of an account, which stream.
//!
//! Entry functions: [`streamed`], [`check_elevenlabs`].

use super::reading::Notes;
use crate::{
    provider::{StreamedVoiceOptions, elevenlabs, openai},
    yaml::{Fields, quoted},
};

/// Reads the settings without those in `common`; `language` is the table's.
pub fn streamed(fields: &Fields, common: openai::Options, language: &str) -> StreamedVoiceOptions {
    StreamedVoiceOptions {
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

/// Reports a model of ElevenLabs under `path` that does not stream.
pub fn check_elevenlabs(fields: &Fields, path: &str, model: &str, notes: &mut Notes) {
    if !elevenlabs::can_speak(model) {
        let message = format!("'{path}': {} cannot stream here", quoted(model));
        let way_out = format!("use model: {}, or another of v2 or v2.5", elevenlabs::MODEL);
        notes.problems.add(fields.place("model"), message, way_out);
    }
}
