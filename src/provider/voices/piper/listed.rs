//! A Piper voice's description as an entry of a list. Entry function: [`listed`]. A broken one adds
//! nothing: the voice itself reports it.

use std::path::PathBuf;

use serde_json::Value;

use super::files::Name;
use crate::provider::{ListedVoice, language_code};

/// Speakers named in a list.
const SPEAKERS_NAMED: usize = 3;

/// The voice `id` below `models`.
pub fn listed(id: String, models: &[PathBuf]) -> ListedVoice {
    let settings = settings(&id, models).unwrap_or_default();
    let text = |path: &str| settings.pointer(path).and_then(Value::as_str);
    let tag = text("/language/code").or_else(|| text("/espeak/voice")).unwrap_or(&id);
    let languages = language_code(tag).into_iter().collect();
    let mut about: Vec<String> =
        ["/language/name_english", "/language/country_english", "/audio/quality"]
            .into_iter()
            .filter_map(|path| text(path).map(str::to_owned))
            .collect();
    about.extend(speakers(&settings, &id));
    let name = text("/dataset").unwrap_or(&id).to_owned();
    ListedVoice { name, languages, about: about.join(", "), id }
}

fn settings(id: &str, models: &[PathBuf]) -> Option<Value> {
    let settings = Name::of(id)?.files(models).ok()?.settings().ok()?;
    serde_json::from_slice(&settings).ok()
}

/// "109 speakers, such as libritts#p3922"; `None`: one speaker.
fn speakers(settings: &Value, id: &str) -> Option<String> {
    let speakers = settings.get("speaker_id_map")?.as_object().filter(|it| it.len() > 1)?;
    let named: Vec<String> =
        speakers.keys().take(SPEAKERS_NAMED).map(|name| format!("{id}#{name}")).collect();
    Some(format!("{} speakers, such as {}", speakers.len(), named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_is_read_if_it_can_be() {
        let models = tempfile::tempdir().unwrap();
        let write = |id: &str, settings: &str| {
            let folder = models.path().join(id);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("a.onnx"), "").unwrap();
            std::fs::write(folder.join("a.onnx.json"), settings).unwrap();
            listed(id.to_owned(), &[models.path().to_owned()])
        };
        let joe = write("piper-joe", r#"{"espeak": {"voice": "en-us"}, "dataset": "joe"}"#);
        assert_eq!((joe.languages[0].as_str(), joe.name.as_str()), ("en", "joe"));
        let many = write(
            "many",
            r#"{"language": {"code": "de_DE", "name_english": "German"},
                "speaker_id_map": {"anna": 0, "bert": 1}}"#,
        );
        assert_eq!(many.about, "German, 2 speakers, such as many#anna, many#bert");
        assert_eq!(many.languages, ["de"]);
        let broken = write("en_GB-alan-low", "{");
        assert_eq!((broken.about.as_str(), broken.languages[0].as_str()), ("", "en"));
    }
}
