//! Settings of Deepgram, which hears and speaks.
//!
//! Entry functions: [`recogniser`], [`voices`].

use super::{npc::language, reading::Notes};
use crate::{
    provider::{DeepgramVoiceOptions, deepgram, openai::Options},
    yaml::{Fields, quoted},
};

/// Reads the settings under `name`, without those in `common`; `language_here` is the table's.
pub fn recogniser(
    fields: &Fields,
    name: &str,
    common: Options,
    language_here: &str,
    notes: &mut Notes,
) -> deepgram::Options {
    let language = language(fields, &mut notes.problems).unwrap_or(language_here);
    if common.model == deepgram::FLUX_ENGLISH && language != "en" {
        let message = format!("'{name}': {} understands English only", quoted(&common.model));
        let way_out = "use model: flux-general-multi, or nova-3";
        notes.problems.add(fields.place("model"), message, way_out);
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded to 0.3 to 0.9 by its key")]
    let eager = match fields.text("eager") {
        Some("off") => None,
        _ => Some(fields.number("eager").map_or(deepgram::EAGER, |number| number as f32)),
    };
    deepgram::Options {
        base_url: common.base_url,
        api_key: common.api_key,
        model: common.model,
        language: language.to_owned(),
        eager,
        max_streams: fields.whole("max_streams"),
        first_byte_timeout: common.first_byte_timeout,
        idle_timeout: common.idle_timeout,
        priced_as: common.priced_as,
    }
}

/// Reads the settings of its voices, without those in `common`.
pub fn voices(fields: &Fields, common: Options) -> DeepgramVoiceOptions {
    DeepgramVoiceOptions {
        base_url: common.base_url,
        api_key: common.api_key,
        max_streams: fields.whole("max_streams"),
        first_byte_timeout: common.first_byte_timeout,
        idle_timeout: common.idle_timeout,
        priced_as: common.priced_as,
    }
}
